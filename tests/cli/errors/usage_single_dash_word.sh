"$CALC" run a b c -json
