/* NeMo Automodel: a YAML file of a recipe. The model is one of Hugging Face, by name. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

static const char attention[] = "te=1 sdpa=1 flex=1 flash_attention_2=1 eager=0";

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, BATCH, "step_scheduler.global_batch_size")
    CALC_ROW(NUMBER, LOCAL_BATCH, "step_scheduler.local_batch_size")
    CALC_ROW(NUMBER, SEQ, "packed_sequence.packed_sequence_size", .unset = true, .value = 1)
    CALC_ROW(NUMBER, SEQ, "dataset.seq_len")
    CALC_ROW(NUMBER, SEQ, "dataset.seq_length")
    CALC_ROW(WORDS, SHARDED, "distributed.strategy", .words = "fsdp2=3 megatron_fsdp=3 ddp=0")
    /* The class of a manager, as older files name the strategy. */
    CALC_ROW(WORDS, SHARDED, "distributed._target_",
        .words = "nemo_automodel.components.distributed.fsdp2.FSDP2Manager=3 "
                 "nemo_automodel.components.distributed.megatron_fsdp.MegatronFSDPManager=3 nemo_automodel.components.distributed.ddp.DDPManager=0")
    CALC_ROW(WORDS, SHARDED, "distributed.reshard_after_forward", .words = "true=3 false=2")
    CALC_ROW(NUMBER, SHARDED, "distributed.zero_dp_strategy")
    CALC_ROW(NUMBER, DATA, "distributed.dp_size")
    CALC_ROW(NUMBER, REPLICATED, "distributed.dp_replicate_size")
    CALC_ROW(NUMBER, TENSOR, "distributed.tp_size")
    CALC_ROW(NUMBER, CONTEXT, "distributed.cp_size")
    CALC_ROW(NUMBER, PIPELINE, "distributed.pp_size")
    CALC_ROW(NUMBER, EXPERT, "distributed.ep_size")
    CALC_ROW(SWITCH, SEQ_PAR, "distributed.sequence_parallel", .value = 1)
    CALC_ROW(SWITCH, TENSOR_OVERLAP, "distributed.enable_async_tensor_parallel", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, "distributed.activation_checkpointing", .words = "true=2 false=0 full=2 selective=1 none=0")
    CALC_ROW(WORDS, LOOPED, "distributed.pipeline.pp_schedule",
        .words = "1f1b interleaved1f1b=100 gpipe InterleavedZeroBubble=zb_h1 ZBVZeroBubble=zb_v")
    CALC_ROW(NUMBER, MICROBATCH, "distributed.pipeline.pp_microbatch_size")
    CALC_ROW(NUMBER, NODES, "benchmark.num_nodes")
    CALC_ROW(WORDS, DISPATCH, "model.backend.dispatcher", .words = "deepep=node_limited hybridep=node_limited torch=all_to_all")
    CALC_ROW(WORDS, FLASH, "model.backend.attn", .words = attention)
    CALC_ROW(WORDS, FLASH, "model.attn_implementation", .words = attention)
    CALC_ROW(SWITCH, FP8, "fp8.enabled", .value = 1)
    CALC_ROW(SWITCH, EAGER, "compile.enabled", .value = 0)
    CALC_ROW(SWITCH, TOWER, "freeze_config.freeze_vision_tower", .value = 1)
    CALC_ROW(NUMBER, LORA_RANK, "peft.dim")
    CALC_ROW(SET, LORA_MODULES, "peft.target_modules", .words = CALC_LORA_WORDS)
    CALC_ROW(IS, LORA_MODULES, "peft.match_all_linear", .value = 0)
    CALC_ROW(DECIMAL, LORA_DROPOUT, "peft.dropout")
    CALC_ROW(WORDS, LORA_BEFORE, "peft.dropout_position", .words = "pre=1 post=0")
    CALC_ROW(IS, FROZEN, "quantization.load_in_4bit", .value = CALC_FROZEN_DATATYPE_NF4)
    CALC_ROW(IS, FROZEN, "quantization.load_in_8bit", .value = CALC_FROZEN_DATATYPE_INT8)
    CALC_ROW(SWITCH, NESTED, "quantization.bnb_4bit_use_double_quant", .value = 1)
    CALC_ROW(NAME, MODEL, "model.pretrained_model_name_or_path")
    CALC_ROW(NAME, MODEL, "model.config.pretrained_model_name_or_path")
    CALC_ROW_DEFAULT(SHARDED, 3)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROWS_FSDP
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ALL_GATHER)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
    CALC_ROW_DEFAULT(LORA_RANK, 8)
    CALC_ROW_DEFAULT(LORA_EXPERTS, CALC_LORA_EXPERTS_EACH)
    CALC_ROW_DEFAULT(LORA_BEFORE, 0)
    CALC_ROW_DEFAULT(NESTED, 1)
};
/* clang-format on */

/* ---- What follows from the settings ---------------------------------------------------------- */

static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    (void)errors;
    if (SAYS(REPLICATED) && !(VALUE(REPLICATED) > 1)) {
        SET(REPLICATED, NAN);
    }
    if (VALUE(EXPERT) > 1 && !SAYS(PROCS) && !SAYS(DATA)) {
        SET(DATA,
            ceil(VALUE(EXPERT) / VALUE(CONTEXT))); /* the fewest replicas that it spreads over */
    }
    if (!SAYS(NODE_PROCS)) {
        SET(NODES, NAN); /* how many processors a node has, the launcher says */
    }
    if (SAYS(LORA_RANK) || SAYS(LORA_MODULES)) {
        SET(ADAPTER, CALC_TRAINED_ADAPTERS);
    }
    return CALC_OK;
}

/* clang-format off */
const calc_framework calc_framework_automodel = {.name = "automodel", .title = "NeMo Automodel", .version = "0.5",
    .launch = "automodel this file", .syntax = CALC_SYNTAX_YAML, .settle = settle, CALC_FRAMEWORK_ROWS(rows, automodel)};
/* clang-format on */
