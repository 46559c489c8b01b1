"$CALC" params gpt3-175B.json
