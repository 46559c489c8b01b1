# Prompts read on another machine; on a copy of the same one all numbers stay.
run="llama3-70B h200 llama3-70B_serving_8 --set inference.phase=disaggregated --set inference.prefill_procs=8 --set inference.prefill_tensor_par=4"
cp "$ROOT/systems/h200.json" copy.json
"$CALC" run $run --json - | sed -n '/"stats"/,$p' > plain.json
"$CALC" run $run --set inference.prefill_system=copy.json --json - | sed -n '/"stats"/,$p' | cmp - plain.json && echo same
"$CALC" run $run --set inference.prefill_system=h100_sxm | grep -E '^  (prefill  |cache)'
"$CALC" run $run --set inference.prefill_system=h100_sxm --schedule exact | grep 'first token'
"$CALC" run $run --set inference.prefill_system=v100_sxm 2>&1
"$CALC" run $run --set inference.prefill_system=nowhere 2>&1 | head -n 1
"$CALC" run $run --set inference.prefill_system=7 2>&1
"$CALC" run $run --set inference.prefill_system=a_name_that_is_longer_than_thirty-one 2>&1
"$CALC" export --to sglang llama3-70B llama3-70B_serving_8 --set inference.phase=disaggregated --set inference.prefill_procs=8 --set inference.prefill_system=h100_sxm |
    grep pools:
echo '{"app": "llama3-70B", "sys": "h200", "exe": "llama3-70B_serving_8", "set": ["inference.phase=disaggregated", "inference.prefill_procs=8", "inference.prefill_system=h100_sxm"], "stats": ["kv_transfer_time"]}' | "$CALC" serve --stdio
