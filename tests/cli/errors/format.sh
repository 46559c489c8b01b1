# Documents say their format; those without it have the first, and a newer one is one error.
"$CALC" run llama3-8B h100_sxm llama3-8B_8 --save-app app.json --save-sys sys.json --save-exe exe.json --json result.json > /dev/null
"$CALC" sweep llama3-8B h100_sxm --procs 8 --batch 16 --save-best best.json --out sweep.json --summary summary.json > /dev/null
"$CALC" why llama3-8B h100_sxm llama3-8B_8 --json why.json
"$CALC" plan llama3-8B h100_sxm --procs 8 --batch 16 --json plan.json > /dev/null
"$CALC" tune llama3-8B h100_sxm --procs 8 --batch 16 --json tune.json > /dev/null
"$CALC" rl qwen3-8B h100_sxm grpo --procs 16 --rollout-procs 8 --set prompts=32 --json rl.json > /dev/null 2>&1
"$CALC" show params llama3-8B --json params.json
"$CALC" export --to json llama3-8B llama3-8B_8 --out export.json
grep -c '^  "format": 1,$' ./*.json
"$CALC" run app.json sys.json exe.json | grep 'time per step'
"$CALC" sweep app.json sys.json best.json | grep -c 'Best by'
for kind in app sys exe; do
    sed 's/"format": 1/"format": 2/' $kind.json > newer.json
    "$CALC" run $(printf '%s ' app.json sys.json exe.json | sed "s/$kind.json/newer.json/") 2>&1
done
"$CALC" sweep llama3-8B h100_sxm newer.json 2>&1
for value in 0 '"1"' 1.5 null; do
    sed "s/\"format\": 1/\"format\": $value/" app.json > wrong.json
    "$CALC" run wrong.json sys.json exe.json 2>&1
done
printf '{"format": 3, "algorithm": "grpo"}' > job.json
"$CALC" rl qwen3-8B h100_sxm job.json --procs 16 2>&1
printf '{"format": 2, "name": "vllm-9"}' > engine.json
"$CALC" show schema exe | grep -o '"format": .*'
"$CALC" show schema plan | grep -o '"format": .*'
