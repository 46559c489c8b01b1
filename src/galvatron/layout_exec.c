/* Converts strategies of layers to an execution, and back. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "galvatron/layout.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

static int sharded(const calc_galvatron_strategy *s)
{
    return s->dp * s->cp * s->sp;
}

/* ---- To an execution ------------------------------------------------------------------------- */

static calc_layer_strategy layer_of(const calc_galvatron_strategy *s)
{
    static const int8_t zero[] = {
        [CALC_GALVATRON_DDP] = 0, [CALC_GALVATRON_ZERO2] = 2, [CALC_GALVATRON_ZERO3] = 3};
    calc_layer_strategy layer = calc_layer_as_exec;
    int split = s->sp > 1 ? s->sp : s->cp;
    layer.tensor_par = (int16_t)s->tp;
    layer.context_par = (int16_t)split;
    if (split > 1) {
        layer.context_par_type =
            s->sp > 1 ? CALC_CONTEXT_PAR_TYPE_ULYSSES : CALC_CONTEXT_PAR_TYPE_RING;
    }
    layer.zero_stage = sharded(s) > 1 ? zero[s->type] : 0;
    layer.recompute =
        s->checkpoint ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
    return layer;
}

/* Chooses the execution's own strategy: one that splits tensors and has replicas, so that overlaps
 * of both can be expressed; else the one with the most tensor parallelism. */
static const calc_galvatron_strategy *base_of(const calc_galvatron_layout *s)
{
    const calc_galvatron_strategy *base = &s->layer[0];
    for (int i = 0; i <= s->layers; i++) {
        const calc_galvatron_strategy *at = i < s->layers ? &s->layer[i] : &s->ends;
        int better = at->tp > 1 && sharded(at) > 1;
        int good = base->tp > 1 && sharded(base) > 1;
        base = better > good || (better == good && at->tp > base->tp) ? at : base;
    }
    return base;
}

static calc_status set_sizes(const calc_galvatron_layout *s, calc_exec *e, calc_errors *errors)
{
    const calc_galvatron_strategy *base = base_of(s);
    int64_t together = s->gbsz / s->chunks;
    for (int i = 0; i <= s->layers; i++) {
        const calc_galvatron_strategy *at = i < s->layers ? &s->layer[i] : &s->ends;
        if (s->gbsz % s->chunks != 0 || together % at->dp != 0) {
            return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                                   "global_bsz %lld / chunks %lld is not whole, or not a multiple "
                                   "of data parallelism %d: ranks would have unequal micro-batches",
                                   (long long)s->gbsz, (long long)s->chunks, at->dp);
        }
        if (at->sp > 1 && at->cp > 1) {
            return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                                   "a layer has Ulysses and a ring of context parallelism: calc "
                                   "has one of them in a layer");
        }
    }
    int split = base->sp > 1 ? base->sp : base->cp;
    e->num_procs = s->world;
    e->pipeline_par = s->pp;
    e->strategy.tensor_par = base->tp;
    e->strategy.context_par = split > 1 ? split : 0;
    e->strategy.context_par_type =
        base->sp > 1 ? CALC_CONTEXT_PAR_TYPE_ULYSSES : CALC_CONTEXT_PAR_TYPE_RING;
    e->strategy.data_par = base->dp;
    e->batch_size = s->gbsz;
    e->microbatch_size = together / base->dp;
    return CALC_OK;
}

static void set_kernels(calc_exec *e, int ranks)
{
    calc_strategy *s = &e->strategy;
    bool tensor = s->tensor_par > 1;
    s->context_par_net = s->expert_par_net = s->expert_tensor_par_net = -1;
    s->expert_data_par_net = -1;
    s->datatype = CALC_DATATYPE_BFLOAT16;
    s->attention_type = CALC_ATTENTION_TYPE_MULTIHEAD;
    s->fused_activation = s->flash_attention = true;
    s->tensor_par_comm_type =
        tensor ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    s->seq_par_ag_redo = tensor;
    s->tensor_par_overlap = tensor ? CALC_TENSOR_PAR_OVERLAP_ASYNC : CALC_TENSOR_PAR_OVERLAP_NONE;
    s->data_par_overlap = ranks > 1;
    s->memory_model = CALC_MEMORY_MODEL_MEGATRON;
    s->data_par_net = e->pipeline_par_net = 1;
    e->pipeline_interleaving = 1;
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    e->training = true;
}

