"$CALC" import --app app.json -- --num-layers 4
