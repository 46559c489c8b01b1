/* Keys of frameworks of reinforcement learning for what a job says. Sources: verl,
 * verl/trainer/config/; slime, slime/utils/arguments.py; NeMo-RL, examples/configs/; OpenRLHF,
 * openrlhf/cli/train_ppo_ray.py. */
#include "formats/launch.h"

#include <string.h>

#include "formats/plan_macros.h"

/* A number of things, which may be 0. */
#define SIZE(member_, ...) CALC_ROW(NUMBER, member_, __VA_ARGS__, .unset = true, .value = 1)

static const char datatype[] = "bfloat16 float16 float32 half=float16 float=float32 auto=bfloat16";
/* Numbers are those of calc_serving_program. */
static const char engines[] = "vllm=1 sglang=2 trtllm=3 dynamo=1"; /* vLLM behind a router */

#define ACTOR "actor_rollout_ref.actor."
#define ROLLOUT "actor_rollout_ref.rollout."
#define REF "actor_rollout_ref.ref."

/* clang-format off */
static const calc_setting_row verl_job_rows[] = {
    CALC_ROW(NAME, MODEL, "actor_rollout_ref.model.path")
    CALC_ROW(WORDS, JOB_ALGORITHM, "algorithm.adv_estimator", .words = "gae=ppo grpo rloo reinforce_plus_plus=reinforce reinforce_plus_plus_baseline=reinforce remax=reinforce")
    CALC_ROW(WORDS, JOB_LOSS, ACTOR "policy_loss.loss_mode", .words = "gspo vanilla=")
    SIZE(JOB_PROMPTS, "data.train_batch_size")
    SIZE(JOB_SAMPLES, ROLLOUT "n")
    SIZE(JOB_MINI_PROMPTS, ACTOR "ppo_mini_batch_size")
    SIZE(JOB_EPOCHS, ACTOR "ppo_epochs")
    CALC_ROW(SWITCH, JOB_KL, ACTOR "use_kl_loss", .value = 1)
    CALC_ROW(SWITCH, JOB_KL_REWARD, "algorithm.use_kl_in_reward", .value = 1)
    CALC_ROW(WORDS, JOB_OLD, "algorithm.rollout_correction.bypass_mode", .words = "true=engine false=trainer")
    CALC_ROW(WORDS, JOB_OLD, "async_training.compute_prox_log_prob", .words = "true=trainer false=engine")
    SIZE(JOB_QUEUED, "async_training.require_batches")
    SIZE(JOB_SYNC_STEPS, "async_training.trigger_parameter_sync_step")
    CALC_ROW(DECIMAL, JOB_STALENESS, "async_training.staleness_threshold")
    SIZE(PROMPT, "data.max_prompt_length")
    SIZE(RESPONSE, "data.max_response_length")
    CALC_ROW(WORDS, JOB_SPREAD, ROLLOUT "ignore_eos", .words = "true=0 false=")
    CALC_ROW(SWITCH, JOB_PACKED, ACTOR "use_dynamic_bsz", .value = 1)
    SIZE(JOB_MICRO_TOKENS, ACTOR "ppo_max_token_len_per_gpu")
    SIZE(JOB_FORWARD_TOKENS, ROLLOUT "log_prob_max_token_len_per_gpu")
    SIZE(JOB_REFERENCE_TOKENS, REF "log_prob_max_token_len_per_gpu")
    CALC_ROW(SWITCH, JOB_COLOCATED, "actor_rollout_ref.hybrid_engine", .value = 1)
    SIZE(NODES, "trainer.nnodes")
    SIZE(NODE_PROCS, "trainer.n_gpus_per_node")
    SIZE(JOB_ROLLOUT_NODES, "rollout.nnodes")
    SIZE(JOB_ROLLOUT_NODE_PROCS, "rollout.n_gpus_per_node")
    SIZE(JOB_ROLLOUT_NODES, ROLLOUT "nnodes")
    SIZE(JOB_ROLLOUT_NODE_PROCS, ROLLOUT "n_gpus_per_node")
    CALC_ROW(WORDS, JOB_SLEEP, ROLLOUT "free_cache_engine", .words = "true=2 false=0")
    CALC_ROW(SWITCH, JOB_OFFLOAD_WEIGHTS, ACTOR "fsdp_config.param_offload", .value = 1)
    CALC_ROW(SWITCH, JOB_OFFLOAD_OPTIMIZER, ACTOR "fsdp_config.optimizer_offload", .value = 1)
    CALC_ROW(SWITCH, JOB_OFFLOAD_WEIGHTS, ACTOR "megatron.param_offload", .value = 1)
    CALC_ROW(SWITCH, JOB_OFFLOAD_GRADIENTS, ACTOR "megatron.grad_offload", .value = 1)
    CALC_ROW(SWITCH, JOB_OFFLOAD_OPTIMIZER, ACTOR "megatron.optimizer_offload", .value = 1)
    CALC_ROW(SWITCH, JOB_REFERENCE_OFFLOAD, REF "fsdp_config.param_offload", .value = 1)
    CALC_ROW(SWITCH, JOB_REFERENCE_OFFLOAD, REF "megatron.param_offload", .value = 1)
    SIZE(JOB_BUCKET_MB, ROLLOUT "update_weights_bucket_megabytes")
    SIZE(JOB_BUCKET_MB, ROLLOUT "checkpoint_engine.update_weights_bucket_megabytes")
    CALC_ROW(NAME, JOB_CRITIC_MODEL, "critic.model.path")
    CALC_ROW(SWITCH, JOB_REWARD_ON, "reward_model.enable", .value = 1)
    CALC_ROW(NAME, JOB_REWARD_MODEL, "reward_model.model.path")
    CALC_ROW_DEFAULT(JOB_ALGORITHM, CALC_JOB_ALGORITHM_PPO) CALC_ROW_DEFAULT(JOB_PROMPTS, 1024) CALC_ROW_DEFAULT(JOB_SAMPLES, 1)
    CALC_ROW_DEFAULT(JOB_MINI_PROMPTS, 256) CALC_ROW_DEFAULT(JOB_EPOCHS, 1) CALC_ROW_DEFAULT(JOB_OLD, CALC_JOB_OLD_LOGPROB_TRAINER)
    CALC_ROW_DEFAULT(PROMPT, 512) CALC_ROW_DEFAULT(RESPONSE, 512) CALC_ROW_DEFAULT(JOB_MICRO_TOKENS, 16384) CALC_ROW_DEFAULT(JOB_COLOCATED, 1)
    CALC_ROW_DEFAULT(NODES, 1) CALC_ROW_DEFAULT(NODE_PROCS, 8) CALC_ROW_DEFAULT(JOB_SLEEP, 2) CALC_ROW_DEFAULT(JOB_REFERENCE_OFFLOAD, 0)
    CALC_ROW_DEFAULT(JOB_REWARD_ON, 0)
};

