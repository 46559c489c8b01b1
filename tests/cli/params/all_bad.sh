# exit 3
"$CALC" params nope --json -
