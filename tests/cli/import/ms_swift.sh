# 16 sequences in a step, as without accumulation steps: 4 replicas, 4 passes.
cat >sft.sh <<'EOF'
NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B-Instruct --tuner_type full --torch_dtype bfloat16 \
    --dataset 'swift/self-cognition#1000' --per_device_train_batch_size 1 --learning_rate 1e-5 \
    --max_length 2048 --packing true --attn_impl flash_attn --deepspeed zero3_offload --warmup_ratio 0.05
EOF
"$CALC" import --procs 4 sft.sh
printf 'model: x\nsequence_parallel_size: 4\nmax_length: 65536\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\ntuner_type: lora\n' >sp.yaml
"$CALC" import --procs 8 sp.yaml | grep -E 'par|batch|recompute'
