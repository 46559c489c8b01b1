"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --device-memory 8
echo "$?"
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --device-memory 8 --format json 2>/dev/null | grep optimal
