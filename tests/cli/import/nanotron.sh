# exit 3
cat >run.yaml <<'EOF'
checkpoints: {checkpoint_interval: 1000, checkpoints_path: checkpoints}
data_stages:
- data: {dataset: null, num_loading_workers: 1, seed: 42}
  name: Stable Training Stage
  start_training_step: 1
general: {project: debug, run: tiny_llama, seed: 42}
model:
  ddp_bucket_cap_mb: 25
  dtype: bfloat16
  make_vocab_size_divisible_by: 1
  model_config:
    hidden_act: silu
    hidden_size: 2048
    intermediate_size: 11008
    is_llama_config: true
    max_position_embeddings: 128256
    num_attention_heads: 16
    num_hidden_layers: 28
    num_key_value_heads: 2
    tie_word_embeddings: true
    vocab_size: 128256
optimizer:
  accumulate_grad_in_fp32: true
  optimizer_factory: {name: adamW, torch_adam_is_fused: true}
  zero_stage: 1
parallelism: {dp: 4, tp: 2, pp: 2, pp_engine: 1f1b, tp_mode: REDUCE_SCATTER, tp_linear_async_communication: true, recompute_layer: true}
tokens: {batch_accumulation_per_replica: 8, micro_batch_size: 3, sequence_length: 4096, train_steps: 2000}
EOF
"$CALC" import run.yaml --app model.json --exe run.json
cat model.json run.json
# Without a word on it, all forward passes come first.
printf 'parallelism: {dp: 1, tp: 1, pp: 2}\ntokens: {micro_batch_size: 1, batch_accumulation_per_replica: 4}\n' >afab.yaml
"$CALC" import afab.yaml | grep -E 'schedule|batch|comm_type'
printf 'parallelism: {dp: 2, tp: 1, pp: 1, pp_engine: zb}\n' >bad.yaml
"$CALC" import bad.yaml
