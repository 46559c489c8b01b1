"$CALC" run gpt3-175B
