# exit 2
"$CALC" serve
