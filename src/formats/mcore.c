/* Frameworks built on Megatron Core: one list of rows, mcore.fields.h, in four tables; the rules by
 * which they refuse layouts. */
#include "formats/framework.h"
#include "formats/plan_layers.h"
#include "formats/plan_macros.h"

static const char context_type[] =
    "p2p=ring all_gather a2a=ulysses a2a+p2p=hierarchical allgather=all_gather";
static const char format[] = "fp32=float32 fp16=float16 bf16=bfloat16 fp8=float8";
static const char offload_words[] =
    "attn_norm qkv_linear core_attn attn_proj mlp_norm expert_fc1 moe_act fused_group_mlp";
/* 2: of the parts that --cuda-graph-scope names. */
static const char graph_words[] = "local=1 none=0 transformer_engine=2 full_iteration=1";

/* Rows of each framework: Megatron-LM, MindSpeed, NeMo and Megatron-Bridge. */
#define ROW(name, ...) {.key = name, __VA_ARGS__},
#define BOTH(option, nemo, bridge, ...)                                                            \
    PICK(ROW(option, __VA_ARGS__), ROW(option, __VA_ARGS__), ROW(nemo, __VA_ARGS__),               \
         ROW(bridge, __VA_ARGS__))
#define NEWER(option, nemo, bridge, ...)                                                           \
    PICK(ROW(option, __VA_ARGS__), , ROW(nemo, __VA_ARGS__), ROW(bridge, __VA_ARGS__))
#define SHELL(...) PICK(ROW(__VA_ARGS__), ROW(__VA_ARGS__), , )
#define MEGATRON(...) PICK(ROW(__VA_ARGS__), , , )
#define MINDSPEED(...) PICK(, ROW(__VA_ARGS__), , )
#define NEMO(...) PICK(, , ROW(__VA_ARGS__), )
#define BRIDGE(...) PICK(, , , ROW(__VA_ARGS__))
#define PICK(megatron, mindspeed, nemo, bridge) megatron
static const calc_setting_row megatron_rows[] = {
#include "formats/mcore.fields.h"
};
#undef PICK
#define PICK(megatron, mindspeed, nemo, bridge) mindspeed
static const calc_setting_row mindspeed_rows[] = {
#include "formats/mcore.fields.h"
};
#undef PICK
#define PICK(megatron, mindspeed, nemo, bridge) nemo
static const calc_setting_row nemo_rows[] = {
#include "formats/mcore.fields.h"
};
#undef PICK
#define PICK(megatron, mindspeed, nemo, bridge) bridge
static const calc_setting_row bridge_rows[] = {
#include "formats/mcore.fields.h"
};

/* Sources are files of Megatron-LM core_v0.15.0 unless stated otherwise:
 * arguments.py is megatron/training/arguments.py (validate_args); transformer_config.py,
 * transformer_block.py, moe_layer.py, token_dispatcher.py are in megatron/core/transformer;
 * parallel_state.py, schedules.py, optimizer_config.py, mcore_fsdp_adapter.py and megatron_fsdp.py
 * in megatron/core. */

/* arguments.py, transformer_config.py, transformer_block.py: all stages hold equally many blocks,
 * except the first and the last if their numbers are given */
static bool stages_are_uneven(const calc_app *a, const calc_exec *e)
{
    int64_t chunks = e->pipeline_interleaving;
    bool first = e->first_stage_blocks > 0;
    bool last = e->last_stage_blocks > 0;
    int64_t blocks = a->num_blocks - e->first_stage_blocks - e->last_stage_blocks;
    int64_t stages = e->pipeline_par - first - last;
    if (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS) {
        blocks += 2; /* embedding and head count as one each */
    }
    if (e->pipeline_par == 1 || e->stages.count > 0 ||
        e->pipeline_balance == CALC_PIPELINE_BALANCE_FREE) {
        return false;
    }
    return !calc_divides(chunks, e->first_stage_blocks) ||
           !calc_divides(chunks, e->last_stage_blocks) ||
           (stages > 0 ? !calc_divides(stages * chunks, blocks) : blocks != 0);
}

#define UNEVEN                                                                                     \
    "the blocks do not divide by stages and chunks: first_stage_blocks or last_stage_blocks can "  \
    "take what is left"

