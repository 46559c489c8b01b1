#include "galvatron/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "formats/read.h"
#include "galvatron/arguments.h"
#include "io/json_put.h"
#include "io/json_report.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

char *calc_galvatron_strategy_text(const calc_galvatron_strategy *strategy,
                                   char text[CALC_GALVATRON_STRATEGY_SIZE])
{
    const calc_galvatron_strategy *s = strategy;
    snprintf(text, CALC_GALVATRON_STRATEGY_SIZE, "%d-%d%s%s-%d%s%s%s", s->pp,
             calc_galvatron_degree(s), calc_galvatron_degree(s) > 1 ? "*" : "",
             s->cp > 1 ? CALC_TEXT(16, "x%d", s->cp) : "", s->dp,
             s->type == CALC_GALVATRON_ZERO3 ? "f" : "", s->checkpoint ? "-c" : "",
             s->sp > 1 ? "-sp" : "");
    return text;
}

bool calc_galvatron_strategy_same(const calc_galvatron_strategy *a,
                                  const calc_galvatron_strategy *b)
{
    return a->pp == b->pp && a->tp == b->tp && a->sp == b->sp && a->cp == b->cp && a->dp == b->dp &&
           a->type == b->type && a->checkpoint == b->checkpoint;
}

int calc_galvatron_layout_run(const calc_galvatron_layout *s, int first, int end)
{
    int last = first + 1;
    while (last < end && calc_galvatron_strategy_same(&s->layer[last], &s->layer[first])) {
        last++;
    }
    return last - first;
}

/* Gives each stage equally many layers, and the last stage the remainder. */
static void calc_galvatron_layout_divide(calc_galvatron_layout *s)
{
    int each = s->layers / s->pp;
    for (int i = 0; i < s->pp; i++) {
        s->division[i] = i < s->pp - 1 ? each : s->layers - each * (s->pp - 1);
    }
}

char *calc_galvatron_layout_name(const calc_galvatron_request *request,
                                 char name[CALC_GALVATRON_NAME_SIZE])
{
    const calc_galvatron_request *r = request;
    const struct {
        bool off;
        const char *name;
    } spaces[] = {{r->disable_dp, "dp"},
                  {r->disable_tp, "tp"},
                  {r->disable_pp, "pp"},
                  {r->disable_fsdp, "fsdp"},
                  {r->disable_ckpt, "ckpt"}};
    char off[64] = "";
    name[0] = '\0';
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (spaces[i].off) {
            calc_append(off, sizeof off, "%s%s_", *off ? "" : "_[", spaces[i].name);
        }
    }
    calc_append(name, CALC_GALVATRON_NAME_SIZE,
                "galvatron_config_%s_%jdnodes_%jdgpus_per_node_%gGB_%s", r->model, r->num_nodes,
                r->num_gpus_per_node, r->memory_constraint,
                calc_galvatron_precision_words[r->mixed_precision]);
    if (r->settle_bsz > 0) {
        calc_append(name, CALC_GALVATRON_NAME_SIZE, "_bsz%jd", r->settle_bsz);
    }
    return calc_append(name, CALC_GALVATRON_NAME_SIZE, "%s%s.json", off, *off ? "off]" : "");
}

int64_t calc_galvatron_layout_multiple(const calc_galvatron_layout *s)
{
    int tp = calc_galvatron_degree(&s->ends), cp = s->ends.cp;
    for (int i = 0; i < s->layers; i++) {
        tp = calc_galvatron_degree(&s->layer[i]) < tp ? calc_galvatron_degree(&s->layer[i]) : tp;
        cp = s->layer[i].cp < cp ? s->layer[i].cp : cp;
    }
    int64_t ranks = (int64_t)s->world / s->pp / tp / cp;
    return ranks > 1 ? ranks : 1;
}

