/* TorchTitan: a TOML file. The model is one of TorchTitan's flavours. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

enum { BLOCK = 2 }; /* bit of CALC_PLAN_FP8: one scale per block, not per tensor */

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(WORDS, MODEL, "model.name", .words = "llama3=0 llama3=1 llama3=2 deepseek_v3=3 deepseek_v3=4 deepseek_v3=5")
    CALC_ROW(WORDS, MODEL, "model.flavor", .words = "8B=0 70B=1 405B=2 16B=3 236B=4 671B=5")
    CALC_ROW(SET, FP8, "model.converters",
        .words = "quantize.linear.float8=1 quantize.linear.mx=2 quantize.grouped_mm.float8=1 quantize.grouped_mm.mx=2 float8=1 mx=2", .read_only = true)
    CALC_ROW(WORDS, FP8_RECIPE, "quantize.linear.float8.recipe_name", .also = "float8.recipe_name", .words = "tensorwise=tensor rowwise=row rowwise_with_gw_hp=row", .read_only = true)
    CALC_ROW(NUMBER, LOCAL_BATCH, "training.local_batch_size", .also = "training.batch_size")
    CALC_ROW(SWITCH, EAGER, "training.compile", .value = 0, .read_only = true)
    CALC_ROW(NUMBER, BATCH, "training.global_batch_size") CALC_ROW(NUMBER, SEQ, "training.seq_len")
    CALC_ROW(WORDS, PRECISION, "training.mixed_precision_param", .words = "bfloat16 float32")
    CALC_ROW(WORDS, STATE, "training.dtype", .words = "float32 bfloat16")
    CALC_ROW(SWITCH, STATE_OFFLOAD, "training.enable_cpu_offload", .value = 1)
    CALC_ROW(IS, LOSS_PARALLEL, "parallelism.disable_loss_parallel", .value = CALC_PLAN_LOSS_GATHERED)
    CALC_ROW(NUMBER, REPLICATED, "parallelism.data_parallel_replicate_degree") CALC_ROW(NUMBER, SHARD_DATA, "parallelism.data_parallel_shard_degree")
    CALC_ROW(WORDS, SHARDED, "parallelism.fsdp_reshard_after_forward", .words = "always=3 never=2")
    CALC_ROW(NUMBER, TENSOR, "parallelism.tensor_parallel_degree")
    CALC_ROW(SWITCH, TENSOR_OVERLAP, "parallelism.enable_async_tensor_parallel", .value = 1)
    CALC_ROW(NUMBER, PIPELINE, "parallelism.pipeline_parallel_degree")
    CALC_ROW(WORDS, LOOPED, "parallelism.pipeline_parallel_schedule",
        .words = "Interleaved1F1B=100 1F1B=1f1b GPipe=gpipe InterleavedZeroBubble=zb_h1 ZBVZeroBubble=zb_v DualPipeV=dualpipe_v")
    CALC_ROW(NUMBER, CHUNK_BLOCKS, "parallelism.pipeline_parallel_layers_per_stage")
    CALC_ROW(NUMBER, MICROBATCH, "parallelism.pipeline_parallel_microbatch_size")
    CALC_ROW(NUMBER, ENDS, "parallelism.pipeline_parallel_first_stage_less_layers")
    CALC_ROW(NUMBER, ENDS, "parallelism.pipeline_parallel_last_stage_less_layers") CALC_ROW(NUMBER, CONTEXT, "parallelism.context_parallel_degree")
    CALC_ROW(WORDS, CONTEXT_TYPE, "parallelism.context_parallel_rotate_method", .words = "allgather=all_gather alltoall=ring")
    CALC_ROW(NUMBER, EXPERT, "parallelism.expert_parallel_degree") CALC_ROW(NUMBER, EXPERT_TENSOR, "parallelism.expert_tensor_parallel_degree")
    CALC_ROW(WORDS, DEEPEP, "parallelism.expert_parallel_comm_backend", .words = "standard=0 deepep=1")
    CALC_ROW(WORDS, RECOMPUTE, "activation_checkpoint.mode", .words = "none=0 selective=3 full=2")
    CALC_ROW(WORDS, RECOMPUTE_EVERY, "activation_checkpoint.selective_ac_option", .words = "op=0 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8")
    CALC_ROW(SWITCH, EAGER, "compile.enable", .value = 0)
    CALC_ROW(SET, COMPILED, "compile.components", .words = "model=1 loss=2")
    CALC_ROW_DEFAULT(RECOMPUTE, 3) CALC_ROW_DEFAULT(EAGER, 1) CALC_ROW_DEFAULT(PORTABLE, 1)
    CALC_ROW_DEFAULT(ACTIVATIONS, CALC_FORMAT_BFLOAT16) /* torchao quantizes for the multiplication and stores what it is given */
    CALC_ROW_DEFAULT(LOSS_PARALLEL, 1)
    CALC_ROW_DEFAULT(TENSOR_SWITCHES, 0) /* DTensor waits for what it redistributes */
    CALC_ROW_DEFAULT(SEQ_PAR, 1) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(STATE, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1) CALC_ROW_DEFAULT(SPLITS_EXPERTS, 1) CALC_ROW_DEFAULT(SHARDED, 3) CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)
    CALC_ROW_DEFAULT(GATHER_OVERLAP, 1)
};
/* clang-format on */

