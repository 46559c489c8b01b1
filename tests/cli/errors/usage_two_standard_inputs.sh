# exit 2
"$CALC" run - - c
