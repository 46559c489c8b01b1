# As its users write it: what is -1 or off says nothing.
cat > pretrain.json <<'END'
{
  "model_name_or_path": "meta-llama/Meta-Llama-3-8B",
  "input_dir": "./data",
  "per_device_train_batch_size": 1,
  "gradient_accumulation_steps": 16,
  "tensor_parallel_degree": 2,
  "pipeline_parallel_degree": -1,
  "sharding": "stage2",
  "sharding_parallel_degree": 4,
  "virtual_pp_degree": 1,
  "sequence_parallel": 0,
  "use_flash_attention": true,
  "max_seq_length": 4096,
  "bf16": true,
  "amp_master_grad": true,
  "recompute": false,
  "recompute_granularity": "full",
  "pipeline_parallel_config": "disable_partial_send_recv",
  "nested": {"list": [1, 2]}
}
END
"$CALC" import --from paddle pretrain.json
