# Runs of serving are known by their columns; tables that calc ships have bare names.
"$CALC" validate serving_runs --worst 0 > table || exit
grep -E '^(time|whole|output|shape)' table | cut -c1-36
grep -Eo '^[0-9,]+ runs, ' table
grep -E 'not predicted: (the engine|speculative|no description|the serving|pools)' table
grep -c '^AISimulate, InferenceX sweeps' table
zcat "$ROOT/tests/measured/serving_runs.csv.gz" | head -40 | "$CALC" validate - --worst 0 | grep -Eo '^[0-9,]+ runs, '

# One's own, with what went into the prediction.
cat > ours.csv <<'CSV'
id,model,gpu,num_gpus,tp,software,weight_dtype,isl,osl,concurrency_or_batch,tpot_or_itl_ms
one,llama3-70B,h200,8,8,vllm 0.11.0,fp8,1000,500,16,9
two,llama3-70B,h200,8,8,wllm 0.11.0,fp8,1000,500,16,9
three,llama3-90B,h200,8,8,vllm 0.11.0,fp8,1000,500,16,9
CSV
"$CALC" validate ours.csv --worst 0 | tail -3
"$CALC" validate ours.csv --json - | grep -o '"id": "one".*"error"' | sed -E 's/"predicted.*//'
"$CALC" validate ours.csv --csv - | cut -d, -f1-4
