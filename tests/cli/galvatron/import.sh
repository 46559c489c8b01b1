# exit 3
folder="$ROOT/tests/galvatron"
"$CALC" import "$folder"/06*/galvatron_config*
"$CALC" import --from galvatron --exe layout.json "$folder"/02*/galvatron_config* && "$CALC" run llama2-7B a100_sxm_40g layout.json | head -n 1
"$CALC" import --app model.json "$folder"/02*/galvatron_config*
sed '/world_size/d' "$folder"/02*/galvatron_config* >old.json
"$CALC" import old.json
"$CALC" import --procs 8 old.json | head -n 2
"$CALC" import --from galvatron "$folder"/02*/args.json
