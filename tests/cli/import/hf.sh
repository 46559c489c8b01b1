H=$ROOT/tests/formats/hf
"$CALC" import "$H/qwen3-30b-a3b.json"
"$CALC" import --from hf "$H/gemma-3-4b.json" --app gemma.json --seq-size 32768 && cat gemma.json
"$CALC" import --from huggingface - <"$H/deepseek-v3.json" --app v3.json
grep -v source "$ROOT/models/deepseek-v3-671B.json" | grep -v trained_datatype | sed "s/\"mtp_blocks\": 1,/\"mtp_blocks\": 1/" | diff - v3.json && echo same
