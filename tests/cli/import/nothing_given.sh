# exit 2
"$CALC" import
