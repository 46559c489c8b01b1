# exit 2
"$CALC" run --zzzzzzzzzzz
