# exit 2
"$CALC" import "$ROOT/tests/formats/hf/gpt2.json" --procs 8
"$CALC" import "$ROOT/tests/formats/hf/gpt2.json" --exe layout.json
"$CALC" import --from hf -- --num-layers 4
"$CALC" import --from hf --seq-size none "$ROOT/tests/formats/hf/gpt2.json"
