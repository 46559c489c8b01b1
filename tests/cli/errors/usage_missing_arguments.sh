# exit 2
"$CALC" run gpt3-175B