/* Where the rollout is a step ahead. */
static const calc_setting_row verl_ahead_rows[] = {
    CALC_ROW_DEFAULT(JOB_OLD, CALC_JOB_OLD_LOGPROB_ENGINE) CALC_ROW_DEFAULT(JOB_COLOCATED, 0)
    CALC_ROW_DEFAULT(JOB_ROLLOUT_NODES, 1) CALC_ROW_DEFAULT(JOB_ROLLOUT_NODE_PROCS, 8) CALC_ROW_DEFAULT(JOB_SLEEP, 0)
};

static const calc_setting_row verl_engine_rows[] = {
    CALC_ROW(WORDS, SERVE_PROGRAM, ROLLOUT "name", .words = engines)
    CALC_ROW(NUMBER, TENSOR, ROLLOUT "tensor_model_parallel_size")
    CALC_ROW(NUMBER, PIPELINE, ROLLOUT "pipeline_model_parallel_size")
    CALC_ROW(NUMBER, DATA, ROLLOUT "data_parallel_size")
    CALC_ROW(NUMBER, EXPERT, ROLLOUT "expert_parallel_size")
    CALC_ROW(WORDS, PRECISION, ROLLOUT "dtype", .words = datatype)
    CALC_ROW(NUMBER, SERVE_SLOTS, ROLLOUT "max_num_seqs")
    CALC_ROW(NUMBER, SERVE_STEP, ROLLOUT "max_num_batched_tokens")
    CALC_ROW(SWITCH, SERVE_CHUNKED, ROLLOUT "enable_chunked_prefill", .value = 1)
    CALC_ROW(SWITCH, SERVE_EAGER, ROLLOUT "enforce_eager", .value = 1)
    CALC_ROW(DECIMAL, SERVE_MEMORY, ROLLOUT "gpu_memory_utilization")
    CALC_ROW_DEFAULT(TENSOR, 2) CALC_ROW_DEFAULT(SERVE_SLOTS, 1024) CALC_ROW_DEFAULT(SERVE_STEP, 8192) CALC_ROW_DEFAULT(SERVE_MEMORY, 0.5)
};

