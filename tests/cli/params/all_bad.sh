"$CALC" params nope --json -