void calc_galvatron_layout_answer(const calc_galvatron_request *request,
                                  const calc_galvatron_answer *answer, calc_galvatron_layout *out)
{
    const calc_galvatron_task *task = &answer->task;
    *out = (calc_galvatron_layout){
        .world = (int)calc_galvatron_world(request),
        .pp = task->pp,
        .gbsz = task->gbsz,
        .chunks = task->chunks,
        .pipeline_type = request->pipeline_type,
        .default_dp_type = request->default_dp_type,
        .layers = (int)calc_galvatron_layer_count(request),
        .ends = answer->ends,
    };
    memcpy(out->layer, answer->layer, (size_t)out->layers * sizeof *out->layer);
    memcpy(out->division, answer->division, (size_t)out->pp * sizeof *out->division);
}

static int zero_stage(const calc_galvatron_strategy *s)
{
    return s->type == CALC_GALVATRON_DDP ? 0 : s->type == CALC_GALVATRON_ZERO2 ? 2 : 3;
}

enum { DEGREE_MAX = 65536, COUNT_MAX = 1000000000 };

/* What lists of files have of a layer: Galvatron's lists, and others of PaddleNLP's. */
enum { DEGREE, NEIGHBOURS, ZERO3, ULYSSES, CHECKPOINT, CONTEXT, EXPERTS, EXPERT_DEGREE, LISTS };
enum { REPLICAS = LISTS, ZERO_STAGE, NUMBERS };
static const struct {
    const char *key;
    int lo, hi, absent; /* -1: the list is needed */
} lists[LISTS] = {[DEGREE] = {"tp_sizes_enc", 1, DEGREE_MAX, -1},
                  [NEIGHBOURS] = {"tp_consecutive_flags", 0, 1, -1},
                  [ZERO3] = {"dp_types_enc", 0, 1, -1},
                  [ULYSSES] = {"use_sp", 0, 1, 0},
                  [CHECKPOINT] = {"checkpoint", 0, 1, 0},
                  [CONTEXT] = {"cp_sizes_enc", 1, DEGREE_MAX, 1},
                  [EXPERTS] = {"ep_sizes_enc", 1, DEGREE_MAX, 1},
                  [EXPERT_DEGREE] = {"tp_of_ep_sizes_enc", 1, DEGREE_MAX, 1}};

static void put_list(calc_put *put, const calc_galvatron_layout *l, const char *key, int what)
{
    char text[8 * CALC_GALVATRON_LAYERS] = "";
    for (int i = 0; i < l->layers; i++) {
        const calc_galvatron_strategy *s = &l->layer[i];
        bool zero3 = s->type == CALC_GALVATRON_ZERO3;
        const int number[NUMBERS] = {[DEGREE] = calc_galvatron_degree(s),
                                     [NEIGHBOURS] = 1,
                                     [ZERO3] = zero3,
                                     [ULYSSES] = s->sp > 1,
                                     [CHECKPOINT] = s->checkpoint,
                                     [CONTEXT] = s->cp,
                                     [REPLICAS] = s->dp,
                                     [ZERO_STAGE] = zero_stage(s)};
        calc_append(text, sizeof text, "%s%d", i ? "," : "", number[what]);
    }
    calc_put_text(put, key, text);
}

static const char *const dp_types[] = {"ddp", "zero2", "zero3", NULL};

void calc_galvatron_layout_write(const calc_galvatron_layout *s, calc_output *out)
{
    char division[8 * CALC_GALVATRON_STAGES] = "";
    bool split = s->ends.cp > 1, zero3 = s->ends.type == CALC_GALVATRON_ZERO3;
    calc_put put = {.out = out, .step = 4};
    for (int i = 0; i < s->layers; i++) {
        split = split || s->layer[i].cp > 1;
    }
    for (int i = 0; i < s->pp; i++) {
        calc_append(division, sizeof division, "%s%d", i ? "," : "", s->division[i]);
    }
    calc_putf(&put, "{\npp_deg: %d", s->pp);
    for (int what = DEGREE; what <= CHECKPOINT; what++) {
        put_list(&put, s, lists[what].key, what);
    }
    calc_putf(&put,
              "world_size: %d, global_bsz: %jd, chunks: %jd, pp_division: %s, pipeline_type: %s, "
              "default_dp_type: %s, vtp: %d, vsp: %d, embed_sdp: %d",
              s->world, s->gbsz, s->chunks, division,
              calc_galvatron_schedule_words[s->pipeline_type], dp_types[s->default_dp_type],
              calc_galvatron_degree(&s->ends), s->ends.sp > 1, zero3);
    if (split) {
        put_list(&put, s, lists[CONTEXT].key, CONTEXT);
        calc_put_count(&put, "vcp", s->ends.cp);
    }
    calc_putf(&put, "vocab_sdp: %d}", zero3);
}

