# A job: prompts become sequences, tokens of a processor those of a replica; it runs as it is.
cat >run.sh <<'EOF'
set -x
NNODES=${NNODES:-2}
MAX_PROMPT=1024
MAX_RESPONSE=$((1024 * 8))
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_batch_size=256 \
    data.max_prompt_length=$MAX_PROMPT \
    data.max_response_length=$MAX_RESPONSE \
    actor_rollout_ref.model.path=Qwen/Qwen3-8B \
    actor_rollout_ref.model.enable_gradient_checkpointing=True \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \
    actor_rollout_ref.actor.use_dynamic_bsz=True \
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=12288 \
    actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.actor.fsdp_config.param_offload=True \
    actor_rollout_ref.actor.fsdp_config.optimizer_offload=True \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \
    actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu=24576 \
    actor_rollout_ref.ref.fsdp_config.param_offload=True \
    trainer.n_gpus_per_node=8 trainer.nnodes=$NNODES trainer.total_epochs=15 $@
EOF
"$CALC" import run.sh --job job.json
cat job.json
"$CALC" rl qwen3-8B h100_sxm job.json 2>/dev/null | sed -n 1,2p
# A reference with micro-batches of its own, engines apart, Megatron, a critic and what verl has where nothing is said.
"$CALC" import --from verl --job - -- algorithm.adv_estimator=gae data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=32 \
    actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
    actor_rollout_ref.actor.megatron.context_parallel_size=2 actor_rollout_ref.actor.use_dynamic_bsz=true \
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=4096 actor_rollout_ref.ref.log_prob_max_token_len_per_gpu=8192 \
    actor_rollout_ref.actor.megatron.grad_offload=true algorithm.use_kl_in_reward=true \
    actor_rollout_ref.hybrid_engine=false rollout.nnodes=2 trainer.nnodes=1 async_training.staleness_threshold=0.5 |
    grep -E '_tokens|chips|"(tensor|context)_par|mini|algorithm|offload"|kl|old|reference|critic'
