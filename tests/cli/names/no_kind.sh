# exit 2
"$CALC" names