void calc_galvatron_paddle_write(const calc_galvatron_layout *l, calc_output *out)
{
    char stages[8 * CALC_GALVATRON_LAYERS] = "";
    calc_put put = {.out = out, .step = 4};
    for (int stage = 0; stage < l->pp; stage++) {
        for (int i = 0; i < l->division[stage]; i++) {
            calc_append(stages, sizeof stages, "%s%d", *stages ? "," : "", stage);
        }
    }
    calc_putf(&put,
              "{\npp_size: %d, vtp: %d, vsp_flag: %d, embed_sdp: %d, global_batch_size: %jd, "
              "gradient_accumulation_steps: %jd",
              l->pp, calc_galvatron_degree(&l->ends), l->ends.sp > 1,
              l->ends.type == CALC_GALVATRON_ZERO3, l->gbsz, l->chunks);
    put_list(&put, l, "dp_size_list", REPLICAS);
    put_list(&put, l, "sharding_stage_list", ZERO_STAGE);
    put_list(&put, l, "tp_size_list", DEGREE);
    put_list(&put, l, "usp_flag_list", ULYSSES);
    put_list(&put, l, "recompute_list", CHECKPOINT);
    calc_putf(&put, "pp_stage_idx_list: %s}", stages);
}

void calc_galvatron_paddle_options(const calc_galvatron_layout *l, calc_output *out)
{
    const calc_galvatron_strategy *first = &l->layer[0];
    bool recompute = false;
    for (int i = 0; i < l->layers; i++) {
        recompute = recompute || l->layer[i].checkpoint;
    }
    calc_output_printf(out,
                       "--sharding_parallel_degree %d\n--tensor_parallel_degree %d\n"
                       "--pipeline_parallel_degree %d\n--recompute %s\n"
                       "--gradient_accumulation_steps %jd\n--per_device_train_batch_size %jd\n",
                       first->dp, calc_galvatron_degree(first), l->pp, recompute ? "true" : "false",
                       l->chunks, (l->gbsz / l->chunks / first->dp));
}

bool calc_galvatron_paddle_uniform(const calc_galvatron_layout *l)
{
    return calc_galvatron_layout_run(l, 0, l->layers) == l->layers;
}

/* Converts strategies of layers to an execution, and back. */

static calc_layer_strategy layer_of(const calc_galvatron_strategy *s)
{
    calc_layer_strategy layer = calc_layer_as_exec;
    int split = s->sp > 1 ? s->sp : s->cp;
    layer.tensor_par = (int16_t)s->tp;
    layer.context_par = (int16_t)split;
    if (split > 1) {
        layer.context_par_type =
            s->sp > 1 ? CALC_CONTEXT_PAR_TYPE_ULYSSES : CALC_CONTEXT_PAR_TYPE_RING;
    }
    layer.zero_stage = (int16_t)(calc_galvatron_sdp(s) > 1 ? zero_stage(s) : 0);
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
        int better = at->tp > 1 && calc_galvatron_sdp(at) > 1;
        int good = base->tp > 1 && calc_galvatron_sdp(base) > 1;
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
                                   "global_bsz %jd / chunks %jd is not whole, or not a multiple "
                                   "of data parallelism %d: ranks would have unequal micro-batches",
                                   s->gbsz, s->chunks, at->dp);
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
    calc_layer_run *run = calc_make((size_t)s->layers, sizeof *run);
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
    set_kernels(exec, calc_galvatron_sdp(base_of(s)));
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
    calc_galvatron_layout *layout = calc_make(1, sizeof *layout);
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
    if (s->type == CALC_GALVATRON_ZERO3 || calc_galvatron_sdp(s) == 1) {
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

/* Reads galvatron_config_*.json: lists in texts, with one number for each layer. */

typedef struct reader {
    const calc_settings *settings;
    const char *text, *name;
    size_t length;
    calc_notes *notes;
    calc_errors *errors;
    calc_galvatron_layout *out;
} reader;

/* Adds an error about byte `offset` of a value. */
static calc_status wrong(const reader *r, const calc_setting *s, size_t offset, const char *hint,
                         const char *text)
{
    size_t start = 0, end;
    (void)calc_json_span(r->text, r->length, CALC_TEXT(64, "/%s", s->key), &start, &end);
    bool quoted = start < r->length && r->text[start] == '"';
    calc_json_place place =
        calc_json_scan_place(r->text, r->length, start + (quoted ? 1 + offset : 0));
    return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, place.line, place.column, hint,
                          "%s: %s", s->key, text);
}

