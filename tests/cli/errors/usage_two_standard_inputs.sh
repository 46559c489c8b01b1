"$CALC" run - - c
