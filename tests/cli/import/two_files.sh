# exit 2
"$CALC" import one two