static const calc_setting_row slime_job_rows[] = {
    CALC_ROW(NAME, MODEL, "--hf-checkpoint")
    CALC_ROW(WORDS, JOB_ALGORITHM, "--advantage-estimator", .words = "grpo gspo ppo reinforce_plus_plus=reinforce reinforce_plus_plus_baseline=reinforce on_policy_distillation=distillation")
    SIZE(JOB_PROMPTS, "--rollout-batch-size")
    SIZE(JOB_SAMPLES, "--n-samples-per-prompt")
    SIZE(JOB_MINI_BATCH, "--global-batch-size")
    SIZE(JOB_MINI_STEPS, "--num-steps-per-rollout")
    CALC_ROW(SWITCH, JOB_KL, "--use-kl-loss", .value = 1)
    CALC_ROW(DECIMAL, JOB_KL_REWARD, "--kl-coef")
    CALC_ROW(WORDS, JOB_OLD, "--use-rollout-logprobs", .words = "=engine false=trainer *=engine")
    SIZE(PROMPT, "--rollout-max-prompt-len")
    SIZE(RESPONSE, "--rollout-max-response-len")
    CALC_ROW(SWITCH, JOB_PACKED, "--use-dynamic-batch-size", .value = 1)
    SIZE(JOB_MICRO_TOKENS, "--max-tokens-per-gpu")
    SIZE(JOB_FORWARD_TOKENS, "--log-probs-max-tokens-per-gpu")
    CALC_ROW(SWITCH, JOB_COLOCATED, "--colocate", .value = 1)
    SIZE(NODES, "--actor-num-nodes")
    SIZE(NODE_PROCS, "--actor-num-gpus-per-node")
    SIZE(JOB_ROLLOUT_PROCS, "--rollout-num-gpus")
    CALC_ROW(WORDS, JOB_SLEEP, "--offload-rollout", .words = "=2 false=0 *=2")
    CALC_ROW(SWITCH, JOB_OFFLOAD_ALL, "--offload-train", .value = 1)
    CALC_ROW(SWITCH, JOB_OFFLOAD_ALL, "--offload", .value = 1)
    SIZE(JOB_BUCKET_BYTES, "--update-weight-buffer-size")
    CALC_ROW_DEFAULT(JOB_ALGORITHM, CALC_JOB_ALGORITHM_GRPO) CALC_ROW_DEFAULT(JOB_SAMPLES, 1) CALC_ROW_DEFAULT(JOB_EPOCHS, 1)
    CALC_ROW_DEFAULT(JOB_OLD, CALC_JOB_OLD_LOGPROB_TRAINER) CALC_ROW_DEFAULT(NODES, 1) CALC_ROW_DEFAULT(NODE_PROCS, 8)
};

static const calc_setting_row slime_engine_rows[] = {
    CALC_ROW(NUMBER, SERVE_RANKS, "--rollout-num-gpus-per-engine")
    CALC_ROW_DEFAULT(SERVE_RANKS, 1)
};

