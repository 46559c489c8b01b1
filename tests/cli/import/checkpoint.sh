# A checkpoint in 8 bits is swept, run and launched as it is, without being told.
cp "$ROOT/tests/formats/hf/deepseek-v3.json" config.json
served=(--set inference.phase=serve --set inference.prompt_size=2000 --set inference.generate_size=500)
"$CALC" import config.json --app v3.json && grep -A 4 checkpoint v3.json
"$CALC" sweep v3.json h200 --procs 16 "${served[@]}" --plan | grep checkpoint
"$CALC" sweep v3.json h200 --procs 16 "${served[@]}" --set inference.batch=64 --save-best best.json >best.txt
grep -E "matrix_datatype|weight_datatype|scaling" best.json
# A layout that leaves them out gives the same.
grep -v -E "matrix_datatype|weight_datatype|scaling" best.json >open.json
for layout in best open; do
    "$CALC" run v3.json h200 $layout.json --json - | grep -E '"(total_time|weight_space)"'
done
# Nobody trains in them; a layout may say others.
"$CALC" run v3.json h200 open.json | grep -E "numbers|GiB"
"$CALC" run v3.json h200 open.json --set weight_datatype=bfloat16 | grep -E "numbers|GiB"
"$CALC" run v3.json a100_sxm_80g open.json | grep -E "numbers|weights"
# The engine reads them from the checkpoint, too.
"$CALC" export --to vllm v3.json open.json | grep -c quantization
"$CALC" export --to vllm v3.json open.json >serve.sh && "$CALC" import serve.sh --exe back.json
"$CALC" run v3.json h200 back.json --set inference.prompt_size=2000 --set inference.generate_size=500 | grep numbers