static calc_status set_layers(const calc_galvatron_layout *s, calc_exec *e, calc_errors *errors)
{
    calc_layer_run *run = malloc((size_t)s->layers * sizeof *run);
    if (!run) {
        return calc_errors_no_memory(errors);
    }
    for (int i = 0; i < s->layers; i++) {
        run[i] = (calc_layer_run){1, layer_of(&s->layer[i])};
    }
    bool packed = calc_layer_list_pack(run, s->layers, &e->layers);
    free(run);
    if (!packed) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "more than %d runs of equal layers", CALC_MAX_LAYER_RUNS);
    }
    e->layers.ends = layer_of(&s->ends);
    /* Embedding and head recompute nothing. */
    e->layers.ends.recompute = CALC_LAYER_AS_EXEC;
    return CALC_OK;
}

static calc_status set_stages(const calc_galvatron_layout *s, calc_exec *e, calc_errors *errors)
{
    calc_stage_run run[CALC_MAX_PLACES];
    bool even = true;
    for (int i = 0; i < s->pp; i++) {
        even = even && s->division[i] == s->division[0];
    }
    if (even) {
        return CALC_OK;
    }
    for (int i = 0; i < s->pp && s->pp <= CALC_MAX_PLACES; i++) {
        run[i] = (calc_stage_run){.places = 1,
                                  .blocks = (int16_t)s->division[i],
                                  .recompute_blocks = CALC_STAGE_AS_EXEC,
                                  .recompute = CALC_STAGE_AS_EXEC};
    }
    if (s->pp > CALC_MAX_PLACES || !calc_stage_list_pack(run, s->pp, &e->stages)) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "pp_division: more than %d stages that differ", CALC_MAX_STAGE_RUNS);
    }
    return CALC_OK;
}

calc_status calc_galvatron_layout_exec(const calc_galvatron_layout *s, calc_exec *exec,
                                       calc_errors *errors)
{
    memset(exec, 0, sizeof *exec);
    calc_status status = set_sizes(s, exec, errors);
    if (status) {
        return status;
    }
    set_kernels(exec, sharded(base_of(s)));
    exec->pipeline_schedule = s->pipeline_type == CALC_GALVATRON_GPIPE
                                  ? CALC_PIPELINE_SCHEDULE_GPIPE
                                  : CALC_PIPELINE_SCHEDULE_1F1B;
    status = set_layers(s, exec, errors);
    return status ? status : set_stages(s, exec, errors);
}

calc_status calc_galvatron_exec_read(calc_exec *exec, const char *text, size_t length,
                                     const char *name, int64_t world, calc_notes *notes,
                                     calc_errors *errors)
{
    calc_galvatron_layout *layout = malloc(sizeof *layout);
    if (!layout) {
        return calc_errors_no_memory(errors);
    }
    calc_status status =
        calc_galvatron_layout_read(layout, text, length, name, world, notes, errors);
    status = status ? status : calc_galvatron_layout_exec(layout, exec, errors);
    free(layout);
    for (int i = 0; i < errors->count; i++) {
        if (!errors->item[i].file[0]) {
            calc_error_place(&errors->item[i], name, 0, 0);
        }
    }
    return status;
}

void calc_galvatron_exec_attention(const calc_app *app, calc_exec *exec)
{
    exec->strategy.attention_type = app->kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT
                                    : app->kv_heads == 1  ? CALC_ATTENTION_TYPE_MULTIQUERY
                                    : app->kv_heads > 0   ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                                          : CALC_ATTENTION_TYPE_MULTIHEAD;
}

/* ---- From an execution ----------------------------------------------------------------------- */

static calc_status refuse(calc_errors *errors, const char *text)
{
    return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                           "Galvatron's file cannot say %s", text);
}

static calc_status check_layout(const calc_exec *e, calc_errors *errors)
{
    if (!e->training) {
        return refuse(errors, "that a model is served");
    }
    if (e->pipeline_interleaving > 1) {
        return refuse(errors, "that stages have several chunks");
    }
    if (e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B &&
        e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_GPIPE) {
        return refuse(errors, "this pipeline_schedule: it has 1f1b and gpipe");
    }
    if (e->recompute_blocks > 0) {
        return refuse(errors, "recompute_blocks: list the layers that recompute");
    }
    if (e->strategy.expert_par > 1) {
        return refuse(errors, "expert parallelism");
    }
    for (int32_t i = 0; i < e->stages.count; i++) {
        const calc_stage_run *run = &e->stages.run[i];
        if (run->chip > 0 || run->recompute != CALC_STAGE_AS_EXEC ||
            run->recompute_blocks != CALC_STAGE_AS_EXEC) {
            return refuse(errors,
                          "what stages recompute or run on: only how many layers they have");
        }
    }
    return CALC_OK;
}

