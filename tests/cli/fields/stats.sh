"$CALC" show fields stats | head -n 6
