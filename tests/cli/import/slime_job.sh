# A job of slime: engines apart by train_async.py, sequences of an optimizer step, a context of two; the options of SGLang are the engines'.
cat >run.sh <<'EOF'
MODEL_ARGS=( --swiglu --num-layers 36 --hidden-size 2560 --ffn-hidden-size 9728 --num-attention-heads 32 --group-query-attention
   --num-query-groups 8 --use-rotary-position-embeddings --disable-bias-linear --normalization RMSNorm --kv-channels 128 --qk-layernorm --vocab-size 151936 )
CKPT_ARGS=( --hf-checkpoint /root/Qwen3-4B --ref-load /root/Qwen3-4B_torch_dist --save-interval 20 )
ROLLOUT_ARGS=(
   --prompt-data /root/data.jsonl --rollout-shuffle --num-rollout 3000
   --rollout-batch-size 32
   --n-samples-per-prompt 8
   --rollout-max-prompt-len 1024
   --rollout-max-response-len 8192
   --global-batch-size 128
)
PERF_ARGS=(
   --tensor-model-parallel-size 2 --sequence-parallel --pipeline-model-parallel-size 1 --context-parallel-size 2
   --recompute-granularity full --recompute-method uniform --recompute-num-layers 1
   --use-dynamic-batch-size --max-tokens-per-gpu 9216
)
GRPO_ARGS=( --advantage-estimator grpo --use-kl-loss --kl-loss-coef 0.00 )
SGLANG_ARGS=( --rollout-num-gpus-per-engine 2 --sglang-mem-fraction-static 0.7 --sglang-max-running-requests 64 )
ray job submit --address="http://127.0.0.1:8265" -- python3 train_async.py \
   --actor-num-nodes 1 --actor-num-gpus-per-node 4 --rollout-num-gpus 4 \
   ${MODEL_ARGS[@]} ${CKPT_ARGS[@]} ${ROLLOUT_ARGS[@]} ${PERF_ARGS[@]} ${GRPO_ARGS[@]} ${SGLANG_ARGS[@]}
EOF
"$CALC" import run.sh --job job.json
cat job.json
"$CALC" rl qwen3-4B h100_sxm job.json 2>/dev/null | sed -n 1,2p
# On the same processors the trainer is always moved away; optimizer steps are counted.
"$CALC" import --from slime --job - -- --rollout-batch-size 16 --n-samples-per-prompt 4 --num-steps-per-rollout 2 --colocate \
    --actor-num-gpus-per-node 8 --micro-batch-size 2 --rollout-max-response-len 600 --use-rollout-logprobs --advantage-estimator gspo |
    grep -E 'prompts|samples|mini|micro|offload"|old|algorithm|mean|chips'