static CALC_REFUSALS(even)
{
    CALC_REFUSE(stages_are_uneven(a, e), UNEVEN);
}
static CALC_REFUSALS(listed)
{
    /* pipeline_parallel_layer_layout.py: uneven stages need a list, here without chunks, or with
     * all but the last of them alike */
    bool last = e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS &&
                calc_divides(e->pipeline_par * e->pipeline_interleaving, a->num_blocks + 3);
    CALC_REFUSE(stages_are_uneven(a, e) && ((e->pipeline_interleaving > 1 && !last) ||
                                            e->first_stage_blocks > 0 || e->last_stage_blocks > 0),
                UNEVEN);
}

static CALC_REFUSALS(core)
{
    enum {
        MOVED_APART = 1 << CALC_OFFLOAD_MODULES_EXPERT_FC1 | 1 << CALC_OFFLOAD_MODULES_MOE_ACT,
        MOVED_TOGETHER = 1 << CALC_OFFLOAD_MODULES_FUSED_GROUP_MLP
    };
    bool experts = a->num_experts > 0, stages = e->pipeline_par > 1;
    bool chunks = e->pipeline_interleaving > 1, low = s->weight_datatype == CALC_FORMAT_FLOAT8;
    bool scatters = s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    bool formats = s->optimizer_offload || s->master_datatype != CALC_FORMAT_FLOAT32 ||
                   s->optimizer_moment_datatype != CALC_FORMAT_FLOAT32;
    bool modules = s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES;
    int64_t again = modules ? s->recompute_modules : 0, moved = s->offload_modules;
    int64_t ranks = experts ? s->expert_par * s->expert_tensor_par : s->tensor_par;
    int64_t replicas = e->num_procs / e->pipeline_par / ranks; /* of experts */
    /* transformer_config.py */
    CALC_REFUSE(!calc_divides(s->tensor_par, a->attn_heads),
                "attn_heads is not a multiple of tensor_par");
    CALC_REFUSE(s->attention_type != CALC_ATTENTION_TYPE_MULTI_LATENT && a->kv_heads > 0 &&
                    calc_divides(s->tensor_par, a->attn_heads) &&
                    !calc_divides(s->tensor_par, a->kv_heads),
                "kv_heads is not a multiple of tensor_par");
    /* tensor_parallel/layers.py and mappings.py: divide() and the split of the first dimension */
    CALC_REFUSE(!calc_divides(s->tensor_par, a->feedforward),
                "feedforward is not a multiple of tensor_par");
    CALC_REFUSE(scatters && !calc_divides(s->tensor_par * s->context_par, a->seq_size),
                "seq_size is not a multiple of tensor_par * context_par, as tensor_par_comm_type "
                "rs_ag needs");
    /* arguments.py: seq_length % (2 * context_parallel_size) */
    CALC_REFUSE(s->context_par > 1 && !calc_divides(2 * s->context_par, a->seq_size),
                "seq_size is not a multiple of 2 * context_par");
    /* arguments.py: hierarchical_context_parallel_sizes, given, with that product */
    CALC_REFUSE(
        s->context_par > 1 && s->context_par_type == CALC_CONTEXT_PAR_TYPE_HIERARCHICAL &&
            (s->context_par_inner <= 0 || !calc_divides(s->context_par_inner, s->context_par)),
        "context_par_type hierarchical needs context_par_inner, a divisor of context_par");
    /* parallel_state.py: ranks of a stage divided by the ranks of its experts */
    CALC_REFUSE(experts && !calc_divides(s->expert_par * s->expert_tensor_par,
                                         e->num_procs / e->pipeline_par),
                "expert_par * expert_tensor_par does not divide the processors of a stage");
    /* arguments.py, moe_layer.py */
    CALC_REFUSE(experts && !calc_divides(s->expert_par, a->num_experts),
                "num_experts is not a multiple of expert_par");
    CALC_REFUSE(experts && !calc_divides(s->expert_tensor_par, a->expert_feedforward),
                "expert_feedforward is not a multiple of expert_tensor_par");
    /* parallel_state.py: an order that does not end with pp; without experts, expert ranks are the
     * ranks of tensor parallelism */
    CALC_REFUSE(
        e->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP && stages && replicas != s->data_par,
        "rank_order tp-cp-ep-pp-dp with stages needs as many replicas of experts as data_par");
    /* parallel_state.py: expert_data_parallel_size % num_distributed_optimizer_instances */
    CALC_REFUSE(s->zero_stage > 0 &&
                    !calc_divides(s->data_par * s->context_par / s->fsdp_par, replicas),
                "the replicas of experts do not divide by those of the sharded state (fsdp_par)");
    CALC_REFUSE(
        stages && e->pipeline_balance == CALC_PIPELINE_BALANCE_FREE,
        "pipeline_balance free is --pipeline-model-parallel-layout, which is yours to write");
    /* transformer_config.py */
    CALC_REFUSE(e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS &&
                    (e->first_stage_blocks > 0 || e->last_stage_blocks > 0),
                "pipeline_balance ends excludes first_stage_blocks and last_stage_blocks");
    /* arguments.py: overlap_p2p_comm; messages between the same two ranks would be one batch */
    CALC_REFUSE(chunks && e->pipeline_par == 2 && !s->pipeline_par_overlap,
                "pipeline_interleaving with two stages needs pipeline_par_overlap");
    /* arguments.py, parallel_state.py */
    CALC_REFUSE(chunks && !stages, "pipeline_interleaving needs pipeline_par of at least 2");
    /* schedules.py: groups of pipeline_par micro-batches, all full */
    CALC_REFUSE(chunks && stages && !calc_divides(e->pipeline_par, calc_microbatches(e)),
                "pipeline_interleaving needs micro-batches that are a multiple of pipeline_par");
    /* moe_layer.py, forward() */
    CALC_REFUSE(experts && s->tensor_par > 1 && !scatters,
                "experts with tensor_par above 1 need tensor_par_comm_type rs_ag");
    /* arguments.py: tp_comm_overlap */
    CALC_REFUSE(s->tensor_par > 1 && s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE &&
                    s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_ASYNC && !scatters,
                "tensor_par_overlap other than none and async needs tensor_par_comm_type rs_ag");
    /* arguments.py: moe_grouped_gemm, which an export always sets, and expert parallelism with fp16
     */
    CALC_REFUSE(experts && s->datatype != CALC_DATATYPE_BFLOAT16 &&
                    s->datatype != CALC_DATATYPE_FLOAT8 && s->datatype != CALC_DATATYPE_FLOAT4,
                "experts need datatype bfloat16");
    /* transformer_config.py */
    CALC_REFUSE(experts && a->bias == CALC_CHOICE_TRUE && s->expert_tensor_par > 1,
                "experts with biases exclude expert_tensor_par");
    /* transformer_config.py: bias_activation_fusion with squared_relu */
    CALC_REFUSE(a->ffn_type == CALC_FFN_TYPE_RELU && a->bias == CALC_CHOICE_TRUE &&
                    s->fused_activation,
                "ffn_type relu with biases excludes fused_activation");
    /* transformer_config.py: fp8_param without fp8 */
    CALC_REFUSE(low && s->matrix_datatype != CALC_FORMAT_FLOAT8,
                "weight_datatype float8 needs matrix_datatype float8");
    /* arguments.py: fp8_param_gather */
    CALC_REFUSE(low && s->zero_stage == 0, "weight_datatype float8 needs optimizer_sharding");
    /* optimizer_config.py: use_precision_aware_optimizer, which offload requires too (arguments.py)
     */
    CALC_REFUSE(
        s->zero_stage == 0 && formats,
        "optimizer_offload, master_datatype and optimizer_moment_datatype need optimizer_sharding");
    /* arguments.py: fp8_param_gather with optimizer_cpu_offload, which requires --fp8-recipe
     * delayed */
    CALC_REFUSE(low && s->optimizer_offload, "weight_datatype float8 excludes optimizer_offload");
    /* arguments.py, optimizer/__init__.py: emerging optimizers */
    CALC_REFUSE(s->optimizer == CALC_OPTIMIZER_MUON &&
                    (s->zero_stage >= 2 || s->datatype == CALC_DATATYPE_FLOAT16 || formats),
                "optimizer muon excludes zero_stage 2 and 3, datatype float16, optimizer_offload, "
                "master_datatype and optimizer_moment_datatype");
    /* transformer_config.py: moe_act without moe_grouped_gemm, mla_up_proj without latent
     * attention, shared_experts beside their overlap */
    CALC_REFUSE(again & 1 << CALC_RECOMPUTE_MODULES_MOE_ACT && !experts,
                "recompute_modules moe_act needs experts");
    CALC_REFUSE(again & 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ &&
                    s->attention_type != CALC_ATTENTION_TYPE_MULTI_LATENT,
                "recompute_modules mla_up_proj needs latent attention");
    CALC_REFUSE(again & 1 << CALC_RECOMPUTE_MODULES_SHARED_EXPERTS && a->shared_feedforward > 0 &&
                    s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED,
                "recompute_modules shared_experts excludes expert_par_overlap shared");
    /* transformer_config.py, moe/experts.py: parts of experts that run in one operator move
     * together */
    CALC_REFUSE(s->fused_experts && moved & MOVED_APART,
                "offload_modules expert_fc1 and moe_act exclude fused_experts");
    CALC_REFUSE(!s->fused_experts && moved & MOVED_TOGETHER,
                "offload_modules fused_group_mlp needs fused_experts");
    CALC_REFUSE(
        again & 1 << CALC_RECOMPUTE_MODULES_MOE && moved & CALC_STASHED_MODULES,
        "offload_modules expert_fc1, moe_act and fused_group_mlp exclude recompute_modules moe");
    /* arguments.py: mtp_num_layers */
    CALC_REFUSE(a->mtp_blocks > 0 && a->position_type == CALC_POSITION_TYPE_LEARNED,
                "mtp_blocks needs position_type rope or none");
    /* transformer_config.py: moe_shared_expert_overlap */
    CALC_REFUSE(experts && s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED &&
                    s->dispatch_type != CALC_DISPATCH_TYPE_ALL_TO_ALL,
                "expert_par_overlap shared needs dispatch_type all_to_all");
}

