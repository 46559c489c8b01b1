# A document of the fields that a person would say. Three sizes say how many processors there are; an option
# stands above the document, "auto" leaves a field open.
echo '{"tensor_par": 8, "pipeline_par": 2, "batch_size": 64}' >short.json
"$CALC" run llama3-70B h100_sxm short.json --procs 64 | sed -n '/^Layout/,/^  batch/p'
"$CALC" run llama3-70B h100_sxm short.json --procs 32 --batch 32 --set mbs=1 --set dp=auto | sed -n '/^Layout/,/^  batch/p'
echo '{"tp": 8, "pp": 2, "dp": "auto", "num_procs": 64, "attention_type": "grouped_query", "gbs": 64, "recompute_modules": ["layernorm", "mlp"], "recompute": "modules"}' |
    "$CALC" why llama3-70B h100_sxm - --top 0 | sed -n '1,2p'
# What nothing says of the processors is taken from what fits.
"$CALC" run llama3-70B h100_sxm --set tp=8 --set pp=2 --batch 64 | sed -n 1p