#define GENERATION "policy.generation."
static const calc_setting_row nemo_job_rows[] = {
    CALC_ROW(NAME, MODEL, "policy.model_name")
    CALC_ROW(WORDS, JOB_ALGORITHM, "grpo.adv_estimator.name", .words = "grpo reinforce_plus_plus=reinforce gdpo=grpo", .read_only = true)
    CALC_ROW(WORDS, JOB_ALGORITHM, "ppo.adv_estimator.name", .words = "gae=ppo grpo reinforce_plus_plus=reinforce", .read_only = true)
    CALC_ROW(NAME, JOB_TEACHER_MODEL, "teacher.model_name")
    CALC_ROW(NAME, JOB_CRITIC_MODEL, "value.model_name")
    SIZE(JOB_PROMPTS, "grpo.num_prompts_per_step", .also = "distillation.num_prompts_per_step")
    SIZE(JOB_PROMPTS, "ppo.num_prompts_per_step")
    SIZE(JOB_SAMPLES, "grpo.num_generations_per_prompt", .also = "distillation.num_generations_per_prompt")
    SIZE(JOB_SAMPLES, "ppo.num_generations_per_prompt")
    SIZE(JOB_MINI_BATCH, "policy.train_global_batch_size")
    SIZE(JOB_EPOCHS, "ppo.ppo_epochs", .read_only = true)
    CALC_ROW(SWITCH, JOB_ASYNC, "grpo.async_grpo.enabled", .also = "ppo.async_ppo.enabled", .value = 1)
    SIZE(JOB_STEPS_OFF, "grpo.async_grpo.max_trajectory_age_steps", .also = "ppo.async_ppo.warmup_generation_lead_steps")
    CALC_ROW(DECIMAL, JOB_KL, "loss_fn.reference_policy_kl_penalty")
    CALC_ROW(WORDS, JOB_OLD, "loss_fn.force_on_policy_ratio", .words = "true=none false=trainer")
    SIZE(PROMPT, "data.max_input_seq_length")
    SIZE(JOB_TOTAL, "policy.max_total_sequence_length")
    SIZE(RESPONSE, GENERATION "max_new_tokens")
    CALC_ROW(SWITCH, JOB_PACKED, "policy.sequence_packing.enabled", .also = "policy.dynamic_batching.enabled", .value = 1)
    SIZE(JOB_MICRO_TOKENS, "policy.sequence_packing.train_mb_tokens", .also = "policy.dynamic_batching.train_mb_tokens")
    SIZE(JOB_FORWARD_TOKENS, "policy.sequence_packing.logprob_mb_tokens", .also = "policy.dynamic_batching.logprob_mb_tokens")
    CALC_ROW(SWITCH, JOB_COLOCATED, GENERATION "colocated.enabled", .value = 1)
    SIZE(NODES, "cluster.num_nodes")
    SIZE(NODE_PROCS, "cluster.gpus_per_node")
    SIZE(JOB_ROLLOUT_NODES, GENERATION "colocated.resources.num_nodes")
    SIZE(JOB_ROLLOUT_NODE_PROCS, GENERATION "colocated.resources.gpus_per_node")
    CALC_ROW_DEFAULT(JOB_ALGORITHM, CALC_JOB_ALGORITHM_GRPO) CALC_ROW_DEFAULT(JOB_EPOCHS, 1) CALC_ROW_DEFAULT(JOB_KL, 0.01)
    CALC_ROW_DEFAULT(JOB_OLD, CALC_JOB_OLD_LOGPROB_TRAINER) CALC_ROW_DEFAULT(JOB_COLOCATED, 1)
};

static const calc_setting_row nemo_engine_rows[] = {
    CALC_ROW(WORDS, SERVE_PROGRAM, GENERATION "backend", .words = engines)
    CALC_ROW(NUMBER, EXPERT, GENERATION "vllm_cfg.expert_parallel_size")
    CALC_ROW(WORDS, NARROW, GENERATION "vllm_cfg.precision", .words = "fp8=1 bfloat16= float16= half= auto=")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
};

