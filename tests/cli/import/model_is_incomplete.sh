# exit 3
"$CALC" import --app app.json -- --num-layers 4
