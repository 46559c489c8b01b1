# exit 3
"$CALC" run xxxxxxxxxxxx yyyyyyyyyyyyyy zzzzzzzzzzzzz
