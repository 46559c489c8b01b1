"$CALC" run xxxxxxxxxxxx yyyyyyyyyyyyyy zzzzzzzzzzzzz