static CALC_REFUSALS(refusals)
{
    bool v = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    bool chunks = e->pipeline_par > 1 && e->pipeline_interleaving > 1;
    bool spread = a->num_experts > 0 && s->expert_par > 1;
    int64_t microbatches = calc_microbatches(e);
    CALC_REFUSE(!calc_plan_model_like(a), "the model is none of its flavours");
    /* models/llama3/infra/parallelize.py: DDP is the only dimension; fsdp_enabled with cp */
    CALC_REFUSE(s->zero_stage == 0 && s->data_par > 1 && e->num_procs > s->data_par,
                "zero_stage 0 with data_par excludes tensor_par, pipeline_par and context_par");
    CALC_REFUSE(s->zero_stage == 0 && s->context_par > 1, "context_par needs zero_stage 2 or 3");
    /* distributed/parallel_dims.py: the product of all degrees is the world */
    CALC_REFUSE(s->zero_stage > 0 && !calc_divides(s->context_par, s->fsdp_par),
                "fsdp_par is not a multiple of context_par");
    /* distributed/parallel_dims.py, seq_len_divisor */
    CALC_REFUSE(!calc_divides(2 * s->context_par * s->tensor_par, a->seq_size),
                "seq_size is not a multiple of 2 * context_par * tensor_par");
    /* distributed/parallel_dims.py: etp */
    CALC_REFUSE(spread && s->expert_tensor_par != 1 && s->expert_tensor_par != s->tensor_par,
                "expert_tensor_par is neither 1 nor tensor_par");
    CALC_REFUSE(
        spread && s->zero_stage > 0 &&
            !calc_divides(s->expert_par * s->expert_tensor_par, s->fsdp_par * s->tensor_par),
        "expert_par * expert_tensor_par does not divide fsdp_par * tensor_par");
    /* models/deepseek_v3/infra/parallelize.py: deepep */
    CALC_REFUSE(a->num_experts > 0 && s->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED &&
                    (s->expert_par == 1 || s->expert_tensor_par > 1),
                "dispatch_type node_limited needs expert_par of at least 2, and excludes "
                "expert_tensor_par");
    /* distributed/dual_pipe_v.py */
    CALC_REFUSE(v && spread && s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE,
                "pipeline_schedule dualpipe_v with expert_par excludes activation_recompute");
    /* distributed/pipeline_parallel.py: number of virtual stages = (blocks + ends) / blocks of a
     * stage, and generate_llm_fqn_per_model_part() */
    CALC_REFUSE(chunks &&
                    (!calc_divides(e->pipeline_par * e->pipeline_interleaving, a->num_blocks) ||
                     e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS),
                "pipeline_interleaving needs blocks that divide by stages and chunks");
    CALC_REFUSE(e->pipeline_par > 1 && a->num_blocks < e->pipeline_par,
                "num_blocks is below pipeline_par");
    CALC_REFUSE(v && a->num_blocks < 2 * e->pipeline_par,
                "pipeline_schedule dualpipe_v needs two blocks per stage");
    CALC_REFUSE(e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_ZB_H1,
                "pipeline_schedule zb_h1 has two chunks per stage there");
    /* torch/distributed/pipelining/schedules.py of PyTorch 2.9: whole rounds */
    CALC_REFUSE(chunks && microbatches >= e->pipeline_par &&
                    !calc_divides(microbatches / e->pipeline_par, microbatches),
                "pipeline_interleaving needs micro-batches in whole rounds of pipeline_par");
}

/* Sharding by TorchTitan's policy "default": weights stay gathered in the step if there are stages.
 * Replicas that consist of one shard are not sharded. */
static void settle(calc_plan *plan)
{
    if (SAYS(SHARD_RANKS) && VALUE(SHARD_RANKS) == 1) {
        SET(SHARDED, 0);
    } else if (!SAYS(SHARDED) && VALUE(PIPELINE) > 1) {
        SET(SHARDED, 2);
    }
    /* distributed/pipeline_parallel.py: two stages a rank where no layers are said */
    if (VALUE(LOOPED) == CALC_PLAN_LOOPED_CHUNKS && !SAYS(CHUNK_BLOCKS) && !SAYS(CHUNKS)) {
        SET(CHUNKS, 2);
    }
    if ((int64_t)VALUE(FP8) & BLOCK) {
        SET(FP8_RECIPE, CALC_SCALING_BLOCK);
    }
    if (SAYS(MODEL) && (SAYS(CHUNK_BLOCKS) || VALUE(RECOMPUTE_EVERY) > 1)) {
        SET(BLOCKS, calc_plan_model_of(plan)->blocks);
    }
}

/* clang-format off */
const calc_framework calc_framework_torchtitan = {.name = "torchtitan", .title = "TorchTitan", .version = "0.2.2",
    .launch = "CONFIG_FILE=this file ./run_train.sh",
    .command = "torchrun -m torchtitan.train --job.config_file \"$FILE\" \"$@\"", .platforms = CALC_ON(CUDA) | CALC_ON(ROCM), .syntax = CALC_SYNTAX_TOML, .options = true,
    .settle = settle, CALC_FRAMEWORK_ROWS(rows, torchtitan), CALC_FRAMEWORK_REFUSALS(refusals)};
/* clang-format on */