#define POLICY "policy."
#define TENSORS POLICY "dtensor_cfg."
static const calc_setting_row nemo_rl_rows[] = {
    CALC_ROW(NUMBER, NODE_PROCS, "cluster.gpus_per_node") CALC_ROW(NUMBER, NODES, "cluster.num_nodes")
    CALC_ROW(NUMBER, SEQ, POLICY "max_total_sequence_length")
    CALC_ROW(NUMBER, BATCH, POLICY "train_global_batch_size")
    CALC_ROW(NUMBER, MICROBATCH, POLICY "train_micro_batch_size")
    CALC_ROW(WORDS, PRECISION, POLICY "precision", .words = datatype)
    CALC_ROW(SWITCH, FSDP, TENSORS "enabled", .value = 1)
    CALC_ROW(NUMBER, TENSOR, TENSORS "tensor_parallel_size")
    CALC_ROW(NUMBER, CONTEXT, TENSORS "context_parallel_size")
    CALC_ROW(NUMBER, EXPERT, TENSORS "expert_parallel_size")
    CALC_ROW(SWITCH, SEQ_PAR, TENSORS "sequence_parallel", .value = 1)
    CALC_ROW(SWITCH, WEIGHT_OFFLOAD, TENSORS "cpu_offload", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, TENSORS "activation_checkpointing", .also = POLICY "megatron_cfg.activation_checkpointing", .words = "true=2 false=0")
    CALC_ROW(NAME, MODEL, POLICY "model_name")
    CALC_ROW(WORDS, FP8_RECIPE, POLICY "megatron_cfg.fp8_cfg.fp8_recipe", .words = "blockwise=block tensorwise=tensor delayed=tensor mxfp8=block")
    CALC_ROW(WORDS, FP8, POLICY "megatron_cfg.fp8_cfg.fp8", .words = "e4m3=1 hybrid=1")
    CALC_ROW(IS, ADAPTER, TENSORS "lora_cfg.enabled", .also = POLICY "megatron_cfg.peft.enabled", .value = CALC_TRAINED_ADAPTERS)
    CALC_ROW(NUMBER, LORA_RANK, TENSORS "lora_cfg.dim", .also = POLICY "megatron_cfg.peft.dim")
    CALC_ROW(SET, LORA_MODULES, TENSORS "lora_cfg.target_modules", .words = CALC_LORA_WORDS)
    CALC_ROW(SET, LORA_MODULES, POLICY "megatron_cfg.peft.target_modules", .words = CALC_LORA_WORDS_CORE)
    CALC_ROW(DECIMAL, LORA_DROPOUT, TENSORS "lora_cfg.dropout", .also = POLICY "megatron_cfg.peft.dropout")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(DIST_OPT, 1)
};

