# exit 3
# A file that names a model which models/ has; one that names another.
printf '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nseq_len = 4096\n[compile]\nenable = true\ncomponents = ["loss"]\n' >titan.toml
"$CALC" import --procs 8 titan.toml --app model.json --exe layout.json
grep -E 'seq_size|hidden|num_blocks|vocab' model.json
grep eager layout.json
sed -i 's/8B/debugmodel/; s/seq_len = 4096/&\nlocal_batch_size = 1/' titan.toml
"$CALC" import --procs 8 titan.toml --app model.json
printf '{"zero_optimization": {"stage": 3}}' >ds.json
"$CALC" import --procs 8 ds.json --app model.json
