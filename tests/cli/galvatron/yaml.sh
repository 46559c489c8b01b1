# Flags count more than the file; what has no effect is named.
cat >search.yaml <<'Y'
search_engine:
  model_info: {model_size: llama2-7b, hidden_size: 4096, num_layers: 32, vocab_size: 32000}
  common_train_info: {seq_length: 2048}
  parallelism_info: {default_dp_type: zero2, pipeline_type: pipedream_flush}
  hardware_info: {memory_constraint: 24}
  batch_size_info: {settle_bsz: 64, settle_chunk: 8, recommend_min_bsz: 1}
  profiling_info:
    time_profile_mode: batch
    time_profiling_path: profiles
    memory_profiling_path: profiles
    allreduce_bandwidth_config_path: hardware
    p2p_bandwidth_config_path: hardware
    overlap_coe_path: hardware
    sp_time_path: hardware
  options_info: {parallel_search: true, worker: 4}
Y
ln -s "$ROOT/tests/galvatron/profiles/shipped_llama2-7b" profiles
ln -s "$ROOT/tests/galvatron/profiles/shipped_hardware" hardware
"$CALC" as galvatron search search.yaml --memory_constraint 21 --disable_fsdp 1 --log_dir logs --sequence_parallel |
    sed 's/; [0-9]* of [0-9]* tasks solved//'
ls configs
