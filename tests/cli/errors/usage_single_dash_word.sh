# exit 2
"$CALC" run a b c -json
