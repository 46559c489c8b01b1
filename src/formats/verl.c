/* Reinforcement learning: verl, by words key=value or a YAML file, and slime, by options of
 * Megatron-LM and its own. What is read is the training of the actor. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

#define ACTOR "actor_rollout_ref.actor."
#define CORE ACTOR "megatron."
#define SHARDS ACTOR "fsdp_config."
#define MODEL "actor_rollout_ref.model."

/* clang-format off */
static const calc_setting_row verl_rows[] = {
    CALC_ROW(NUMBER, NODE_PROCS, "trainer.n_gpus_per_node") CALC_ROW(NUMBER, NODES, "trainer.nnodes")
    CALC_ROW(NUMBER, POSITIONS, "data.max_prompt_length") CALC_ROW(NUMBER, SEQ, "data.max_response_length")
    CALC_ROW(FACTOR, BATCH, ACTOR "ppo_mini_batch_size")
    CALC_ROW(FACTOR, BATCH, "actor_rollout_ref.rollout.n")
    CALC_ROW(SWITCH, TOWER, ACTOR "freeze_vision_tower", .value = 1)
    CALC_ROW(NUMBER, MICROBATCH, ACTOR "ppo_micro_batch_size_per_gpu")
    CALC_ROW(WORDS, FSDP, ACTOR "strategy", .words = "megatron=0 fsdp=3 fsdp2=3")
    CALC_ROW(FILE, FSDP, "--config-name", .words = "ppo_megatron_trainer=0 ppo_megatron_trainer.yaml=0 ppo_trainer=3 ppo_trainer.yaml=3", .text = "verl", .read_only = true)
    CALC_ROW(NUMBER, HEADS_RANKS, ACTOR "ulysses_sequence_parallel_size")
    CALC_ROW(NUMBER, SHARD_RANKS, SHARDS "fsdp_size", .unset = true)
    CALC_ROW(SWITCH, WEIGHT_OFFLOAD, SHARDS "offload_policy", .value = 1)
    CALC_ROW(WORDS, STATE, SHARDS "model_dtype", .words = "fp32=float32 float32 bf16=bfloat16 bfloat16 fp16=float16 float16")
    CALC_ROW(WORDS, SHARDED, SHARDS "reshard_after_forward", .words = "true=3 false=2")
    CALC_ROW(WORDS, RECOMPUTE, MODEL "enable_gradient_checkpointing", .words = "true=2 false=0")
    CALC_ROW(SWITCH, LIGER, MODEL "use_liger", .value = 1)
    CALC_ROW(SWITCH, PACKED, MODEL "use_remove_padding", .value = 1)
    CALC_ROW(SWITCH, EAGER, ACTOR "use_torch_compile", .value = 0)
    CALC_ROW(NUMBER, TENSOR, CORE "tensor_model_parallel_size")
    CALC_ROW(NUMBER, PIPELINE, CORE "pipeline_model_parallel_size")
    CALC_ROW(NUMBER, CHUNKS, CORE "virtual_pipeline_model_parallel_size")
    CALC_ROW(NUMBER, CONTEXT, CORE "context_parallel_size")
    CALC_ROW(NUMBER, EXPERT, CORE "expert_model_parallel_size")
    CALC_ROW(NUMBER, EXPERT_TENSOR, CORE "expert_tensor_parallel_size")
    CALC_ROW(SWITCH, SEQ_PAR, CORE "sequence_parallel", .value = 1)
    CALC_ROW(SWITCH, DIST_OPT, CORE "use_distributed_optimizer", .value = 1)
    CALC_ROW(WORDS, PRECISION, CORE "dtype", .words = "bfloat16 float16")
    CALC_ROW(WORDS, RECOMPUTE, CORE "override_transformer_config.recompute_granularity", .words = "selective=1 full=2")
    CALC_ROW(WORDS, RECOMPUTE_METHOD, CORE "override_transformer_config.recompute_method", .words = "uniform=0 block=1")
    CALC_ROW(NUMBER, RECOMPUTE_BLOCKS, CORE "override_transformer_config.recompute_num_layers")
    CALC_ROW(NUMBER, FIRST_BLOCKS, CORE "override_transformer_config.num_layers_in_first_pipeline_stage")
    CALC_ROW(NUMBER, LAST_BLOCKS, CORE "override_transformer_config.num_layers_in_last_pipeline_stage")
    CALC_ROW(SWITCH, DEEPEP, CORE "override_transformer_config.moe_enable_deepep", .value = 1, .read_only = true)
    CALC_ROW(NUMBER, LORA_RANK, MODEL "lora_rank")
    CALC_ROW(SET, LORA_MODULES, MODEL "target_modules", .words = CALC_LORA_WORDS)
    CALC_ROW(NUMBER, LORA_RANK, MODEL "lora.rank")
    CALC_ROW(SET, LORA_MODULES, MODEL "lora.target_modules", .words = CALC_LORA_WORDS_CORE)
    CALC_ROW(WORDS, LORA_CLASS, MODEL "lora.type", .words = "lora=1 vlm_lora=1 canonical_lora=2 dora=3")
    CALC_ROW(DECIMAL, LORA_DROPOUT, MODEL "lora.dropout")
    CALC_ROW(WORDS, LORA_BEFORE, MODEL "lora.dropout_position", .words = "pre=1 post=0")
    CALC_ROW(NAME, MODEL, MODEL "path")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32) CALC_ROW_DEFAULT(SEQ_PAR, 1)
    CALC_ROW_DEFAULT(FUSED_LOSS, 0) CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL)
};