static CALC_REFUSALS(flex)
{
    bool flexible = s->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED;
    bool room = a->num_experts > 0 && s->rank_capacity_factor > 0;
    /* transformer_config.py: moe_expert_rank_capacity_factor */
    CALC_REFUSE(room && !flexible, "rank_capacity_factor needs dispatch_type node_limited");
    CALC_REFUSE(room && !s->fused_experts, "rank_capacity_factor needs fused_experts");
    /* token_dispatcher.py: no padding; with tp_size * ep_size = 1 there is no dispatch */
    CALC_REFUSE(a->num_experts > 0 && flexible && s->capacity_factor > 0,
                "dispatch_type node_limited excludes capacity_factor");
}

/* Layers that differ: core_v0.19.0. */
/* dsa.py: a layer takes the keys that another of the same stage chose */
static bool starts_with_keys_of_another(const calc_app *a, const calc_exec *e)
{
    int64_t chunks = e->pipeline_par * e->pipeline_interleaving;
    int64_t blocks = a->num_blocks / chunks;
    for (int64_t i = blocks; i > 0 && i < a->stack.layers; i += blocks) {
        const calc_layer_kind *k = &a->stack.kind[a->stack.layer[i]];
        if (k->mixer[0] >= 0 && a->stack.part[k->mixer[0]].index_shared) {
            return true;
        }
    }
    return false;
}

