"$CALC" export gpt3-175B
