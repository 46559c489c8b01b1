/* calc_resolve(): the value of "auto", given the other fields of a layout. */
#include "calc.h"
#include "model/operators/shape.h"
#include "model/stages/stages.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/layer_list.h"
#include "spec/rules.h"
#include "spec/serving_engine.h"
#include "spec/software.h"
#include "spec/stage_list.h"

typedef struct layout {
    const calc_app *app;
    const calc_system *system;
    calc_exec *exec;
} layout;

static bool is_legal(const layout *l)
{
    calc_errors errors = {0};
    return calc_check(l->app, l->system, l->exec, &errors) == CALC_OK;
}

/* The row of a field that says "auto", which it then no longer does; NULL if it does not. */
static const calc_field *take(const layout *l, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
    uint32_t bit = calc_automatic_bit(field);
    bool automatic = l->exec->automatic & bit;
    l->exec->automatic &= ~bit;
    return automatic ? field : NULL;
}

/* Processors and replicas follow from each other; if neither is given, there is one replica. */
static void resolve_sizes(const layout *l)
{
    calc_exec *e = l->exec;
    int64_t ranks =
        e->strategy.tensor_par * e->pipeline_par * calc_ranks_or_one(e->strategy.context_par);
    if (take(l, "num_procs")) {
        take(l, "data_par");
        e->num_procs = e->strategy.data_par * ranks;
    } else if (take(l, "data_par") && e->num_procs >= ranks) {
        e->strategy.data_par = e->num_procs / ranks;
    }
}

/* The wanted value of a field, if it says "auto" and the value is legal. */
static void resolve_choice(const layout *l, const char *key, int wanted)
{
    const calc_field *field = take(l, key);
    if (!field) {
        return;
    }
    const calc_exec before = *l->exec;
    char *member = (char *)l->exec + field->offset;
    if (field->type == CALC_TYPE_BOOL) {
        *(bool *)member = wanted;
    } else {
        *(int *)(void *)member = wanted;
    }
    if (!is_legal(l)) {
        *l->exec = before;
    }
}

/* What the software wishes: in the order of the table each field that is legal beside those before
 * it, again as long as that adds one. */
static void resolve_software(const layout *l, const calc_exec *wanted)
{
    calc_exec_rows open = wanted->wished;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < calc_table_of(CALC_KIND_EXEC)->count; i++) {
            if (!calc_exec_rows_has(&open, i)) {
                continue;
            }
            const calc_exec before = *l->exec;
            calc_software_copy(l->exec, wanted, i);
            if (is_legal(l)) {
                open.bits[i / 64] &= ~(UINT64_C(1) << i % 64);
                more = true;
            } else {
                *l->exec = before;
            }
        }
    }
    for (size_t i = 0; i < sizeof open.bits / sizeof *open.bits; i++) {
        l->exec->stated.bits[i] |= wanted->wished.bits[i];
    }
}

/* What a layout that serves leaves out about its experts is what programs do: ranks that split all
 * layers share the experts, too, and have all tokens, unless the layout says how they are sent. */
static void resolve_served(const layout *l)
{
    calc_strategy *s = &l->exec->strategy;
    int64_t expert_par = calc_ranks_or_one(s->expert_par);
    bool open = take(l, "tensor_par_comm_type") != NULL;
    if (l->app->num_experts == 0 || s->tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR) {
        return;
    }
    bool sent = s->dispatch_type != CALC_DISPATCH_TYPE_ALL_TO_ALL &&
                s->dispatch_type != CALC_DISPATCH_TYPE_REPLICATED;
    bool scattered = s->tensor_par > 1 && expert_par > 1;
    if (s->expert_tensor_par == 0 && s->tensor_par > 1 && s->tensor_par % expert_par == 0 &&
        !(sent && scattered)) {
        s->expert_tensor_par = s->tensor_par / expert_par;
    }
    if (!sent && calc_serving_engine_replicates(s)) {
        s->dispatch_type = CALC_DISPATCH_TYPE_REPLICATED;
    } else if (open && scattered) {
        s->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    }
}

/* Chunks of as few blocks as can be: most published pipelines have one block in each. */
static void resolve_interleaving(const layout *l)
{
    calc_exec *e = l->exec;
    if (!take(l, "pipeline_interleaving") || !is_legal(l)) {
        return;
    }
    calc_shape shape = calc_shape_of(l->app, &e->strategy, e->microbatch_size, e->seq_size);
    for (e->pipeline_interleaving = calc_stages_chunks_limit(l->app, e);
         e->pipeline_interleaving > 1; e->pipeline_interleaving--) {
        if (is_legal(l) && calc_stages_split(&shape, e, CALC_COMPAT_NONE).fit) {
            return;
        }
    }
}

/* ---- Stages that are listed and all alike ---------------------------------------------------- */

/* Recomputation of a run of chunks, with a number of chunks per stage: the execution has it per
 * stage. */
