"$CALC" serve
