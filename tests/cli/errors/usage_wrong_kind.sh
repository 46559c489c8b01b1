# exit 2
"$CALC" names models