static calc_status wrong_value(const reader *r, const calc_setting *s, size_t offset,
                               const char *expected)
{
    const char *value = s->value + offset;
    return wrong(r, s, offset, NULL,
                 CALC_TEXT(192, "expected %s, found \"%s\"", expected,
                           calc_utf8_shown(value, strcspn(value, ","))));
}

/* Reads up to `most` numbers from `lo` to `hi`. Without the key there are none, which is an error
 * if they are needed. */
static calc_status numbers_of(const reader *r, const char *key, int lo, int hi, bool needed,
                              int most, int *out, int *count)
{
    const calc_setting *s = calc_settings_last(r->settings, key);
    *count = 0;
    if (!s || !s->value[0]) {
        return needed ? calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0, NULL,
                                       "%s is missing", key)
                      : CALC_OK;
    }
    for (const char *at = s->value;;) {
        char *end, expected[80];
        long value = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || value < lo || value > hi || *count == most) {
            snprintf(expected, sizeof expected, hi == 1 ? "0 or 1" : "a whole number from %d to %d",
                     lo, hi);
            return wrong_value(r, s, (size_t)(at - s->value), expected);
        }
        out[(*count)++] = (int)value;
        if (!*end) {
            return CALC_OK;
        }
        at = end + 1 + strspn(end + 1, " ");
    }
}

/* Reads a whole number; `absent` without the key, or an error if that is -1. */
static calc_status count_of(const reader *r, const char *key, int lo, int hi, int64_t absent,
                            int64_t *out)
{
    int number, count;
    calc_status status = numbers_of(r, key, lo, hi, absent < 0, 1, &number, &count);
    *out = count > 0 ? number : absent;
    return status;
}

/* Reads one of the words; the first without the key. */
static calc_status word_of(const reader *r, const char *key, const char *const words[], int *out)
{
    const calc_setting *s = calc_settings_last(r->settings, key);
    char expected[64] = "";
    int index = s && s->value[0] ? calc_choice_index(words, s->value) : 0;
    *out = index < 0 ? 0 : index;
    return index < 0 ? wrong_value(r, s, 0, calc_append_choices(expected, sizeof expected, words))
                     : CALC_OK;
}

/* Number of GPUs in a name: "..._2nodes_8gpus_per_node_..." gives 16; 0 if the name has none. */
static int64_t world_of_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    long long nodes, gpus;
    for (const char *at = slash ? slash : name; (at = strchr(at, '_')) != NULL; at++) {
        int used = 0;
        char *end;
        nodes = strtoll(at + 1, &end, 10);
        if (end == at + 1 || strncmp(end, "nodes_", 6) != 0) {
            continue;
        }
        gpus = strtoll(end + 6, &end, 10);
        used = strncmp(end, "gpus_per_node", 13) == 0;
        if (used && nodes > 0 && gpus > 0 && nodes <= DEGREE_MAX && gpus <= DEGREE_MAX) {
            return nodes * gpus;
        }
    }
    return 0;
}

static calc_status read_world(const reader *r, int64_t given)
{
    int64_t world = 0;
    calc_status status = count_of(r, "world_size", 1, DEGREE_MAX, 0, &world);
    if (status == CALC_OK && given == 0 && world == 0) {
        given = world_of_name(r->name);
        if (given > DEGREE_MAX || given == 0) {
            return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0,
                                  "add it, or convert the file with calc import --procs N",
                                  "world_size is missing: how many GPUs there are");
        }
        calc_notes_add(r->notes, "no world_size: %jd GPUs, as the name of the file says", given);
    }
    r->out->world = (int)(given > 0 ? given : world);
    return status;
}

