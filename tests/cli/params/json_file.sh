"$CALC" show params gpt3-175B --json params.json && cat params.json
