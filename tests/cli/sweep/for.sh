# exit 2
# what a framework runs: every layout that is saved is exported, and comes back as the same layout
export COLUMNS=80
for case in 'llama3-8B h100_sxm torchtitan' 'llama3-8B h100_sxm deepspeed' 'llama3-8B h100_sxm nemo' 'mixtral-8x7B h100_sxm megatron' \
    'deepseek-v2-lite h200 megatron-bridge' 'llama3-8B ascend_910b mindspeed' 'llama3-8B ascend_910b mindformers' 'llama3-8B a100_sxm_80g paddle'; do
    read -r model machine framework <<< "$case"
    "$CALC" sweep "$model" "$machine" --procs 16 --batch 64 --for "$framework" --top 3 --save-best best.json > table || continue
    ! grep -q '!' table || echo 'one does not start'
    "$CALC" export --to "$framework" "$model" best.json --out started 2> lost && echo "$framework starts $model"
done
# the megatron ones again, with the numbers of what was found
time_of() { "$CALC" run "$@" --json - | grep -E '"(total_time|proc_mem_tier1_cap_req)"'; }
for model in mixtral-8x7B deepseek-v2-lite; do
    "$CALC" sweep "$model" h100_sxm --procs 16 --batch 64 --for megatron --top 1 --save-best best.json > table
    "$CALC" export --to megatron "$model" best.json --out train.sh
    "$CALC" import train.sh --app app.json --exe exe.json
    diff <(time_of "$model" h100_sxm best.json) <(time_of "$model" h100_sxm exe.json) && echo "$model comes back"
done
# nobody runs some layouts: they are there if they are asked for
none() { "$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --set zero=2 --axis pp=2 --top 1 "$@"; }
none > table || true
none --for none | grep -c '^1!'
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --for nobody 2>&1
