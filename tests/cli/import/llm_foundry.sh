# exit 3
cat >mpt.yaml <<'EOF'
variables: {max_seq_len: 2048, global_seed: 17}
max_seq_len: ${variables.max_seq_len}
model:
  name: mpt_causal_lm
  init_device: meta
  d_model: 4096
  n_heads: 32
  n_layers: 32
  expansion_ratio: 4
  max_seq_len: ${variables.max_seq_len}
  vocab_size: 50368
  attn_config: {attn_impl: flash, alibi: true}
algorithms: {gradient_clipping: {clipping_type: norm}}
optimizer: {name: decoupled_adamw, lr: 1.2e-4}
global_train_batch_size: 1024
device_train_microbatch_size: 8
precision: amp_bf16
fsdp_config:
  sharding_strategy: FULL_SHARD
  mixed_precision: PURE
  activation_checkpointing: true
  activation_checkpointing_reentrant: false
  activation_cpu_offload: false
  limit_all_gathers: true
EOF
"$CALC" import --procs 64 mpt.yaml --app model.json --exe run.json
cat model.json run.json
sed 's/expansion_ratio: 4/expansion_ratio: 3/' mpt.yaml >narrow.yaml
"$CALC" import --procs 64 narrow.yaml --app narrow.json >/dev/null 2>&1
grep feedforward narrow.json
printf 'max_seq_len: 4096\nglobal_train_batch_size: 512\ndevice_train_microbatch_size: auto\nprecision: amp_bf16\nparallelism_config: {fsdp: {sharding_strategy: HYBRID_SHARD}}\nmodel: {name: hf_causal_lm, pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf}\n' >hf.yaml
"$CALC" import --procs 32 hf.yaml | grep -E 'batch|zero|fsdp|data_par"'
"$CALC" import hf.yaml --app model.json
