# The example of the planner's guide: what its script says, and the words that it leaves to the tokenizer.
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch"
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --generation 1 --vocab-size 32000 --top 2 2>/dev/null
