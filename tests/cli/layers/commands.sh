# Other commands with layers that differ: kept, compared, refused.
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --set 'layers={"blocks": [4, 36, 40], "tensor_par": [8, 4, 4], "zero_stage": [3, null, 2], "activation_recompute": ["full", "none", "none"], "ends": {"tensor_par": 8}}' --save-exe layered.json >/dev/null
"$CALC" diff layered.json llama3-70B_512
"$CALC" diff layered.json layered.json
"$CALC" why llama3-70B h100_sxm layered.json --top 3
"$CALC" run llama3-70B h100_sxm layered.json --trace step.json >out
"$CALC" run llama3-70B h100_sxm layered.json --html page.html >/dev/null && ls page.html step.json
for framework in megatron torchtitan deepspeed mindformers paddle; do
    "$CALC" export --to "$framework" llama3-70B layered.json 2>&1 | head -n 1
done
