#include "validate/run_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/rules.h"

static int64_t whole(double number)
{
    return (int64_t)(number + 0.5);
}

/* A parallel size: blank and 0 are 1. The product of three is a whole number still. */
static int64_t size_of(double number)
{
    enum { SIZE_MAX_PRINTED = 1000000 };
    return number > 1 ? whole(fmin(number, SIZE_MAX_PRINTED)) : 1;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static const char *fill_sizes(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_exec *e = &map->exec;
    e->num_procs = whole(r->num_gpus);
    e->strategy.tensor_par = size_of(r->tp);
    e->pipeline_par = size_of(r->pp);
    e->strategy.context_par = size_of(r->cp);
    int64_t model = e->strategy.tensor_par * e->pipeline_par * e->strategy.context_par;
    if (e->num_procs < 1 || e->num_procs % model != 0) {
        return "the parallel sizes do not divide the number of GPUs";
    }
    e->strategy.data_par = e->num_procs / model;
    if (r->dp > 0 && whole(r->dp) != e->strategy.data_par) {
        calc_run_assume(map, "data parallelism from the number of GPUs, not as printed");
    }
    e->strategy.expert_par = size_of(r->ep);
    if (calc_run_assume_trait(map, CALC_RUN_TRAIT_SPREAD_EXPERTS, true)) {
        int64_t experts = map->app.num_experts;
        e->strategy.expert_par = e->num_procs < experts ? e->num_procs : experts;
    }
    bool split = isnan(r->etp) && calc_run_assume_trait(map, CALC_RUN_TRAIT_SPLIT_EXPERTS, true);
    e->strategy.expert_tensor_par = split ? e->strategy.tensor_par : size_of(r->etp);
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    e->strategy.context_par_net = e->strategy.expert_par_net = -1;
    e->strategy.expert_tensor_par_net = e->strategy.expert_data_par_net = -1;
    return NULL;
}

static const char *fill_batch(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_exec *e = &map->exec;
    e->microbatch_size = size_of(r->micro_batch);
    if (!(r->micro_batch > 0) &&
        calc_run_assume_trait(map, CALC_RUN_TRAIT_MICROBATCH_PER_STAGE, true)) {
        int64_t parts = e->strategy.data_par * e->pipeline_par;
        e->microbatch_size = size_of(r->global_batch / (double)parts);
    } else if (!(r->micro_batch > 0)) {
        map->search = calc_run_assume_trait(map, CALC_RUN_TRAIT_MICROBATCH_SEARCH, true);
        if (!map->search && !calc_run_assume_trait(map, CALC_RUN_TRAIT_MICROBATCH_1, true)) {
            return "micro-batch not published";
        }
    }
    int64_t together = e->strategy.data_par * e->microbatch_size;
    int64_t batch = whole(r->global_batch);
    if (batch < together) {
        return "global batch smaller than data parallelism times micro-batch";
    }
    e->batch_size = (batch + together - 1) / together * together;
    if (e->batch_size != batch) {
        calc_run_assume(map, "batch rounded up to whole micro-batches, measured time with it");
        map->step_s *= (double)e->batch_size / (double)batch;
    }
    return NULL;
}

/* ---- Pipeline -------------------------------------------------------------------------------- */

enum { STAGES_MAX = 64, BLOCKS_MAX = 1000000 };

/* The blocks of each stage, as "num_layer_list=5,6,6". @return how many are listed */
static int64_t listed_blocks(const calc_run_map *map, int64_t block[STAGES_MAX])
{
    const char *text = map->words.number[CALC_RUN_WORD_STAGE_LIST];
    int64_t count = 0;
    for (text = text ? text : ""; *text >= '0' && *text <= '9' && count < STAGES_MAX;
         text += *text == ',') {
        char *end;
        int64_t blocks = strtol(text, &end, 10);
        block[count++] = blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
        text = end;
    }
    return count;
}

/* Stages of unequal length: the last as listed, the first as near to the list as the others, which
 * are alike, allow. */
static void fill_listed_stages(calc_run_map *map)
{
    calc_exec *e = &map->exec;
    int64_t block[STAGES_MAX];
    int64_t stages = listed_blocks(map, block);
    if (stages != e->pipeline_par || stages < 2 ||
        e->pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS) {
        return;
    }
    int64_t between = map->app.num_blocks - block[0] - block[stages - 1];
    int64_t moved = stages > 2 && between > 0 ? between % (stages - 2) : 0;
    e->first_stage_blocks = block[0] + moved;
    e->last_stage_blocks = block[stages - 1];
    if (stages > 2) {
        calc_run_assume(map, "stages between the first and the last alike, not as listed");
    }
}

static void fill_pipeline(calc_run_map *map)
{
    calc_exec *e = &map->exec;
    int64_t blocks = map->app.num_blocks;
    bool several = e->pipeline_par > 1;
    int64_t chunks = strtol(map->row->vpp, NULL, 10);
    chunks = chunks < 1 ? 1 : chunks < BLOCKS_MAX ? chunks : BLOCKS_MAX;
    bool interleaved = calc_runs_has(map->row->id, "Interleaved");
    bool eight = calc_run_assume_trait(map, CALC_RUN_TRAIT_CHUNKS_8, several);
    bool two =
        calc_run_assume_trait(map, CALC_RUN_TRAIT_CHUNKS_2, several && interleaved) && interleaved;
    e->pipeline_interleaving = !several ? 1 : eight ? 8 : two ? 2 : chunks;
    int64_t parts = e->pipeline_par * chunks;
    bool ends = blocks % parts != 0 && (blocks + 2) % parts == 0;
    if (several && calc_run_assume_trait(map, CALC_RUN_TRAIT_COST_BALANCED, true)) {
        e->pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    } else if (several &&
               (calc_run_assume_trait(map, CALC_RUN_TRAIT_BALANCED_ENDS, true) || ends)) {
        e->pipeline_balance = CALC_PIPELINE_BALANCE_ENDS;
        calc_run_assume(map, "embedding and head count as a block each");
    } else if (several && blocks % parts != 0) {
        e->pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
        calc_run_assume(map, "blocks per stage not printed: as equal as can be");
    }
    fill_listed_stages(map);
    if (several && calc_run_words_say(&map->words, CALC_RUN_WORD_DEFERRED_WGRAD, false)) {
        int64_t limit = calc_run_words_number(&map->words, CALC_RUN_WORD_DEFERRED_WGRAD);
        e->deferred_head_wgrad = limit > 0 ? limit : -1;
    }
    /* Interleaving that is only assumed does not vouch for the overlap that goes with it. */
    e->strategy.pipeline_par_overlap =
        several && chunks > 1 &&
        !calc_run_assume_trait(map, CALC_RUN_TRAIT_NO_MESSAGE_OVERLAP, true);
}

/* ---- Tensor and data parallelism ------------------------------------------------------------- */

static void fill_tensor_par(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_exec *e = &map->exec;
    bool several = e->strategy.tensor_par > 1;
    bool scatter = several && r->sequence_parallel == 1;
    e->strategy.tensor_par_comm_type =
        scatter ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    e->strategy.seq_par_ag_redo = scatter && !calc_recomputes_block(&e->strategy);
    if (!several) {
        return;
    }
    bool fused = calc_runs_has(r->id, "AsyncTP") ||
                 calc_run_assume_word(map, CALC_RUN_WORD_TENSOR_OVERLAP,
                                      CALC_RUN_TRAIT_FUSED_TENSOR_OVERLAP, true);
    bool none = !fused && calc_run_assume_trait(map, CALC_RUN_TRAIT_NO_TENSOR_OVERLAP, true);
    e->strategy.tensor_par_overlap = fused  ? CALC_TENSOR_PAR_OVERLAP_FUSED
                                     : none ? CALC_TENSOR_PAR_OVERLAP_NONE
                                            : CALC_TENSOR_PAR_OVERLAP_ASYNC;
    if (!fused && !none) {
        calc_run_assume(map, "tensor-parallel communication asynchronous in backward");
    }
}

/* Weights sharded (3), gradients and optimizer sharded (2), or neither (0). */
static int64_t sharding(const calc_run_map *map)
{
    const calc_run_words *w = &map->words;
    const char *id = map->row->id;
    if (map->exec.pipeline_par > 1) {
        /* PyTorch's stages reduce gradients with the last micro-batch only, and weights stay
         * gathered until then: a distributed optimizer. */
        return 0;
    }
    if (calc_runs_starts(id, "mbridge") && calc_runs_has(id, "fsdp")) {
        return 3;
    }
    return calc_run_words_say(w, CALC_RUN_WORD_SHARDED_GRADIENTS, false) ? 2
           : calc_run_words_say(w, CALC_RUN_WORD_SHARDED_WEIGHTS, false) ? 3
                                                                         : 0;
}

/* Ranks that share one copy of the state; 0: all. */
static int64_t shard_group(const calc_run_map *map)
{
    bool node = map->words.on[CALC_RUN_WORD_SHARD_NODE];
    int64_t group = calc_run_words_number(&map->words, CALC_RUN_WORD_SHARD_GROUP);
    return group > 0 || !node ? group : (int64_t)calc_runs_or(map->row->gpus_per_node, 0);
}

static void fill_data_par(calc_run_map *map)
{
    const calc_run_words *w = &map->words;
    calc_exec *e = &map->exec;
    int64_t stage = sharding(map);
    bool distributed = stage > 0 || calc_run_words_say(w, CALC_RUN_WORD_SHARDED_OPTIMIZER, false) ||
                       calc_run_words_say(w, CALC_RUN_WORD_SHARDED_GRADIENTS, false) ||
                       calc_run_words_say(w, CALC_RUN_WORD_SHARDED_WEIGHTS, false);
    bool replicas = e->strategy.data_par * e->strategy.context_par > 1;
    e->strategy.zero_stage = !replicas ? 0 : stage > 0 ? stage : distributed ? 1 : 0;
    int64_t group = shard_group(map);
    if (e->strategy.zero_stage > 0 && group < e->strategy.data_par * e->strategy.context_par) {
        e->strategy.fsdp_par = group;
    }
    e->strategy.optimizer_sharding = e->strategy.data_par > 1 && e->strategy.zero_stage > 0;
    bool overlaps = calc_run_assume_word(map, CALC_RUN_WORD_GRADIENT_OVERLAP,
                                         CALC_RUN_TRAIT_DATA_OVERLAP, replicas);
    e->strategy.data_par_overlap = replicas && (overlaps || stage > 0);
    if (e->strategy.zero_stage == 1 &&
        calc_run_assume_trait(map, CALC_RUN_TRAIT_WHOLE_TENSORS, true)) {
        e->strategy.optimizer_shards = CALC_OPTIMIZER_SHARDS_TENSORS;
    }
    bool gather = calc_run_assume_word(map, CALC_RUN_WORD_GATHER_OVERLAP,
                                       CALC_RUN_TRAIT_DATA_OVERLAP, replicas);
    e->strategy.param_gather_overlap = gather || stage > 0 ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    bool half = calc_run_assume_word(map, CALC_RUN_WORD_HALF_GRADIENTS,
                                     CALC_RUN_TRAIT_HALF_GRADIENTS, replicas);
    half |= calc_run_assume_trait(map, CALC_RUN_TRAIT_FLOAT16_GRADIENTS, replicas) &&
            e->strategy.datatype == CALC_DATATYPE_FLOAT16;
    calc_format two_bytes =
        e->strategy.datatype == CALC_DATATYPE_FLOAT16 ? CALC_FORMAT_FLOAT16 : CALC_FORMAT_BFLOAT16;
    e->strategy.grad_reduce_datatype = half ? two_bytes : CALC_FORMAT_FLOAT32;
    /* Gradients are added up in the format they are sent in: Megatron Core allocates their buffer
     * in it, and so does apex's distributed optimizer. */
    e->strategy.grad_datatype = e->strategy.grad_reduce_datatype;
    if (e->strategy.zero_stage >= 3 &&
        calc_run_assume_trait(map, CALC_RUN_TRAIT_FLOAT32_SHARDS, true)) {
        e->strategy.weight_datatype = CALC_FORMAT_FLOAT32;
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void fill_formats(calc_run_map *map)
{
    calc_exec *e = &map->exec;
    const bool *says = map->words.on;
    e->strategy.datatype =
        says[CALC_RUN_WORD_FLOAT16] ? CALC_DATATYPE_FLOAT16 : CALC_DATATYPE_BFLOAT16;
    e->strategy.matrix_datatype = says[CALC_RUN_WORD_FLOAT4]   ? CALC_FORMAT_FLOAT4
                                  : says[CALC_RUN_WORD_FLOAT8] ? CALC_FORMAT_FLOAT8
                                                               : CALC_FORMAT_AUTO;
    bool narrowed = e->strategy.matrix_datatype != CALC_FORMAT_AUTO;
    if (calc_run_assume_trait(map, CALC_RUN_TRAIT_WIDE_INPUTS, narrowed) && narrowed) {
        e->strategy.activation_datatype = CALC_FORMAT_BFLOAT16;
    }
    bool attention = calc_run_words_say(&map->words, CALC_RUN_WORD_FLOAT8_ATTENTION, false);
    e->strategy.attention_datatype = attention ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    bool block = says[CALC_RUN_WORD_BLOCK_SCALES] || calc_runs_has(map->row->id, "MX");
    e->strategy.scaling = block ? CALC_SCALING_BLOCK : CALC_SCALING_TENSOR;
    /* Weights scaled by block are gathered in 16 bits: a transposed copy has scales of its own. */
    bool scaled = e->strategy.matrix_datatype == CALC_FORMAT_FLOAT8 && !block;
    bool narrow = scaled ? calc_run_assume_word(map, CALC_RUN_WORD_FLOAT8_GATHER,
                                                CALC_RUN_TRAIT_FLOAT8_GATHER, true)
                         : says[CALC_RUN_WORD_FLOAT8_GATHER];
    e->strategy.param_gather_datatype = narrow ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
}

/* Share of a block that CUDA graphs launch. */
static double graphed(const calc_run_words *w)
{
    if (calc_run_words_say(w, CALC_RUN_WORD_FULL_GRAPH, false) ||
        calc_run_words_say(w, CALC_RUN_WORD_GRAPHS, false)) {
        return 1;
    }
    return !w->on[CALC_RUN_WORD_ENGINE_GRAPHS]    ? 0
           : w->on[CALC_RUN_WORD_ATTENTION_GRAPH] ? CALC_GRAPHED_ATTENTION
                                                  : CALC_GRAPHED_ROUTER;
}

static void fill_kernels(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_exec *e = &map->exec;
    const calc_app *app = &map->app;
    e->training = true;
    e->strategy.fused_activation = true;
    e->strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    e->strategy.attention_type = app->kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT
                                 : app->kv_heads < app->attn_heads
                                     ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                     : CALC_ATTENTION_TYPE_MULTIHEAD;
    bool unfused = calc_run_assume_trait(map, CALC_RUN_TRAIT_UNFUSED_ATTENTION, true);
    e->strategy.flash_attention = !unfused && r->flash_attention != 0;
    if (!unfused && isnan(r->flash_attention)) {
        calc_run_assume(map, "attention kernel not printed: flash attention");
    }
    bool portable = calc_run_assume_trait(map, CALC_RUN_TRAIT_PORTABLE_ATTENTION, true);
    e->strategy.attention_kernel =
        portable ? CALC_ATTENTION_KERNEL_GENERIC : CALC_ATTENTION_KERNEL_VENDOR;
    bool compiled = calc_run_words_say(&map->words, CALC_RUN_WORD_COMPILED, false);
    e->strategy.eager =
        calc_run_assume_trait(map, CALC_RUN_TRAIT_EAGER, true) ||
        (!compiled && calc_run_assume_trait(map, CALC_RUN_TRAIT_EAGER_UNLESS_COMPILED, true));
    bool unfused_loss =
        calc_run_assume_trait(map, CALC_RUN_TRAIT_UNFUSED_LOSS, true) || e->strategy.eager;
    e->strategy.fused_cross_entropy = !unfused_loss;
    bool many = r->num_gpus > 20 * calc_runs_or(r->gpus_per_node, (double)INFINITY);
    e->strategy.launch_blocking =
        calc_run_assume_trait(map, CALC_RUN_TRAIT_LAUNCH_BLOCKING, many) && many;
    e->strategy.cuda_graph = graphed(&map->words);
    e->strategy.unfused_experts = calc_runs_has_any_case(r->id, "gpt-oss");
    if (calc_run_assume_trait(map, CALC_RUN_TRAIT_ENGINE_BUFFERS, !isnan(map->memory_bytes))) {
        e->strategy.framework_mem =
            1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD | 1 << CALC_FRAMEWORK_MEM_GEMM_WORKSPACE;
    }
    /* Portable kernels and PyTorch's own loss go together. */
    if (unfused_loss && portable) {
        e->strategy.framework_mem |= 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES;
    }
}

static void fill_exchanges(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_exec *e = &map->exec;
    bool ulysses = calc_run_assume_word(map, CALC_RUN_WORD_ULYSSES, CALC_RUN_TRAIT_ULYSSES,
                                        e->strategy.context_par > 1);
    e->strategy.context_par_type =
        ulysses ? CALC_CONTEXT_PAR_TYPE_ULYSSES : CALC_CONTEXT_PAR_TYPE_RING;
    bool printed = calc_run_words_say(&map->words, CALC_RUN_WORD_NODE_LIMITED, false);
    bool assumed = *r->overlap == '\0' &&
                   calc_run_assume_trait(map, CALC_RUN_TRAIT_NODE_LIMITED_DISPATCH, true);
    e->strategy.dispatch_type =
        printed || assumed ? CALC_DISPATCH_TYPE_NODE_LIMITED : CALC_DISPATCH_TYPE_ALL_TO_ALL;
    e->strategy.fused_experts = calc_run_words_say(&map->words, CALC_RUN_WORD_FUSED_EXPERTS, false);
    e->strategy.delayed_wgrad = calc_run_words_say(&map->words, CALC_RUN_WORD_DELAYED_WGRAD, false);
    e->strategy.expert_par_overlap =
        calc_run_words_say(&map->words, CALC_RUN_WORD_EXPERT_OVERLAP, false)
            ? CALC_EXPERT_PAR_OVERLAP_BATCH
            : CALC_EXPERT_PAR_OVERLAP_NONE;
}

/* ---- Recomputation --------------------------------------------------------------------------- */

/* Words of the column `recompute` and the part of a block they mean. */
static const struct {
    calc_run_word word;
    int module;
} modules[] = {{CALC_RUN_WORD_CORE_ATTN, CALC_RECOMPUTE_MODULES_CORE_ATTN},
               {CALC_RUN_WORD_LAYERNORM, CALC_RECOMPUTE_MODULES_LAYERNORM},
               {CALC_RUN_WORD_MLA_UP_PROJ, CALC_RECOMPUTE_MODULES_MLA_UP_PROJ},
               {CALC_RUN_WORD_MLP, CALC_RECOMPUTE_MODULES_MLP},
               {CALC_RUN_WORD_MOE_ACT, CALC_RECOMPUTE_MODULES_MOE_ACT},
               {CALC_RUN_WORD_SHARED_EXPERTS, CALC_RECOMPUTE_MODULES_SHARED_EXPERTS},
               {CALC_RUN_WORD_MOE, CALC_RECOMPUTE_MODULES_MOE}};

/* "full block 70": the blocks of a stage that recompute; 0: all of them. */
static int64_t recomputed_blocks(const calc_run_map *map)
{
    int64_t blocks = calc_run_words_number(&map->words, CALC_RUN_WORD_BLOCKS);
    return blocks * map->exec.pipeline_par >= map->app.num_blocks ? 0 : blocks;
}

static void fill_recompute(calc_run_map *map)
{
    const char *text = map->row->recompute;
    calc_exec *e = &map->exec;
    if (calc_run_assume_trait(map, CALC_RUN_TRAIT_NO_RECOMPUTE, true)) {
        return;
    }
    if (*text == '\0') {
        calc_run_assume(map, "recomputation not printed: none");
    }
    const bool *says = map->words.on;
    if (says[CALC_RUN_WORD_FULL]) {
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        e->recompute_blocks = recomputed_blocks(map);
        return;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (says[modules[i].word]) {
            e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
            e->strategy.recompute_modules |= (int64_t)1 << modules[i].module;
        }
    }
    bool alone = says[CALC_RUN_WORD_SELECTIVE] && e->strategy.recompute_modules == 0;
    bool pytorch = alone && calc_run_assume_trait(map, CALC_RUN_TRAIT_PORTABLE_ATTENTION, true);
    if (says[CALC_RUN_WORD_BY_OPERATOR] || pytorch) {
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
    } else if (alone) {
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
        e->strategy.recompute_modules = (int64_t)1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
        calc_run_assume(map, "selective recomputation, of what is not said: of attention");
    }
    if (says[CALC_RUN_WORD_OFFLOAD]) {
        calc_run_assume(map, "offload of activations not modelled");
    }
}

const char *calc_run_layout_exec(calc_run_map *map)
{
    const char *reason = fill_sizes(map);
    reason = reason ? reason : fill_batch(map);
    if (reason) {
        return reason;
    }
    fill_formats(map);
    fill_recompute(map);
    fill_pipeline(map);
    fill_tensor_par(map);
    fill_data_par(map);
    fill_kernels(map);
    fill_exchanges(map);
    return NULL;
}
