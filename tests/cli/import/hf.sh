H=$ROOT/tests/formats/hf
"$CALC" import "$H/qwen3-30b-a3b.json"
"$CALC" import --from hf "$H/gemma-3-4b.json" --app gemma.json --seq-size 32768 && cat gemma.json
"$CALC" import --from huggingface - <"$H/deepseek-v3.json" --app v3.json
grep -v -e source -e '"names"' -e trained_datatype "$ROOT/models/deepseek-v3-671B.json" | sed "s/,\$//" | diff - <(sed "s/,\$//; /\"format\"/d" v3.json) && echo same
