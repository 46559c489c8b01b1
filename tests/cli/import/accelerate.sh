# exit 3
# Who launches says how many processors, and how weights are spread over them; the script has the rest.
cat >fsdp2.yaml <<'EOF'
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_activation_checkpointing: true
  fsdp_offload_params: false
  fsdp_reshard_after_forward: true
  fsdp_version: 2
mixed_precision: bf16
num_machines: 2
num_processes: 16
EOF
"$CALC" import fsdp2.yaml
# Sharded within each of the two nodes.
printf 'distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: HYBRID_SHARD}\nmixed_precision: fp8\nnum_machines: 2\nnum_processes: 16\n' >hybrid.yaml
"$CALC" import hybrid.yaml | grep -E 'fsdp_par|zero|data_par"|datatype'
printf 'distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 2, offload_optimizer_device: cpu, gradient_accumulation_steps: 4}\nmixed_precision: bf16\nnum_processes: 8\n' >zero.yaml
"$CALC" import zero.yaml | grep -E 'zero|offload|batch|overlap"'
# Plans of tensor parallelism gather the logits; Megatron-LM's plugin does not.
printf 'distributed_type: FSDP\nfsdp_config: {fsdp_version: 2}\nparallelism_config: {parallelism_config_tp_size: 4}\nmixed_precision: bf16\nnum_processes: 8\n' >tp.yaml
"$CALC" import tp.yaml | grep -E 'tensor_par"|framework_mem|weight_data'
printf 'distributed_type: MEGATRON_LM\nmegatron_lm_config: {megatron_lm_tp_degree: 4, megatron_lm_pp_degree: 1}\nmixed_precision: bf16\nnum_processes: 8\n' >megatron.yaml
"$CALC" import megatron.yaml | grep -E 'tensor_par"|framework_mem|weight_data'
printf 'distributed_type: MULTI_GPU\nmixed_precision: bf17\nnum_processes: 8\n' >bad.yaml
"$CALC" import bad.yaml