/* The second names are those of before, with underscores. */
static const calc_setting_row openrlhf_job_rows[] = {
    CALC_ROW(NAME, MODEL, "--actor.model_name_or_path", .also = "--pretrain")
    CALC_ROW(WORDS, JOB_ALGORITHM, "--algo.advantage.estimator", .also = "--advantage_estimator", .words = "gae=ppo reinforce rloo reinforce_baseline=rloo group_norm=grpo dr_grpo")
    CALC_ROW(WORDS, JOB_LOSS, "--actor.policy_loss_type", .also = "--policy_loss_type", .words = "gspo ppo=")
    SIZE(JOB_PROMPTS, "--rollout.batch_size", .also = "--rollout_batch_size")
    SIZE(JOB_SAMPLES, "--rollout.n_samples_per_prompt", .also = "--n_samples_per_prompt")
    SIZE(JOB_MINI_BATCH, "--train.batch_size", .also = "--train_batch_size")
    SIZE(JOB_EPOCHS, "--train.max_epochs", .also = "--max_epochs")
    CALC_ROW(SWITCH, JOB_ASYNC, "--train.async_enable", .also = "--async_train", .value = 1)
    CALC_ROW(DECIMAL, JOB_KL, "--algo.kl.init_coef", .also = "--init_kl_coef")
    SIZE(PROMPT, "--prompt_max_len")
    SIZE(RESPONSE, "--rollout.max_new_tokens", .also = "--generate_max_len")
    SIZE(JOB_TOTAL, "--data.max_len", .also = "--max_len")
    CALC_ROW(SWITCH, JOB_PACKED, "--train.dynamic_batch_enable", .also = "--use_dynamic_batch", .value = 1)
    SIZE(JOB_MICRO_TOKENS, "--train.max_tokens_per_gpu", .also = "--train_max_tokens_per_gpu")
    SIZE(JOB_FORWARD_TOKENS, "--rollout.max_tokens_per_gpu", .also = "--rollout_max_tokens_per_gpu")
    CALC_ROW(SWITCH, JOB_COLOCATED, "--train.colocate_all", .also = "--colocate_all_models", .value = 1)
    SIZE(NODES, "--actor.num_nodes", .also = "--actor_num_nodes")
    SIZE(NODE_PROCS, "--actor.num_gpus_per_node", .also = "--actor_num_gpus_per_node")
    SIZE(JOB_ENGINES, "--vllm.num_engines", .also = "--vllm_num_engines")
    SIZE(JOB_REFERENCE_NODES, "--ref.num_nodes", .also = "--ref_num_nodes")
    SIZE(JOB_REFERENCE_NODE_PROCS, "--ref.num_gpus_per_node", .also = "--ref_num_gpus_per_node")
    CALC_ROW(SWITCH, JOB_REFERENCE_BESIDE, "--train.colocate_actor_ref", .also = "--colocate_actor_ref", .value = 1)
    SIZE(JOB_CRITIC_NODES, "--critic.num_nodes", .also = "--critic_num_nodes")
    SIZE(JOB_CRITIC_NODE_PROCS, "--critic.num_gpus_per_node", .also = "--critic_num_gpus_per_node")
    SIZE(JOB_REWARD_NODES, "--reward.num_nodes", .also = "--reward_num_nodes")
    SIZE(JOB_REWARD_NODE_PROCS, "--reward.num_gpus_per_node", .also = "--reward_num_gpus_per_node")
    CALC_ROW(SWITCH, JOB_REWARD_BESIDE, "--train.colocate_critic_reward", .also = "--colocate_critic_reward", .value = 1)
    CALC_ROW(SWITCH, JOB_SLEEP, "--vllm.enable_sleep", .also = "--vllm_enable_sleep", .value = 1)
    CALC_ROW(SWITCH, JOB_OFFLOAD_ALL, "--ds.enable_sleep", .also = "--deepspeed_enable_sleep", .value = 1)
    CALC_ROW(SWITCH, JOB_REFERENCE_OFFLOAD, "--ref.offload", .also = "--ref_reward_offload", .value = 1)
    CALC_ROW(NAME, JOB_CRITIC_MODEL, "--critic.model_name_or_path", .also = "--critic_pretrain")
    CALC_ROW(NAME, JOB_REWARD_MODEL, "--reward.model_name_or_path", .also = "--reward_pretrain")
    CALC_ROW_DEFAULT(JOB_ALGORITHM, CALC_JOB_ALGORITHM_PPO) CALC_ROW_DEFAULT(JOB_PROMPTS, 1024) CALC_ROW_DEFAULT(JOB_SAMPLES, 1)
    CALC_ROW_DEFAULT(JOB_MINI_BATCH, 128) CALC_ROW_DEFAULT(JOB_EPOCHS, 1) CALC_ROW_DEFAULT(JOB_KL, 0.01)
    CALC_ROW_DEFAULT(JOB_OLD, CALC_JOB_OLD_LOGPROB_TRAINER) CALC_ROW_DEFAULT(JOB_MICRO_TOKENS, 16192) CALC_ROW_DEFAULT(NODES, 1)
    CALC_ROW_DEFAULT(NODE_PROCS, 8) CALC_ROW_DEFAULT(JOB_SLEEP, 0) CALC_ROW_DEFAULT(JOB_REFERENCE_OFFLOAD, 0)
};

static const calc_setting_row openrlhf_engine_rows[] = {
    CALC_ROW_DEFAULT(TENSOR, 1) CALC_ROW_DEFAULT(SERVE_MEMORY, 0.95)
};

