# A recipe of NeMo-RL: what it adds to lies beside it, products are computed, the layout that is not enabled does not count,
# and the nodes of the engines are among those of the cluster.
cat >base.yaml <<'EOF'
grpo:
  num_prompts_per_step: 32
  num_generations_per_prompt: 16
  async_grpo:
    enabled: false
    max_trajectory_age_steps: 1
loss_fn:
  reference_policy_kl_penalty: 0.01
policy:
  model_name: "Qwen/Qwen2.5-1.5B"
  train_global_batch_size: 512
  train_micro_batch_size: 4
  logprob_batch_size: 4
  max_total_sequence_length: 512
  precision: "bfloat16"
  dtensor_cfg:
    enabled: true
    cpu_offload: false
    tensor_parallel_size: 8
  megatron_cfg:
    enabled: false
    pipeline_dtype: ${policy.precision}
    optimizer:
      use_distributed_optimizer: true
  sequence_packing:
    enabled: true
    train_mb_tokens: ${mul:${policy.max_total_sequence_length}, ${policy.train_micro_batch_size}}
    logprob_mb_tokens: ${mul:${policy.max_total_sequence_length}, ${policy.logprob_batch_size}}
  generation:
    backend: "vllm"
    max_new_tokens: ${policy.max_total_sequence_length}
    vllm_cfg:
      precision: ${policy.precision}
      tensor_parallel_size: 1
      gpu_memory_utilization: 0.6
    colocated:
      enabled: true
      resources:
        gpus_per_node: null
        num_nodes: null
data:
  max_input_seq_length: ${policy.max_total_sequence_length}
cluster:
  gpus_per_node: 1
  num_nodes: 1
EOF
cat >run.yaml <<'EOF'
defaults: base.yaml
grpo:
  num_prompts_per_step: 64
  num_generations_per_prompt: 32
  async_grpo:
    enabled: true
    max_trajectory_age_steps: 1
policy:
  model_name: meta-llama/Llama-3.1-8B-Instruct
  train_micro_batch_size: 1
  logprob_batch_size: 2
  max_total_sequence_length: 4096
  dtensor_cfg:
    enabled: false
  megatron_cfg:
    enabled: true
    activation_checkpointing: true
    pipeline_model_parallel_size: 2
  generation:
    vllm_cfg:
      tensor_parallel_size: 2
    colocated:
      enabled: false
      resources:
        num_nodes: 1
        gpus_per_node: 8
cluster:
  gpus_per_node: 8
  num_nodes: 2
EOF
"$CALC" import run.yaml --job job.json
cat job.json
"$CALC" rl llama3-8B h100_sxm job.json 2>/dev/null | sed -n 1,2p
# Together, by FSDP; of the training alone as any other file.
sed -i 's/gpus_per_node: 1$/gpus_per_node: 8/; s/tensor_parallel_size: 8/tensor_parallel_size: 2/' base.yaml
"$CALC" import base.yaml --job - | grep -E 'chips|zero|"tensor_par"|micro|offload"|cap'
"$CALC" import base.yaml | grep -E 'zero|"tensor_par"|batch|seq'
# The file that it adds to is elsewhere.
rm base.yaml
"$CALC" import run.yaml --job job.json