/* Converts one strategy. @param exec  the execution that holds it */
static calc_status strategy_from(const calc_exec *exec, calc_galvatron_strategy *out,
                                 calc_errors *errors)
{
    const calc_strategy *s = &exec->strategy;
    int context = s->context_par > 1 ? (int)s->context_par : 1;
    bool ulysses = context > 1 && s->context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES;
    int64_t zero = s->zero_stage > 0 ? s->zero_stage : s->optimizer_sharding;
    if (context > 1 && !ulysses && s->context_par_type != CALC_CONTEXT_PAR_TYPE_RING) {
        return refuse(errors, "this context_par_type: it has ulysses and ring");
    }
    if (ulysses && s->tensor_par > 1) {
        return refuse(errors, "tensor parallelism and Ulysses in one layer");
    }
    if (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE &&
        s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL) {
        return refuse(errors, "that parts of a layer are recomputed");
    }
    *out = (calc_galvatron_strategy){.pp = (int)exec->pipeline_par,
                                     .tp = (int)s->tensor_par,
                                     .sp = ulysses ? context : 1,
                                     .cp = ulysses ? 1 : context,
                                     .dp = (int)s->data_par,
                                     .type = zero == 3  ? CALC_GALVATRON_ZERO3
                                             : zero > 0 ? CALC_GALVATRON_ZERO2
                                                        : CALC_GALVATRON_DDP,
                                     .checkpoint =
                                         s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL};
    return CALC_OK;
}

/* The file has a single type for all strategies that are not ZeRO-3. */
static calc_status take_default(calc_galvatron_layout *out, const calc_galvatron_strategy *s,
                                bool *said, calc_errors *errors)
{
    if (s->type == CALC_GALVATRON_ZERO3 || sharded(s) == 1) {
        return CALC_OK;
    }
    if (*said && s->type != out->default_dp_type) {
        return refuse(errors, "that some layers have ZeRO-2 and others shard nothing");
    }
    out->default_dp_type = s->type;
    *said = true;
    return CALC_OK;
}

static calc_status layers_from(calc_galvatron_layout *out, const calc_exec *exec,
                               calc_errors *errors)
{
    const calc_layer_list *list = &exec->layers;
    bool said = false;
    int32_t run = 0, used = 0;
    for (int i = 0; i <= out->layers; i++) {
        bool ends = i == out->layers;
        const calc_layer_strategy *strategy = list->count == 0 ? &calc_layer_as_exec
                                              : ends           ? &list->ends
                                                               : &list->run[run].strategy;
        const calc_exec one = calc_layer_list_exec(exec, strategy);
        calc_galvatron_strategy *to = ends ? &out->ends : &out->layer[i];
        calc_status status = strategy_from(&one, to, errors);
        status = status ? status : take_default(out, to, &said, errors);
        if (status) {
            return status;
        }
        if (list->count > 0 && ++used == list->run[run].blocks && run + 1 < list->count) {
            run++;
            used = 0;
        }
    }
    out->ends.checkpoint = false;
    return CALC_OK;
}

calc_status calc_galvatron_layout_from(calc_galvatron_layout *out, const calc_app *app,
                                       const calc_exec *exec, calc_errors *errors)
{
    calc_stage_run run[CALC_MAX_PLACES];
    memset(out, 0, sizeof *out);
    calc_status status = check_layout(exec, errors);
    if (status) {
        return status;
    }
    if (app->num_blocks > CALC_GALVATRON_LAYERS || exec->pipeline_par > CALC_GALVATRON_STAGES) {
        return refuse(errors, "so many layers or stages");
    }
    out->world = (int)exec->num_procs;
    out->pp = (int)exec->pipeline_par;
    out->layers = (int)app->num_blocks;
    out->gbsz = exec->batch_size;
    out->chunks = exec->batch_size / (exec->microbatch_size * exec->strategy.data_par);
    out->pipeline_type = exec->pipeline_schedule == CALC_PIPELINE_SCHEDULE_GPIPE
                             ? CALC_GALVATRON_GPIPE
                             : CALC_GALVATRON_PIPEDREAM_FLUSH;
    calc_galvatron_layout_divide(out);
    int64_t places = calc_stage_list_expand(&exec->stages, run);
    for (int64_t i = 0; i < places && i < out->pp; i++) {
        out->division[i] = run[i].blocks > 0 ? run[i].blocks : out->division[i];
    }
    return layers_from(out, exec, errors);
}
