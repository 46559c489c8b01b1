"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --vocab-size 32000 --format json --memory-model calc --top 1
