"$CALC" names
