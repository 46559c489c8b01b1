"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.sh" --vocab-size 32000 --format json --memory-model calc --top 1
