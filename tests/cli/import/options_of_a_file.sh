# exit 2
"$CALC" import --from nanotron -- --num-layers 4
