# exit 3
"$CALC" run ./none.json a100_80g none.json