/* Sets data parallelism to the remaining ranks; false if there are none. */
static bool set_degrees(const reader *r, int degree, int cp, bool ulysses,
                        calc_galvatron_strategy *s)
{
    const calc_galvatron_layout *all = r->out;
    int64_t each = (int64_t)all->pp * degree * cp;
    s->pp = all->pp;
    s->tp = ulysses ? 1 : degree;
    s->sp = ulysses ? degree : 1;
    s->cp = cp;
    s->dp = all->world % each == 0 ? (int)(all->world / each) : 0;
    return s->dp > 0;
}

static calc_status refuse_degrees(const reader *r, const char *key, int number, int degree, int cp)
{
    return wrong(r, calc_settings_last(r->settings, key), 0, NULL,
                 CALC_TEXT(160, "%spp_deg %d * %d%s does not divide %d GPUs",
                           number > 0 ? CALC_TEXT(32, "layer %d: ", number) : "", r->out->pp,
                           degree, cp > 1 ? " * context parallelism" : "", r->out->world));
}

/* Reads a list, which has a number for each layer. */
static calc_status list_of(const reader *r, int what, int *out)
{
    const char *key = lists[what].key;
    const calc_setting *s = calc_settings_last(r->settings, key);
    int count, *layers = &r->out->layers;
    calc_status status = numbers_of(r, key, lists[what].lo, lists[what].hi, lists[what].absent < 0,
                                    CALC_GALVATRON_LAYERS, out, &count);
    *layers = what == DEGREE ? count : *layers;
    if (status == CALC_OK && count > 0 && count != *layers) {
        return wrong(r, s, 0, "a value for each layer",
                     CALC_TEXT(128, "%d values beside %d of tp_sizes_enc", count, *layers));
    }
    for (int i = 0; i < *layers && status == CALC_OK; i++) {
        out[i] = count > 0 ? out[i] : lists[what].absent;
        if (what >= EXPERTS && out[i] > 1) {
            return wrong(r, s, 0, NULL,
                         "experts of layers that differ are not read: all must be 1");
        }
    }
    return status;
}

static calc_status read_layers(const reader *r)
{
    calc_galvatron_layout *out = r->out;
    int(*of)[CALC_GALVATRON_LAYERS] = calc_make(LISTS, sizeof *of);
    calc_status status = CALC_OK;
    for (int what = 0; what < LISTS && !status; what++) {
        status = list_of(r, what, of[what]);
    }
    for (int i = 0; i < out->layers && !status; i++) {
        calc_galvatron_strategy *s = &out->layer[i];
        int degree = of[DEGREE][i], cp = of[CONTEXT][i];
        s->type = of[ZERO3][i] ? CALC_GALVATRON_ZERO3 : out->default_dp_type;
        s->checkpoint = of[CHECKPOINT][i];
        if (!set_degrees(r, degree, cp, of[ULYSSES][i] && degree > 1, s)) {
            status = refuse_degrees(r, lists[DEGREE].key, i + 1, degree, cp);
        }
        if (!of[NEIGHBOURS][i] && degree > 1) {
            calc_notes_add(r->notes,
                           "tp_consecutive_flags 0: ranks of a group are taken as neighbours");
        }
    }
    free(of);
    return status;
}

