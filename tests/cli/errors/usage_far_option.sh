"$CALC" run --zzzzzzzzzzz
