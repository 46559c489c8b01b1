# exit 2
"$CALC" export gpt3-175B
