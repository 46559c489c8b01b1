# Latency and throughput of serving are objectives and conditions; what is best runs.
cat > space.json <<'END'
{"num_procs": [4, 8], "pipeline_par": 1, "batch_size": [16, 64, 256], "microbatch_size": 1, "training": false,
 "datatype": "bfloat16", "tensor_par_comm_type": "ar", "tensor_par_overlap": "none", "seq_par_ag_redo": false,
 "activation_recompute": "none", "optimizer_sharding": false, "data_par_overlap": false, "weight_offload": false,
 "activations_offload": false, "optimizer_offload": false, "flash_attention": true, "tensor_par_net": 0, "data_par_net": 0,
 "inference": {"phase": "serve", "prompt_size": 4000, "generate_size": 500, "chunk_size": 2048}}
END
"$CALC" sweep llama3-70B h200 space.json --objectives ttft,output_tokens_per_s --where 'tpot <= 100ms' --top 1 \
    --top-by output_tokens_per_s_per_proc --save-best best.json --threads 1 --progress none > out
sed -n '/Pareto/,/^$/p' out | cut -c1-60
"$CALC" run llama3-70B h200 best.json | sed -n '/Serving/,/^$/p'
"$CALC" sweep llama3-70B h200 space.json --axis inference.phase=none,serve 2>&1 | head -3
sed 's/"serve"/"serv"/' space.json > bad.json
"$CALC" sweep llama3-70B h200 bad.json 2>&1 | head -3