static CALC_REFUSALS(layers)
{
    const calc_stack *stack = &a->stack;
    const calc_part *delta = calc_plan_layers_part(stack, CALC_PART_TYPE_GATED_DELTA);
    const calc_part *mamba = calc_plan_layers_part(stack, CALC_PART_TYPE_MAMBA2);
    int64_t ranks = s->tensor_par * s->context_par;
    bool plain = false, latent = false;
    for (int i = 0; i < stack->parts; i++) {
        bool attends = stack->part[i].type == CALC_PART_TYPE_ATTENTION;
        latent = latent || (attends && stack->part[i].kv_lora_rank > 0);
        plain = plain || (attends && stack->part[i].kv_lora_rank == 0);
    }
    /* transformer_config.py */
    CALC_REFUSE(delta && (!calc_divides(ranks, delta->linear_key_heads) ||
                          !calc_divides(ranks, delta->linear_value_heads)),
                "heads of gated_delta (key_heads, value_heads) are not multiples of "
                "tensor_par * context_par");
    /* ssm/mamba_mixer.py, mamba_context_parallel.py */
    CALC_REFUSE(mamba && (!calc_divides(s->tensor_par, mamba->linear_key_heads) ||
                          !calc_divides(ranks, mamba->linear_value_heads)),
                "groups of mamba2 (groups) are not a multiple of tensor_par, or heads "
                "(heads) of tensor_par * context_par");
    /* gpt_builders.py: the layers are built without the number of the chunk */
    CALC_REFUSE(calc_plan_layers_are_sized(a) && e->pipeline_interleaving > 1,
                "layers of several widths exclude pipeline_interleaving");
    /* hybrid_layer_allocation.py: _validate_pattern */
    CALC_REFUSE(plain && latent, "layers have both latent and other attention");
    /* transformer_config.py: MLATransformerConfig */
    CALC_REFUSE(a->kv_lora_rank > 0 && a->output_gate != CALC_OUTPUT_GATE_NONE,
                "output_gate excludes latent attention");
    CALC_REFUSE(starts_with_keys_of_another(a, e),
                "a stage begins with a layer that takes the keys of another stage (index_shared)");
}

