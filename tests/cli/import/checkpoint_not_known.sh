# exit 3
sed 's/"quant_method": "mxfp4"/"quant_method": "newest"/' "$ROOT/tests/formats/hf/gpt-oss-20b.json" >config.json
"$CALC" import config.json --app model.json