static const calc_setting_row openrlhf_rows[] = {
    CALC_ROW(NUMBER, NODES, "--actor.num_nodes", .also = "--actor_num_nodes")
    CALC_ROW(NUMBER, NODE_PROCS, "--actor.num_gpus_per_node", .also = "--actor_num_gpus_per_node")
    CALC_ROW(NUMBER, BATCH, "--train.batch_size", .also = "--train_batch_size")
    CALC_ROW(NUMBER, MICROBATCH, "--train.micro_batch_size", .also = "--micro_train_batch_size")
    CALC_ROW(NUMBER, SHARDED, "--ds.zero_stage", .also = "--zero_stage")
    CALC_ROW(NUMBER, TENSOR, "--ds.tensor_parallel_size", .also = "--ds_tensor_parallel_size")
    CALC_ROW(NUMBER, RING_RANKS, "--ds.ring_attn_size", .also = "--ring_attn_size")
    CALC_ROW(SWITCH, OPT_OFFLOAD, "--ds.adam_offload", .also = "--adam_offload", .value = 1)
    CALC_ROW(SWITCH, GRAD_OVERLAP, "--ds.overlap_comm", .also = "--overlap_comm", .value = 1)
    CALC_ROW(IS, RECOMPUTE, "--actor.gradient_checkpointing_enable", .also = "--gradient_checkpointing", .value = 2)
    CALC_ROW(IS, LIGER, "--ds.use_liger_kernel", .also = "--use_liger_kernel", .value = 1)
    CALC_ROW(IS, PACKED, "--ds.packing_samples", .also = "--packing_samples", .value = 1) CALC_ROW(NUMBER, SEQ, "--data.max_len", .also = "--max_len")
    CALC_ROW(NUMBER, PROMPT, "--prompt_max_len") CALC_ROW(NUMBER, RESPONSE, "--generate_max_len")
    CALC_ROW(NUMBER, LORA_RANK, "--ds.lora.rank", .also = "--lora_rank")
    CALC_ROW(SET, LORA_MODULES, "--ds.lora.target_modules", .also = "--target_modules", .words = CALC_LORA_WORDS)
    CALC_ROW(DECIMAL, LORA_DROPOUT, "--ds.lora.dropout")
    CALC_ROW(IS, FROZEN, "--ds.load_in_4bit", .also = "--load_in_4bit", .value = CALC_FROZEN_DATATYPE_NF4)
    CALC_ROW(NAME, MODEL, "--actor.model_name_or_path", .also = "--pretrain")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(SHARDED, 2) CALC_ROW_DEFAULT(MICROBATCH, 4)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32) CALC_ROW_DEFAULT(EAGER, 1) CALC_ROW_DEFAULT(GRAD_OFFLOAD, 1)
    CALC_ROW_DEFAULT(OFFLOAD_BUFFERS, 1.5) /* as of DeepSpeed alone */
};
/* clang-format on */

/* Experts of an engine are spread over all of its ranks, or not at all. */
static calc_status settle_engine(calc_plan *plan, calc_errors *errors)
{
    if (SAYS(EXPERT)) {
        SET(SERVE_EXPERTS, VALUE(EXPERT) > 1);
        SET(EXPERT, NAN);
    }
    return calc_framework_vllm.reconcile(plan, errors);
}

/* slime says the processors of an engine, SGLang those of a stage. */
static calc_status settle_slime_engine(calc_plan *plan, calc_errors *errors)
{
    if (SAYS(SERVE_RANKS) && COUNT(PIPELINE) > 1) {
        SET(SERVE_RANKS, fmax(1, floor(VALUE(SERVE_RANKS) / VALUE(PIPELINE))));
    }
    return calc_framework_sglang.reconcile(plan, errors);
}

static void settle_nemo_rl(calc_plan *plan)
{
    if (YES(FSDP)) {
        SET(SHARDED, 3);
        SET(GRAD_OVERLAP, 1);
        SET(EAGER, 1);
        SET(OPT_OFFLOAD, VALUE(WEIGHT_OFFLOAD));
    } else {
        SET(FSDP, NAN);
    }
    if (YES(ADAPTER)) { /* Automodel's adapters, or Megatron-Bridge's */
        SET(LORA_FUSED, !YES(FSDP));
        SET(LORA_EXPERTS, YES(FSDP) ? CALC_LORA_EXPERTS_EACH : CALC_LORA_EXPERTS_SHARED);
    }
    calc_plan_note(plan, "the layout is of the policy's training; --job writes all of it");
}

static void settle_openrlhf(calc_plan *plan)
{
    if (YES(LORA_RANK)) {
        SET(ADAPTER, CALC_TRAINED_ADAPTERS);
    }
    calc_plan_note(plan, "the layout is of the actor's training; --job writes all of it");
}

/* clang-format off */
const calc_framework calc_framework_nemo_rl = {.name = "nemo-rl", .title = "NeMo-RL", .version = "0.5",
    .launch = "uv run examples/run_grpo.py --config this file", .syntax = CALC_SYNTAX_YAML, .settle = settle_nemo_rl,
    .renamed = "policy.megatron_cfg.optimizer.=optimizer. policy.megatron_cfg.distributed_data_parallel_config.=ddp. "
        "policy.megatron_cfg.=model. policy.=- model.=- cluster.=- train.=- ddp.=- optimizer.=- dist.=- checkpoint.=- data.=- logger.=- ",
    CALC_FRAMEWORK_ROWS(nemo_rl_rows, nemo_rl), CALC_FRAMEWORK_BASES(&calc_framework_bridge)};
