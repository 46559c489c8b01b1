# exit 3
# The mesh is within slices times over slices: 2 * 4 * 2 processors, each with 2 sequences, of a model in the file.
cat >run.yml <<'EOF'
base_config: "base.yml"
run_name: "mine"
per_device_batch_size: 2
gradient_accumulation_steps: 2
max_target_length: 8192
ici_fsdp_parallelism: 4
ici_tensor_parallelism: 2
dcn_data_parallelism: 2
ici_data_parallelism: 1
remat_policy: "minimal_offloaded"
dtype: "bfloat16"
attention: "flash"
base_emb_dim: 4096
base_num_query_heads: 32
base_num_kv_heads: 8
base_mlp_dim: 14336
base_num_decoder_layers: 32
head_dim: 128
mlp_activations: ["silu","linear"]
vocab_size: 128256
logits_via_embedding: false
EOF
"$CALC" import run.yml --app model.json --exe run.json
cat model.json run.json
# A model by name is that of models/; what is left over goes to fsdp.
printf 'model_name: "llama3.1-8b"\nper_device_batch_size: 3\nici_fsdp_parallelism: -1\nmax_target_length: 8192\nremat_policy: save_qkv_proj\n' >named.yml
"$CALC" import --procs 64 named.yml --app named.json | grep -E 'data_par"|batch|zero|fsdp|recompute'
grep -E 'hidden|seq_size' named.json
printf 'per_device_batch_size: 0.25\nici_fsdp_parallelism: 8\nici_tensor_parallelism: 2\n' >shared.yml
"$CALC" import shared.yml
printf 'decoder_block: gemma3\nper_device_batch_size: 1\nici_fsdp_parallelism: 8\nbase_emb_dim: 64\n' >gemma.yml
"$CALC" import gemma.yml --app gemma.json