static CALC_REFUSALS(letters)
{
    /* models/hybrid/hybrid_provider.py: provide() */
    CALC_REFUSE(a->stack.layers > 0 && !calc_plan_layers_are_blocks(&a->stack) &&
                    e->pipeline_interleaving > 1,
                "layers of one part each (HybridModelProvider) exclude pipeline_interleaving");
}

static CALC_REFUSALS(batch_overlap)
{
    /* transformer_config.py: overlap_moe_expert_parallel_comm */
    bool batch = a->num_experts > 0 && s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
    CALC_REFUSE(
        batch && e->pipeline_par > 1 && e->pipeline_interleaving == 1,
        "expert_par_overlap batch with pipeline stages needs pipeline_interleaving of at least 2");
    CALC_REFUSE(batch && s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL,
                "expert_par_overlap batch excludes activation_recompute full");
    CALC_REFUSE(batch && s->expert_par <= 1,
                "expert_par_overlap batch needs expert_par of at least 2");
    CALC_REFUSE(batch && s->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER,
                "expert_par_overlap batch excludes dispatch_type all_gather");
    CALC_REFUSE(batch && a->mtp_blocks > 1, "expert_par_overlap batch allows one of mtp_blocks");
}

static CALC_REFUSALS(graphs)
{
    /* arguments.py, transformer_config.py: cuda_graph_impl local; of parts of blocks
     * (transformer_engine) full recomputation only */
    CALC_REFUSE(
        s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE &&
            (s->cuda_graph >= 1 ||
             (s->cuda_graph > 0 && s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL)),
        "cuda_graph excludes activation_recompute, of parts of blocks full recomputation");
    /* transformer_config.py: cuda_graph_scope moe without moe_pad_expert_input_to_capacity */
    CALC_REFUSE(
        s->cuda_graph >= 1 && a->num_experts > 0 && s->capacity_factor <= 0 &&
            s->rank_capacity_factor <= 0,
        "cuda_graph of whole blocks with experts needs capacity_factor or rank_capacity_factor");
}

static CALC_REFUSALS(fsdp)
{
    /* mcore_fsdp_adapter.py, also of core_v0.19.0: the mesh has only data and tensor ranks, which
     * are all processors */
    CALC_REFUSE(s->zero_stage >= 2 && e->pipeline_par > 1,
                "zero_stage 2 and 3 (Megatron-FSDP) exclude pipeline stages");
}

static CALC_REFUSALS(fsdp_0_15)
{
    /* megatron_fsdp.py: get_expert_dp_group() is None */
    CALC_REFUSE(s->zero_stage >= 2 && a->num_experts > 0 && s->expert_par > 1,
                "zero_stage 2 and 3 (Megatron-FSDP) exclude expert_par");
    /* megatron_fsdp.py: overlap_grad_reduce, which optim_grads_params sets by itself */
    CALC_REFUSE(s->zero_stage == 2 && !s->data_par_overlap,
                "zero_stage 2 (Megatron-FSDP) needs data_par_overlap");
}

