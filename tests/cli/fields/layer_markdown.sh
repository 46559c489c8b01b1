"$CALC" show fields layer --markdown | head -n 4
