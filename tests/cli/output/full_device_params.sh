# exit 4
"$CALC" show params gpt3-175B >/dev/full