static calc_exec stage_of(const calc_exec *exec, const calc_stage_run *run, int64_t chunks)
{
    calc_exec e = calc_stage_list_exec(exec, run);
    if (run->recompute_blocks != CALC_STAGE_AS_EXEC) {
        e.recompute_blocks *= chunks;
    }
    bool all = run->blocks != CALC_STAGE_AS_EXEC && e.recompute_blocks >= run->blocks * chunks;
    e.recompute_blocks = all ? 0 : e.recompute_blocks;
    return e;
}

/* Whether all runs are on the processors of the run, and recompute the same. */
static bool runs_agree(const layout *l, const calc_exec *plain, int64_t chunks)
{
    const calc_stage_list *list = &l->exec->stages;
    bool same = true;
    for (int32_t i = 0; i < list->count; i++) {
        const calc_stage_run *run = &list->run[i];
        calc_exec e = stage_of(l->exec, run, chunks);
        same = same && calc_stage_list_system(l->system, l->exec, run) == l->system &&
               e.strategy.activation_recompute == plain->strategy.activation_recompute &&
               e.strategy.recompute_modules == plain->strategy.recompute_modules &&
               e.recompute_blocks == plain->recompute_blocks;
    }
    return same;
}

/* Whether an execution without a list gives every place the blocks of the list. */
static bool splits_as(const layout *l, const calc_exec *plain, const calc_stage_run *place,
                      int64_t places)
{
    calc_shape shape =
        calc_shape_of(l->app, &plain->strategy, plain->microbatch_size, plain->seq_size);
    calc_stages stages = calc_stages_split(&shape, plain, CALC_COMPAT_NONE);
    int64_t chunks = places / plain->pipeline_par;
    size_t class = 0;
    double dense = shape.blocks - shape.moe_blocks;
    bool spread = dense > place[0].blocks && dense < shape.blocks; /* which a list tells better */
    bool same = stages.fit && (!spread || calc_shape_alternating(&shape) > 0);
    for (int64_t i = 0; i < places; i++) {
        double stage = (double)(i % plain->pipeline_par);
        class = stage == 0 ? 0 : class;
        while (class + 1 < stages.count && stages.item[class + 1].position <= stage) {
            class ++;
        }
        const calc_stage_class *c = &stages.item[class];
        same = same && place[i].blocks == (c->dense + c->moe) / (double)chunks;
    }
    return same;
}

/* A list says nothing if the execution says the same without it, or with the blocks of the first
 * and the last stage: then there is none. */
static void resolve_stages(const layout *l)
{
    calc_stage_run place[CALC_MAX_PLACES];
    calc_exec *e = l->exec;
    int64_t places = calc_stage_list_places(&e->stages);
    bool whole = places == e->pipeline_par || places == e->pipeline_par * e->pipeline_interleaving;
    if (e->stages.count == 0 || !whole || places > CALC_MAX_PLACES ||
        e->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return;
    }
    for (int32_t i = 0; i < e->stages.chips; i++) {
        if (!e->stages.system[i]) {
            return;
        }
    }
    int64_t chunks = places / e->pipeline_par;
    calc_exec plain = stage_of(e, &e->stages.run[0], chunks);
    calc_exec ends = plain;
    calc_stage_list_expand(&e->stages, place);
    /* Blocks beside those that recompute in full gather again; without a list they do not. */
    bool some =
        plain.recompute_blocks > 0 && plain.strategy.seq_par_ag_redo != e->strategy.seq_par_ag_redo;
    if (some || !is_legal(l) || !runs_agree(l, &plain, chunks)) {
        return;
    }
    ends.first_stage_blocks = chunks * place[0].blocks;
    ends.last_stage_blocks = e->pipeline_par > 1 ? chunks * place[places - 1].blocks : 0;
    if (place[0].blocks == CALC_STAGE_AS_EXEC || splits_as(l, &plain, place, places)) {
        *e = plain;
    } else if (e->pipeline_par > 1 && splits_as(l, &ends, place, places)) {
        *e = ends;
    }
}

/* ---- Layers that are listed and all alike ---------------------------------------------------- */

/* Whether layers of a strategy recompute, by run: where they are otherwise as `plain`, which does.
 * @return false if there are others */
static bool recompute_only(const calc_exec *e, const calc_exec *plain,
                           bool again[CALC_MAX_LAYER_RUNS])
{
    const calc_layer_list *list = &e->layers;
    calc_exec none = *plain;
    none.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    none.strategy.recompute_modules = 0;
    for (int32_t i = 0; i < list->count; i++) {
        calc_exec run = calc_layer_list_exec(e, &list->run[i].strategy);
        again[i] = calc_layer_list_same(&run, plain);
        if (!again[i] && !calc_layer_list_same(&run, &none)) {
            return false;
        }
    }
    return true;
}

/* How many blocks of a stage recompute, if those are its first ones; else -1.
 * @param run, left  where the stage begins in the list, moved behind it */
