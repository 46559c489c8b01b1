"$CALC" run a b c d
