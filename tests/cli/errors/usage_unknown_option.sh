"$CALC" run --jsn x
