"$CALC" fields stats --markdown | head -n 4
