# The same options, with other defaults: a step of 16 sequences, and attention recomputed.
cat >pt.sh <<'EOF'
NPROC_PER_NODE=8 megatron pt --model Qwen/Qwen2.5-7B --dataset swift/chinese-c4 --streaming true --packing true \
    --tensor_model_parallel_size 4 --micro_batch_size 1 --train_iters 10000 --finetune true \
    --cross_entropy_loss_fusion true --lr 1e-5 --max_length 8192 --sequence_parallel true --attention_backend flash
EOF
"$CALC" import --procs 8 pt.sh
"$CALC" import --procs 8 --from megatron-swift -- --sequence_parallel false --tensor_model_parallel_size 4 --tuner_type lora \
    --recompute_granularity none --global_batch_size 32 | grep -E 'batch|recompute|comm_type'