static int64_t first_blocks(const calc_layer_list *list, const bool *again, int64_t blocks,
                            int32_t *run, int64_t *left)
{
    int64_t first = 0;
    bool more = true;
    for (int64_t i = 0; i < blocks && *run < list->count; i++) {
        bool mine = again[*run];
        if (mine && !more) {
            return -1;
        }
        more = mine;
        first += mine;
        if (--*left == 0) {
            ++*run;
            *left = *run < list->count ? list->run[*run].blocks : 0;
        }
    }
    return first;
}

/* The first blocks of every stage that recompute, as many of each, or all that it has; 0 if it is
 * not so. */
static int64_t recomputed_first(const layout *l, const calc_exec *plain, const bool *again)
{
    const calc_layer_list *list = &l->exec->layers;
    calc_shape shape =
        calc_shape_of(l->app, &plain->strategy, plain->microbatch_size, plain->seq_size);
    calc_stages stages = calc_stages_split(&shape, plain, CALC_COMPAT_NONE);
    int64_t most = 0;
    for (int pass = 0; pass < 2; pass++) {
        int32_t run = 0;
        int64_t left = list->run[0].blocks;
        for (size_t i = 0; i < stages.count; i++) {
            int64_t blocks = (int64_t)(stages.item[i].dense + stages.item[i].moe);
            for (int64_t n = (int64_t)stages.item[i].stages; n > 0; n--) {
                int64_t first = first_blocks(list, again, blocks, &run, &left);
                if (first < 0 || (pass == 1 && first != (most < blocks ? most : blocks))) {
                    return 0;
                }
                most = first > most ? first : most;
            }
        }
    }
    return stages.fit ? most : 0;
}

/* Layers that differ in whether they recompute only, so that recompute_blocks says it. Those beside
 * others that recompute in full gather again if they may, which that does not say. */
static void resolve_recomputation(const layout *l)
{
    calc_exec *e = l->exec;
    const calc_layer_list *list = &e->layers;
    bool again[CALC_MAX_LAYER_RUNS];
    calc_exec plain = calc_layer_list_exec(e, &list->run[0].strategy);
    bool some = plain.strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE &&
                plain.strategy.seq_par_ag_redo == e->strategy.seq_par_ag_redo;
    calc_layer_strategy ends = list->ends;
    ends.recompute = list->run[0].strategy.recompute;
    ends.modules = list->run[0].strategy.modules;
    calc_exec end = calc_layer_list_exec(e, &ends);
    if (!some || e->stages.count > 0 || e->pipeline_interleaving > 1 || l->app->mtp_blocks > 0 ||
        !calc_layer_list_same(&end, &plain) || !recompute_only(e, &plain, again)) {
        return;
    }
    plain.recompute_blocks = recomputed_first(l, &plain, again);
    if (plain.recompute_blocks > 0) {
        *e = plain;
    }
}

/* A list says nothing if all layers and both ends come to the same: then there is none. */
static void resolve_layers(const layout *l)
{
    calc_exec *e = l->exec;
    const calc_layer_list *list = &e->layers;
    if (list->count == 0 || !is_legal(l)) {
        return;
    }
    bool ends = l->app->vocab_size > 0 || l->app->mtp_blocks > 0;
    const calc_layer_strategy embedding = calc_layer_list_end(l->app, list, false);
    const calc_layer_strategy head = calc_layer_list_end(l->app, list, true);
    calc_exec plain = calc_layer_list_exec(e, ends ? &embedding : &list->run[0].strategy);
    calc_exec end = calc_layer_list_exec(e, ends ? &head : &list->run[0].strategy);
    bool same = calc_layer_list_same(&plain, &end);
    for (int32_t i = 0; i < list->count; i++) {
        calc_exec run = calc_layer_list_exec(e, &list->run[i].strategy);
        same = same && calc_layer_list_same(&plain, &run);
    }
    if (same) {
        *e = plain;
    } else {
        resolve_recomputation(l);
    }
}

void calc_resolve(const calc_app *app, const calc_system *system, calc_exec *exec)
{
    const layout l = {app, system, exec};
    int only = calc_stage_list_only(&exec->stages);
    const calc_system *own = only > 0 ? exec->stages.system[only - 1] : NULL;
    if (own && calc_same(calc_table_of(CALC_KIND_SYSTEM), own, system)) {
        exec->stages = (calc_stage_list){0}; /* it is on its system */
    }
    calc_checkpoint_formats_take(app, system, exec);
    const calc_exec wanted = *exec;
    calc_software_take(exec);
    resolve_sizes(&l);
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        resolve_served(&l);
    }
    if (exec->automatic != 0) {
        resolve_choice(&l, "tensor_par_comm_type", CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
        resolve_choice(&l, "tensor_par_overlap", CALC_TENSOR_PAR_OVERLAP_ASYNC);
        resolve_choice(&l, "seq_par_ag_redo", true);
        resolve_choice(&l, "optimizer_sharding", true);
        resolve_choice(&l, "data_par_overlap", true);
        resolve_choice(&l, "pipeline_par_overlap", true);
        resolve_interleaving(&l);
    }
    resolve_software(&l, &wanted);
    resolve_layers(&l);
    resolve_stages(&l);
}
