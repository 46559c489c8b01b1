# Sharded weights on the host; micro-batch 1, 8 passes, 16 replicas.
cat >fft.yaml <<'EOF'
base_model: deepseek-ai/DeepSeek-V2-Lite
datasets:
  - path: tatsu-lab/alpaca
    type: alpaca
val_set_size: 0.0
sequence_len: 2048
sample_packing: true
wandb_project:
gradient_accumulation_steps: 8
micro_batch_size: 1
optimizer: adamw_torch_fused
learning_rate: 2e-5
bf16: auto
tf32: false
gradient_checkpointing: true
gradient_checkpointing_kwargs:
  use_reentrant: false
attn_implementation: flash_attention_2
special_tokens:
fsdp:
  - full_shard
  - auto_wrap
fsdp_config:
  fsdp_offload_params: true
  fsdp_state_dict_type: FULL_STATE_DICT
  fsdp_sharding_strategy: FULL_SHARD
EOF
"$CALC" import --procs 16 fft.yaml
# FSDP 2, two copies of a state on 8 processors each, half of them for one sequence.
cat >cp.yaml <<'EOF'
base_model: meta-llama/Llama-3.1-8B
sequence_len: 32768
sample_packing: true
micro_batch_size: 1
gradient_accumulation_steps: 2
optimizer: paged_adamw_8bit
bf16: true
dp_replicate_size: 2
dp_shard_size: 4
context_parallel_size: 2
fsdp_version: 2
fsdp_config:
  reshard_after_forward: false
  offload_params: false
EOF
"$CALC" import cp.yaml | grep -E 'par"|batch|zero|moment|seq_size'
# An adapter, and a file that is not there.
printf 'base_model: x\nadapter: qlora\nload_in_4bit: true\nlora_r: 32\nmicro_batch_size: 2\ndeepspeed: deepspeed_configs/zero2.json\n' >lora.yml
"$CALC" import --procs 8 lora.yml | grep -E 'zero|batch|overlap"'
# A fused loss alone leaves a kernel to each operation of the norms; Liger's switch of other trainers takes both.
for line in 'liger_cross_entropy: true' 'liger_rms_norm: true'; do
    printf 'base_model: x\nmicro_batch_size: 2\n%s\n' "$line" >liger.yml
    "$CALC" import --procs 8 liger.yml | grep -E 'unfused_norm|fused_cross_entropy' || echo 'neither'
done
"$CALC" import --procs 8 --from trl -- --per_device_train_batch_size 2 --use_liger_kernel | grep -E 'unfused_norm|fused_cross_entropy'
