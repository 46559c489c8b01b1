"$CALC" fields layer --markdown | head -n 4
