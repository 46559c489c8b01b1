# The words of a command, for Megatron; the sizes are those of the actor, the batch of its update is prompts * answers.
cat >run.sh <<'EOF'
set -x
NNODES=${NNODES:-32}
python3 -m verl.trainer.main_ppo --config-path=config --config-name='ppo_megatron_trainer.yaml' \
    algorithm.adv_estimator=grpo \
    data.train_batch_size=512 \
    data.max_prompt_length=2048 \
    data.max_response_length=4096 \
    actor_rollout_ref.model.path=deepseek-ai/DeepSeek-V3 \
    actor_rollout_ref.actor.optim.lr=1e-6 \
    actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1 \
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=16 \
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=16 \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \
    +actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_first_pipeline_stage=4 \
    +actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_last_pipeline_stage=1 \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=4 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=32 \
    trainer.n_gpus_per_node=8 trainer.nnodes=$NNODES $@
EOF
"$CALC" import run.sh
"$CALC" import --procs 256 run.sh --app model.json
# Sharded by FSDP, the sequence over two ranks.
"$CALC" import --from verl -- actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 trainer.n_gpus_per_node=8 |
    grep -E 'par|batch|zero|recompute'
# What is handed on to Megatron Core.
A=actor_rollout_ref.actor
"$CALC" import --procs 32 -- $A.megatron.tensor_model_parallel_size=4 $A.megatron.pipeline_model_parallel_size=8 $A.megatron.expert_model_parallel_size=4 \
    $A.ppo_mini_batch_size=16 +$A.optim.override_optimizer_config.optimizer_cpu_offload=True \
    +$A.optim.override_optimizer_config.optimizer_offload_fraction=0.5 $A.megatron.virtual_pipeline_model_parallel_size=null \
    +$A.megatron.override_transformer_config.moe_enable_deepep=True +$A.megatron.override_transformer_config.moe_router_dtype=fp64 \
    +$A.megatron.override_transformer_config.moe_permute_fusion=True 2>&1 |
    grep -E 'offload|dispatch|permute|override|interleaving'
