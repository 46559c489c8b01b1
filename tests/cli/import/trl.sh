# The command of TRL, launched by Accelerate with its file.
cat >fsdp2.yaml <<'EOF'
distributed_type: FSDP
fsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: true, fsdp_offload_params: false}
mixed_precision: bf16
num_machines: 1
num_processes: 8
EOF
cat >train.sh <<'EOF'
accelerate launch --config_file fsdp2.yaml trl/scripts/sft.py \
    --model_name_or_path Qwen/Qwen2-0.5B --dataset_name trl-lib/Capybara --learning_rate 2.0e-5 \
    --packing --max_length 4096 --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --use_liger_kernel --eos_token '<|im_end|>'
EOF
"$CALC" import train.sh
"$CALC" import --procs 4 --from trl -- --per_device_train_batch_size 2 --gradient_checkpointing false --use_peft |
    grep -E 'batch|recompute|seq_size|datatype'
