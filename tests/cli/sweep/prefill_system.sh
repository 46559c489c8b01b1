# exit 3
# Prompts are read on a machine that the space names; parts of a sweep have it again.
cat > space.json <<'END'
{"num_procs": [4, 8], "pipeline_par": 1, "batch_size": [16, 64], "datatype": "bfloat16",
 "inference": {"phase": "disaggregated", "prompt_size": 4000, "generate_size": 500, "prefill_procs": 8, "prefill_tensor_par": 4,
               "prefill_system": "h100_sxm"}}
END
asked="llama3-70B h200 space.json --top 2 --threads 1 --progress none"
"$CALC" sweep $asked --save-best best.json > whole
sed -n '/^Best/,/^$/p' whole | cut -c1-60
"$CALC" sweep $asked --shard 1/2 --out one > part
"$CALC" sweep $asked --shard 2/2 --out two > part
"$CALC" sweep --merge one two | grep -v thread > merged
grep -v thread whole | diff - merged && echo merged
grep prefill_system best.json
"$CALC" run llama3-70B h200 best.json | grep -E '^  (prefill  |first token)'
"$CALC" sweep llama3-70B h200,h100_sxm space.json --top 1 --threads 1 --progress none | sed -n '/^Best/,/^$/p' | cut -c1-60
"$CALC" sweep llama3-70B h200 space.json --axis inference.prefill_system=h200,h100_sxm 2>&1
"$CALC" sweep llama3-70B h200 space.json --set inference.prefill_system=nowhere 2>&1 | head -1
"$CALC" sweep llama3-70B h200 space.json --set inference.prefill_system=v100_sxm 2>&1