/* MindSpeed 2.3.0_core_r0.12.1. */
static CALC_REFUSALS(mindspeed)
{
    bool v = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    bool batch = a->num_experts > 0 && s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
    bool nested = s->context_par > 1 && s->context_par_type == CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
    bool heads = s->context_par > 1 && s->context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES;
    int64_t inner = nested && s->context_par_inner > 0 ? s->context_par_inner : 1;
    int64_t head_ranks = s->tensor_par * (heads ? s->context_par : inner);
    /* features_manager/pipeline_parallel/dualpipev_feature.py */
    CALC_REFUSE(v && s->zero_stage >= 2,
                "pipeline_schedule dualpipe_v excludes zero_stage 2 and 3");
    CALC_REFUSE(v && s->data_par_overlap, "pipeline_schedule dualpipe_v excludes data_par_overlap");
    CALC_REFUSE(v && a->tied_embeddings == CALC_CHOICE_TRUE,
                "pipeline_schedule dualpipe_v excludes tied_embeddings");
    CALC_REFUSE(v && s->context_par > 1, "pipeline_schedule dualpipe_v excludes context_par");
    CALC_REFUSE(v && s->activations_offload,
                "pipeline_schedule dualpipe_v excludes activations_offload");
    CALC_REFUSE(v && a->num_blocks < 2 * e->pipeline_par,
                "pipeline_schedule dualpipe_v needs two blocks per stage");
    CALC_REFUSE(v && calc_microbatches(e) < 2 * e->pipeline_par - 1,
                "pipeline_schedule dualpipe_v needs at least 2 * pipeline_par - 1 micro-batches");
    /* features_manager/moe/fb_overlap.py */
    CALC_REFUSE(batch && s->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER,
                "expert_par_overlap batch excludes dispatch_type all_gather");
    CALC_REFUSE(
        batch && (s->expert_par == 1 || s->expert_tensor_par > 1),
        "expert_par_overlap batch needs expert_par of at least 2, and excludes expert_tensor_par");
    CALC_REFUSE(batch && s->activations_offload,
                "expert_par_overlap batch excludes activations_offload");
    CALC_REFUSE(batch && !v && e->pipeline_interleaving == 1 && e->pipeline_par > 1,
                "expert_par_overlap batch with pipeline stages needs pipeline_interleaving of at "
                "least 2, or pipeline_schedule dualpipe_v");
    CALC_REFUSE(batch && e->pipeline_interleaving > 1 &&
                    calc_microbatches(e) / e->pipeline_par <= 1,
                "expert_par_overlap batch with pipeline_interleaving needs at least 2 * "
                "pipeline_par micro-batches");
    /* features_manager/context_parallel/context_parallel_feature.py, ulysses_context_parallel.py */
    CALC_REFUSE(nested && s->context_par_inner == s->context_par,
                "context_par_type hierarchical needs context_par_inner below context_par");
    CALC_REFUSE(!calc_divides(head_ranks, a->attn_heads),
                "attn_heads is not a multiple of tensor_par times the ranks that exchange heads");
    /* Megatron-LM core_v0.12.1, arguments.py: num_layers_per_virtual_pipeline_stage, mtp_num_layers
     */
    CALC_REFUSE(e->pipeline_interleaving > 1 &&
                    (e->first_stage_blocks > 0 || e->last_stage_blocks > 0 ||
                     e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS),
                "pipeline_interleaving excludes first_stage_blocks, last_stage_blocks and "
                "pipeline_balance ends");
    CALC_REFUSE(a->mtp_blocks > 0 && s->context_par > 1, "mtp_blocks excludes context_par");
}

/* NeMo 2.4.0: nemo/collections/nlp/models/language_modeling/megatron_gpt_model.py. */
static CALC_REFUSALS(nemo)
{
    CALC_REFUSE(e->pipeline_interleaving > 1,
                "pipeline_interleaving is no longer supported with megatron_gpt_config.yaml");
}

/* arguments.py, transformer_config.py: blocks that are not listed divide by stages, but for those
 * of the first and the last stage where they are given. DeepSpeed, whose file says what is sharded,
 * spreads them by itself. */
