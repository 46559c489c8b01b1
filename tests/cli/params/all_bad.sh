# exit 3
"$CALC" show params nope --json -
