# exit 4
"$CALC" params gpt3-175B >/dev/full
