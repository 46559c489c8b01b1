"$CALC" fields stats | head -n 6
