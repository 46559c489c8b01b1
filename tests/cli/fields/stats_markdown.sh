"$CALC" show fields stats --markdown | head -n 4
