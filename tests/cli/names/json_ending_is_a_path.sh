# exit 3
"$CALC" show params gpt3-175B.json
