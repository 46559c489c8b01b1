# What comes back, beside what went in; the file says nothing of the model but its name.
sed 's/"activation_recompute": "modules"/"activation_recompute": "full"/; /recompute_modules/d' \
    "$ROOT/executions/llama3-8B_128_fsdp.json" >sharded.json
sed 's/"zero_stage": 3/"zero_stage": 2/; s/"pipeline_par": 1/"pipeline_par": 4/
    s/"data_par": 128/"data_par": 32/; s/"pipeline_interleaving": 1/"pipeline_interleaving": 2/' \
    sharded.json >stages.json
for m in sharded stages; do
    "$CALC" export --to torchtitan llama3-8B "$m.json" --out run.toml 2>lost &&
        "$CALC" import --from torchtitan --procs 128 --exe exe.json run.toml
    "$CALC" diff "$m.json" exe.json
done
