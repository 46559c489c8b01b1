# exit 3
"$CALC" params gpt3-175B.json
