# exit 3
"$CALC" diff foo a100_80g