static calc_status read_ends(const reader *r)
{
    int64_t tp, sp, cp, zero3, searched;
    calc_status status = count_of(r, "vtp", 1, DEGREE_MAX, 1, &tp);
    status = status ? status : count_of(r, "vsp", 0, 1, 0, &sp);
    status = status ? status : count_of(r, "vcp", 1, DEGREE_MAX, 1, &cp);
    status = status ? status : count_of(r, "embed_sdp", 0, 1, 0, &searched);
    status = status ? status : count_of(r, "vocab_sdp", 0, 1, searched, &zero3);
    if (status) {
        return status;
    }
    bool said = calc_settings_last(r->settings, "vocab_sdp") != NULL;
    if (!said && searched) {
        calc_notes_add(r->notes, "embed_sdp 1 is taken as meant: Galvatron's training reads "
                                 "vocab_sdp, which is missing, and would not shard embedding "
                                 "and head");
    } else if (said && zero3 != searched && calc_settings_last(r->settings, "embed_sdp")) {
        calc_notes_add(r->notes, "vocab_sdp and embed_sdp differ: vocab_sdp counts");
    }
    r->out->ends.type = zero3 ? CALC_GALVATRON_ZERO3 : r->out->default_dp_type;
    return set_degrees(r, (int)tp, (int)cp, sp && tp > 1, &r->out->ends)
               ? CALC_OK
               : refuse_degrees(r, calc_settings_last(r->settings, "vtp") ? "vtp" : "vcp", 0,
                                (int)tp, (int)cp);
}

static calc_status read_division(const reader *r)
{
    calc_galvatron_layout *out = r->out;
    const calc_setting *s = calc_settings_last(r->settings, "pp_division");
    char text[128];
    if (out->layers < out->pp) {
        snprintf(text, sizeof text, "%d stages are more than %d layers", out->pp, out->layers);
        return wrong(r, calc_settings_last(r->settings, "pp_deg"), 0, NULL, text);
    }
    calc_galvatron_layout_divide(out);
    if (!s || !s->value[0]) {
        return CALC_OK;
    }
    int of[CALC_GALVATRON_LAYERS] = {0}, count;
    calc_status status = numbers_of(r, "pp_division", 1, CALC_GALVATRON_LAYERS, true,
                                    CALC_GALVATRON_LAYERS, of, &count);
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += of[i];
    }
    if (!status && (count != out->pp || sum != out->layers)) {
        snprintf(text, sizeof text, "%d stages with %jd layers, not %d with %d", count, sum,
                 out->pp, out->layers);
        status = wrong(r, s, 0, NULL, text);
    }
    for (int i = 0; i < out->pp && !status; i++) {
        out->division[i] = of[i];
    }
    return status;
}

static calc_status read_all(const reader *r, int64_t world)
{
    int64_t pp;
    int schedule, type;
    calc_status status = count_of(r, "pp_deg", 1, CALC_GALVATRON_STAGES, -1, &pp);
    status = status ? status : read_world(r, world);
    status = status ? status : count_of(r, "global_bsz", 1, COUNT_MAX, -1, &r->out->gbsz);
    status = status ? status : count_of(r, "chunks", 1, COUNT_MAX, -1, &r->out->chunks);
    status =
        status ? status : word_of(r, "pipeline_type", calc_galvatron_schedule_words, &schedule);
    status = status ? status : word_of(r, "default_dp_type", dp_types, &type);
    if (status) {
        return status;
    }
    r->out->pp = (int)pp;
    r->out->pipeline_type = (calc_galvatron_schedule)schedule;
    r->out->default_dp_type = (calc_galvatron_dp)type;
    status = read_layers(r);
    status = status ? status : read_ends(r);
    return status ? status : read_division(r);
}

calc_status calc_galvatron_layout_read(calc_galvatron_layout *out, const char *text, size_t length,
                                       const char *name, int64_t world, calc_notes *notes,
                                       calc_errors *errors)
{
    calc_settings settings = {0};
    const reader r = {&settings, text, name, length, notes, errors, out};
    memset(out, 0, sizeof *out);
    calc_status status =
        calc_settings_from_text(&settings, CALC_SYNTAX_JSON, text, length, name, errors);
    status = status ? status : read_all(&r, world);
    calc_settings_free(&settings);
    return status;
}

calc_status calc_galvatron_layout_is(const char *text, size_t length)
{
    calc_settings settings = {0};
    calc_status status =
        calc_settings_from_text(&settings, CALC_SYNTAX_JSON, text, length, "", NULL);
    bool is = status == CALC_OK && calc_settings_last(&settings, "pp_deg") &&
              calc_settings_last(&settings, "tp_sizes_enc");
    calc_settings_free(&settings);
    return is || status == CALC_ERR_NOMEM ? status : CALC_ERR_UNSUPPORTED;
}