const calc_framework calc_framework_openrlhf = {.name = "openrlhf", .title = "OpenRLHF", .version = "0.9",
    .launch = "run it with bash", .script = "openrlhf.cli.train_ppo_ray", .program = "openrlhf", .syntax = CALC_SYNTAX_SHELL,
    .settle = settle_openrlhf, CALC_FRAMEWORK_ROWS(openrlhf_rows, openrlhf)};

#define ENGINE(name_, base, syntax_, ...) {.name = #name_, .title = #name_, .syntax = CALC_SYNTAX_##syntax_, .serves = true, \
    ROWS(name_##_rows), CALC_FRAMEWORK_BASES(&calc_framework_##base), __VA_ARGS__}
#define ROWS(table) .rows = table, .count = sizeof table / sizeof *table
static const calc_framework verl_engine = ENGINE(verl_engine, vllm, YAML, .reconcile = settle_engine);
static const calc_framework nemo_engine = ENGINE(nemo_engine, vllm, YAML, .reconcile = settle_engine, .renamed = GENERATION "vllm_cfg.=--");
static const calc_framework openrlhf_engine = ENGINE(openrlhf_engine, vllm, SHELL, .reconcile = settle_engine, .renamed = "--vllm.=-- --vllm_=--");
static const calc_framework slime_engine = ENGINE(slime_engine, sglang, SHELL, .reconcile = settle_slime_engine, .renamed = "--sglang-=--");

/* The launcher of a program has other nodes than a job: as of what serves, its options are not read. */
#define JOB(name_, unread_) {.name = #name_, .title = #name_, .serves = true, CALC_FRAMEWORK_ROWS(name_##_rows, unread_)}
static const calc_framework verl_job = JOB(verl_job, verl_job), slime_job = JOB(slime_job, slime_job), nemo_job = JOB(nemo_job, nemo_rl_job),
    openrlhf_job = JOB(openrlhf_job, openrlhf_job);
static const calc_framework verl_ahead = {.name = "verl_ahead", .title = "verl_ahead", .serves = true, ROWS(verl_ahead_rows), CALC_FRAMEWORK_BASES(&verl_job)};

static const calc_job_launch_format formats[] = {
    {&calc_framework_verl, &verl_engine, &verl_job, &verl_ahead, ROLLOUT, .ranks = CALC_LAUNCH_CONTEXT,
     .async = "one_step_off|fully_async", .command = "python3 -m verl.trainer.main_ppo", .extended = ".override_",
     .fsdp = ACTOR "fsdp_config. " ACTOR "ulysses_ " REF "fsdp_config. actor_rollout_ref.model.", .core = ACTOR "megatron. " REF "megatron."},
    {&calc_framework_slime, &slime_engine, &slime_job, NULL, "--sglang- --rollout-num-gpus-per-engine",
     .ranks = CALC_LAUNCH_CONTEXT, .offloads = true, .async = "train_async.py", .command = "python3 train.py",
     .command_async = "python3 train_async.py", .engine_written = "--sglang-"},
    {&calc_framework_nemo_rl, &nemo_engine, &nemo_job, NULL, GENERATION "vllm_cfg. " GENERATION "backend",
     .switches = "policy.dtensor_cfg.enabled policy.megatron_cfg.enabled grpo.async_grpo.enabled policy.sequence_packing.enabled policy.dynamic_batching.enabled "
         "policy.dtensor_cfg.lora_cfg.enabled policy.megatron_cfg.peft.enabled policy.megatron_cfg.fp8_cfg.enabled",
     .within = true, .offloads = true},
    {&calc_framework_openrlhf, &openrlhf_engine, &openrlhf_job, NULL, "--vllm. --vllm_", .ranks = CALC_LAUNCH_TENSOR,
     .ahead_apart = true},
};
/* clang-format on */

const calc_job_launch_format *calc_job_launch_format_of(const calc_framework *framework)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].framework == framework) {
            return &formats[i];
        }
    }
    return NULL;
}
