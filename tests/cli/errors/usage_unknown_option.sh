# exit 2
"$CALC" run --jsn x