static void settle_core(calc_plan *plan)
{
    bool ends = YES(ENDS) || (YES(EVEN_ENDS) && YES(EVEN_HEAD));
    double stages = VALUE(PIPELINE) - YES(FIRST_BLOCKS) - YES(LAST_BLOCKS);
    double blocks = VALUE(BLOCKS) - VALUE(FIRST_BLOCKS) - VALUE(LAST_BLOCKS) +
                    (ends ? 2 : YES(EVEN_ENDS) || YES(EVEN_HEAD));
    if (SAYS(BLOCKS) && !SAYS(STAGE_BLOCKS) && !SAYS(SHARDED) && VALUE(PIPELINE) > 1 &&
        (stages > 0 ? fmod(blocks, stages) != 0 : blocks != 0)) {
        calc_plan_note(plan,
                       "refuses --num-layers that --pipeline-model-parallel-size does not divide, "
                       "unless first, last or all stages are said to have others");
    }
    if (SAYS(POSITIONS) && VALUE(SEQ) > VALUE(POSITIONS)) {
        calc_plan_note(plan, "refuses --seq-length above --max-position-embeddings");
    }
    if (YES(HEADS) && !SAYS(HEAD_SIZE) && fmod(VALUE(HIDDEN), VALUE(HEADS)) != 0) {
        calc_plan_note(plan, "refuses --hidden-size that --num-attention-heads does not divide, "
                             "without --kv-channels");
    }
}

/* A recipe of fine-tuning has its adapters, of which a file may say some settings only. */
static void settle_bridge(calc_plan *plan)
{
    if (!SAYS(LORA_CLASS) && (SAYS(LORA_RANK) || SAYS(LORA_MODULES))) {
        SET(LORA_CLASS, CALC_PLAN_LORA_TOGETHER);
    }
}

/* clang-format off */
/* Keys that are not read: first those of all that matter, then a framework's own. */
static const calc_framework harmless = {.unread = "mcore_harmless"};
static const calc_framework mindspeed_keys = {.unread = "mindspeed"}, nemo_keys = {.unread = "nemo"};
static const calc_framework bridge_keys = {.unread = "bridge"};
const calc_framework calc_framework_megatron = {.name = "megatron", .title = "Megatron-LM",
    .version = "core_v0.15.0",
    .launch = "run it with bash, from the folder of Megatron-LM; options for data follow",
    .script = "pretrain_gpt.py", .platforms = CALC_ON(CUDA) | CALC_ON(ROCM), .syntax = CALC_SYNTAX_SHELL,
    .has_model = true, .settle = settle_core, CALC_FRAMEWORK_ROWS(megatron_rows, mcore), CALC_FRAMEWORK_BASES(&harmless),
    CALC_FRAMEWORK_REFUSALS(batch_overlap, core, layers, listed, flex, graphs, fsdp, fsdp_0_15)};

const calc_framework calc_framework_mindspeed = {.name = "mindspeed", .title = "MindSpeed",
    .version = "2.3.0_core_r0.12.1, with Megatron-LM core_v0.12.1",
    .launch = "run it with bash, from the folder of Megatron-LM; options for data follow",
    .script = "pretrain_gpt.py", .platforms = CALC_ON(CANN), .syntax = CALC_SYNTAX_SHELL, .has_model = true,
    CALC_FRAMEWORK_ROWS(mindspeed_rows, mcore), CALC_FRAMEWORK_BASES(&mindspeed_keys, &harmless),
    CALC_FRAMEWORK_REFUSALS(core, even, flex, mindspeed)};

const calc_framework calc_framework_nemo = {.name = "nemo", .title = "NeMo",
    .version = "2.4.0, megatron_gpt_config.yaml",
    .launch = "merge it into megatron_gpt_config.yaml of megatron_gpt_pretraining.py", .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML, .options = true, .has_model = true, .elsewhere = " vocab_size " /* the tokenizer */,
    CALC_FRAMEWORK_ROWS(nemo_rows, mcore), CALC_FRAMEWORK_BASES(&nemo_keys, &harmless),
    CALC_FRAMEWORK_REFUSALS(core, even, flex, nemo)};

const calc_framework calc_framework_bridge = {.name = "megatron-bridge", .title = "Megatron-Bridge",
    .version = "0.6.0, ConfigContainer",
    .launch = "give it to the pretraining script of a recipe as its file of overrides",
    .command = "torchrun \"${1:?the pretraining script of a recipe}\" --config-file \"$FILE\" \"${@:2}\"", .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML, .options = true, .has_model = true,
    .elsewhere = " ffn_type norm_place qk_norm_whole " /* of the recipe's model; the file says whether there is a gate */, .launched = true, .settle = settle_bridge,
    CALC_FRAMEWORK_ROWS(bridge_rows, mcore), CALC_FRAMEWORK_BASES(&bridge_keys, &harmless),
    CALC_FRAMEWORK_REFUSALS(batch_overlap, core, layers, letters, listed, flex, graphs, fsdp)};
/* clang-format on */