/* slime/utils/arguments.py, of slime 0.3 */
static const calc_setting_row slime_rows[] = {
    CALC_ROW(NUMBER, NODE_PROCS, "--actor-num-gpus-per-node") CALC_ROW(NUMBER, NODES, "--actor-num-nodes")
    CALC_ROW(FACTOR, SAMPLES, "--rollout-batch-size", .read_only = true) CALC_ROW(FACTOR, SAMPLES, "--n-samples-per-prompt", .read_only = true)
    CALC_ROW(NUMBER, UPDATES, "--num-steps-per-rollout", .read_only = true) CALC_ROW(NUMBER, POSITIONS, "--rollout-max-prompt-len")
    CALC_ROW(NUMBER, SEQ, "--rollout-max-response-len")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(DIST_OPT, 1)
};
/* clang-format on */

static void settle_sequences(calc_plan *plan)
{
    if (SAYS(SEQ) && SAYS(POSITIONS)) {
        SET(SEQ, VALUE(SEQ) + VALUE(POSITIONS));
    }
    SET(POSITIONS, NAN);
    calc_plan_note(
        plan, "the layout is of the actor's training; generation, reference, reward and critic "
              "are not part of it");
}

static void settle_verl(calc_plan *plan)
{
    bool core =
        SAYS(FSDP) ? !YES(FSDP) : SAYS(TENSOR) || SAYS(PIPELINE) || SAYS(EXPERT) || SAYS(DIST_OPT);
    if (core) {
        SET(DIST_OPT, !SAYS(DIST_OPT) || YES(DIST_OPT));
        SET(SHARDED, NAN);
        SET(STATE, NAN);
    } else {
        SET(SHARDED, SAYS(SHARDED) ? VALUE(SHARDED) : 3);
        SET(GRAD_OVERLAP, 1);
        SET(OPT_OFFLOAD, VALUE(WEIGHT_OFFLOAD));
        SET(STATE, VALUE_OR(STATE, CALC_FORMAT_FLOAT32));
        if (!SAYS(EAGER)) {
            SET(EAGER, 1);
        }
        if (!SAYS(RECOMPUTE)) {
            SET(RECOMPUTE, 2);
        }
    }
    if (core && SAYS(EAGER)) {
        SET(EAGER, 0);
    }
    if (!YES(LORA_RANK)) {
        SET(LORA_CLASS, NAN);
    } else {
        SET(ADAPTER, CALC_TRAINED_ADAPTERS);
        SET(LORA_FUSED, core);
        SET(LORA_EXPERTS, core ? CALC_LORA_EXPERTS_SHARED : CALC_LORA_EXPERTS_NONE);
    }
    settle_sequences(plan);
}

static void settle_slime(calc_plan *plan)
{
    if (!SAYS(BATCH) && YES(SAMPLES) && YES(UPDATES)) {
        SET(BATCH, floor(VALUE(SAMPLES) / VALUE(UPDATES)));
    }
    settle_sequences(plan);
}

/* clang-format off */
const calc_framework calc_framework_verl = {.name = "verl", .title = "verl", .version = "0.7",
    .launch = "python3 -m verl.trainer.main_ppo with the words of this file", .program = "verl.trainer",
    .syntax = CALC_SYNTAX_YAML, .options = true, .settle = settle_verl,
    /* What it hands on to Megatron Core has the names of Megatron-Bridge; nothing else of its file has. */
    .renamed = CORE "override_transformer_config.=model. " CORE "override_ddp_config.=ddp. " ACTOR "optim.override_optimizer_config.=optimizer. "
        "model.=- train.=- ddp.=- optimizer.=- dist.=- mixed_precision.=- comm_overlap.=- peft.=- checkpoint.=- dataset.=- trainer.=- data.=-",
    CALC_FRAMEWORK_ROWS(verl_rows, verl), CALC_FRAMEWORK_BASES(&calc_framework_bridge)};
const calc_framework calc_framework_slime = {.name = "slime", .title = "slime", .version = "0.3",
    .launch = "run it with bash", .script = "train.py", .program = "rollout", .syntax = CALC_SYNTAX_SHELL, .has_model = true,
    .settle = settle_slime, CALC_FRAMEWORK_ROWS(slime_rows, slime), CALC_FRAMEWORK_BASES(&calc_framework_megatron)};
/* clang-format on */
