# Options of Megatron-LM, and of the actor's nodes.
cat >run.sh <<'EOF'
ROLLOUT_ARGS=(
   --rollout-batch-size 32
   --n-samples-per-prompt 8
   --rollout-max-prompt-len 1024
   --rollout-max-response-len 7168
   --global-batch-size 256
)
PERF_ARGS=(
   --tensor-model-parallel-size 2
   --sequence-parallel
   --pipeline-model-parallel-size 1
   --context-parallel-size 2
   --recompute-granularity full
   --recompute-method uniform
   --recompute-num-layers 1
   --use-dynamic-batch-size
   --max-tokens-per-gpu 9216
)
SGLANG_ARGS=( --rollout-num-gpus-per-engine 2 --sglang-mem-fraction-static 0.7 )
ray job submit --address="http://127.0.0.1:8265" -- python3 train.py \
   --actor-num-nodes 2 --actor-num-gpus-per-node 8 --colocate --advantage-estimator grpo --attention-backend flash \
   --num-layers 36 --hidden-size 2560 --num-attention-heads 32 --swiglu --normalization RMSNorm \
   ${ROLLOUT_ARGS[@]} ${PERF_ARGS[@]} ${SGLANG_ARGS[@]}
EOF
"$CALC" import run.sh
# Without a batch, what is generated is shared by the steps that it is for.
"$CALC" import --from slime --procs 8 -- --num-layers 4 --rollout-batch-size 128 --n-samples-per-prompt 8 --num-steps-per-rollout 4 2>&1 | grep batch_size
