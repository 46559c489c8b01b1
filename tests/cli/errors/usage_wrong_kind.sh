# exit 2
"$CALC" show names models
