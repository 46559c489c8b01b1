#include "spec/layer_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/schedule.h"
#include "spec/stage_list.h"

const calc_layer_strategy calc_layer_as_exec = CALC_LAYER_STRATEGY_AS_EXEC;
_Static_assert(sizeof(calc_layer_strategy) == 7 * sizeof(int16_t), "compared as bytes");

int64_t calc_layer_list_blocks(const calc_layer_list *list)
{
    int64_t blocks = 0;
    for (int32_t i = 0; i < list->count; i++) {
        blocks += list->run[i].blocks;
    }
    return blocks;
}

bool calc_layer_list_alike(const calc_layer_strategy *a, const calc_layer_strategy *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* all members are of one size */
}

bool calc_layer_list_pack(const calc_layer_run *run, int64_t count, calc_layer_list *list)
{
    list->count = 0;
    for (int64_t i = 0; i < count; i++) {
        calc_layer_run *last = &list->run[list->count > 0 ? list->count - 1 : 0];
        if (list->count > 0 && calc_layer_list_alike(&last->strategy, &run[i].strategy) &&
            last->blocks + run[i].blocks <= CALC_MAX_RUN_BLOCKS) {
            last->blocks = (int16_t)(last->blocks + run[i].blocks);
        } else if (list->count == CALC_MAX_LAYER_RUNS) {
            return false;
        } else {
            list->run[list->count++] = run[i];
        }
    }
    return true;
}

int64_t calc_layer_list_ranks(const calc_exec *exec)
{
    const calc_strategy *s = &exec->strategy;
    return s->tensor_par * calc_ranks_or_one(s->context_par) * s->data_par;
}

int64_t calc_layer_list_sequences(const calc_exec *exec)
{
    return exec->microbatch_size * exec->strategy.data_par;
}

static void set_sizes(const calc_exec *exec, const calc_layer_strategy *layer, calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    s->tensor_par = layer->tensor_par > 0 ? layer->tensor_par : s->tensor_par;
    s->context_par = layer->context_par != CALC_LAYER_AS_EXEC ? layer->context_par : s->context_par;
    s->expert_par = layer->expert_par != CALC_LAYER_AS_EXEC ? layer->expert_par : s->expert_par;
    if (layer->context_par_type != CALC_LAYER_AS_EXEC) {
        s->context_par_type = (calc_context_par_type)layer->context_par_type;
    }
    s->data_par = calc_layer_list_ranks(exec) / (s->tensor_par * calc_ranks_or_one(s->context_par));
    s->data_par = calc_ranks_or_one(s->data_par);
    e->microbatch_size = calc_ranks_or_one(calc_layer_list_sequences(exec) / s->data_par);
}

calc_exec calc_layer_list_exec(const calc_exec *exec, const calc_layer_strategy *layer)
{
    calc_exec e = *exec;
    calc_strategy *s = &e.strategy;
    e.layers = (calc_layer_list){0};
    set_sizes(exec, layer, &e);
    int64_t zero = layer->zero_stage < 0 ? calc_zero_stage(s) : layer->zero_stage;
    if (zero != calc_zero_stage(s)) {
        s->zero_stage = zero;
        s->optimizer_sharding = zero > 0;
    }
    if (layer->recompute != CALC_LAYER_AS_EXEC) {
        s->activation_recompute = (calc_activation_recompute)layer->recompute;
        s->recompute_modules = layer->modules;
    }
    s->seq_par_ag_redo = s->seq_par_ag_redo && !calc_recomputes_block(s);
    if (s->tensor_par == 1) {
        s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    }
    if (s->data_par * calc_ranks_or_one(s->context_par) == 1) {
        s->zero_stage = 0;
        s->optimizer_sharding = false;
        s->data_par_overlap = false;
    }
    return e;
}

calc_layer_strategy calc_layer_list_end(const calc_app *app, const calc_layer_list *list, bool head)
{
    calc_layer_strategy s = list->ends;
    const calc_layer_strategy *beside = &list->run[head ? list->count - 1 : 0].strategy;
    if (app->mtp_blocks == 0) {
        s.recompute = beside->recompute;
        s.modules = beside->modules;
    }
    return s;
}

bool calc_layer_list_same(const calc_exec *a, const calc_exec *b)
{
    const calc_strategy *s = &a->strategy;
    const calc_strategy *t = &b->strategy;
    return s->tensor_par == t->tensor_par &&
           calc_ranks_or_one(s->context_par) == calc_ranks_or_one(t->context_par) &&
           s->data_par == t->data_par && a->microbatch_size == b->microbatch_size &&
           calc_ranks_or_one(s->expert_par) == calc_ranks_or_one(t->expert_par) &&
           (calc_ranks_or_one(s->context_par) == 1 || s->context_par_type == t->context_par_type) &&
           calc_zero_stage(s) == calc_zero_stage(t) &&
           s->activation_recompute == t->activation_recompute &&
           s->recompute_modules == t->recompute_modules &&
           s->seq_par_ag_redo == t->seq_par_ag_redo &&
           s->tensor_par_overlap == t->tensor_par_overlap &&
           s->data_par_overlap == t->data_par_overlap;
}

typedef struct rules {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_errors *errors;
} rules;

#define BROKEN(r, hint, ...)                                                                       \
    calc_errors_add((r)->errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/layers", hint, __VA_ARGS__)
#define RULE(broken, ...) CALC_RULE(broken, BROKEN(__VA_ARGS__))

static void check_beside(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_strategy *s = &e->strategy;
    RULE(e->inference.phase != CALC_INFERENCE_PHASE_NONE, r, "leave the list out",
         "layers are listed for training, not for serving");
    RULE(calc_schedule_traits_of(e->pipeline_schedule).both_ends, r,
         "use \"1f1b\", \"gpipe\", \"zb_h1\" or \"zb_h2\"",
         "with pipeline_schedule \"%s\" a stage has both ends of the model: its layers are "
         "not listed",
         calc_pipeline_schedule_names[e->pipeline_schedule]);
    RULE(s->weight_offload || s->activations_offload || s->optimizer_offload || s->offload_modules,
         r,
         "leave weight_offload, activations_offload, optimizer_offload and offload_modules "
         "out",
         "layers that are listed keep nothing in tier 2");
    RULE(e->training && s->trained_blocks > 0, r, "leave the list out, or trained_blocks",
         "that some of the layers that are listed are frozen is not modelled");
    RULE(e->recompute_blocks > 0, r, "leave recompute_blocks out",
         "which layers recompute is what their list says");
    bool recomputing = false;
    for (int32_t i = 0; i < e->stages.count; i++) {
        const calc_stage_run *run = &e->stages.run[i];
        recomputing = recomputing || run->recompute != CALC_STAGE_AS_EXEC ||
                      run->recompute_blocks != CALC_STAGE_AS_EXEC || run->modules != 0;
    }
    RULE(recomputing, r, "leave it out of the list of stages",
         "which layers recompute is what their list says, not that of stages");
    RULE(e->pipeline_par * e->pipeline_interleaving > CALC_MAX_PLACES, r,
         "leave the list out, or lower pipeline_par or pipeline_interleaving",
         "layers are listed on at most %d stages and chunks, not %lld", CALC_MAX_PLACES,
         (long long)(e->pipeline_par * e->pipeline_interleaving));
    RULE(e->pipeline_balance == CALC_PIPELINE_BALANCE_FREE, r,
         "use \"blocks\" or \"ends\", or list the stages, too",
         "with pipeline_balance \"free\" stages have parts of layers");
}

/* Which layers have a strategy, for people: "layers 20 to 31".
 * @param run  -1: the ends */
static void name_of(const rules *r, int32_t run, char name[64])
{
    int64_t first = 0;
    for (int32_t i = 0; i < run; i++) {
        first += r->exec->layers.run[i].blocks;
    }
    int64_t last = run < 0 ? 0 : first + r->exec->layers.run[run].blocks - 1;
    if (run < 0) {
        snprintf(name, 64, "ends");
    } else if (first == last) {
        snprintf(name, 64, "layer %lld", (long long)first);
    } else {
        snprintf(name, 64, "layers %lld to %lld", (long long)first, (long long)last);
    }
}

/* Whether ranks and sequences divide evenly and the members of a strategy fit together; checked
 * also for layers that come to the same as others. */
static bool divides(rules *r, const calc_layer_strategy *layer, const char *name)
{
    calc_exec e = calc_layer_list_exec(r->exec, layer);
    int64_t ranks = calc_layer_list_ranks(r->exec);
    int64_t sequences = calc_layer_list_sequences(r->exec);
    int64_t context = calc_ranks_or_one(e.strategy.context_par);
    int64_t split = e.strategy.tensor_par * context;
    if (ranks % split != 0) {
        BROKEN(r, CALC_TEXT(224, "use a product that is %s", CALC_DIVISORS(ranks)),
               "%s: tensor_par * context_par = %lld does not divide the %lld ranks of a stage",
               name, (long long)split, (long long)ranks);
        return false;
    }
    if (sequences % e.strategy.data_par != 0) {
        int64_t least = e.strategy.data_par / calc_gcd(e.strategy.data_par, sequences);
        BROKEN(r,
               CALC_TEXT(96, "use microbatch_size %lld, or a larger tensor_par here",
                         (long long)(r->exec->microbatch_size * least)),
               "%s: data_par = %lld does not divide the %lld sequences of a micro-batch", name,
               (long long)e.strategy.data_par, (long long)sequences);
        return false;
    }
    if (r->exec->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP && r->exec->pipeline_par > 1 &&
        e.strategy.data_par != r->exec->strategy.data_par) {
        BROKEN(r, "use rank_order \"tp-cp-ep-dp-pp\"",
               "%s: with rank_order \"tp-cp-ep-pp-dp\" their split would decide which ranks a "
               "stage has",
               name);
        return false;
    }
    if (layer->modules != 0 && layer->recompute == CALC_LAYER_AS_EXEC) {
        BROKEN(r, "give their activation_recompute, too: \"modules\"",
               "%s: recompute_modules are of their own", name);
        return false;
    }
    if (layer->zero_stage > 0 && e.strategy.data_par * context == 1) {
        BROKEN(r, "use 0, or a smaller tensor_par", "%s: nothing to shard over with data_par = 1",
               name);
        return false;
    }
    return true;
}

/* Number of chips in the list of stages; 1 without a list. */
static int chips_of(const calc_exec *exec)
{
    bool seen[CALC_MAX_CHIPS + 1] = {false};
    int count = 0;
    for (int32_t i = 0; i < exec->stages.count; i++) {
        count += !seen[exec->stages.run[i].chip];
        seen[exec->stages.run[i].chip] = true;
    }
    return count > 1 ? count : 1;
}

static void check_strategies(rules *r)
{
    const calc_layer_list *list = &r->exec->layers;
    calc_exec seen[CALC_MAX_LAYER_RECIPES];
    int chips = chips_of(r->exec);
    int count = 0;
    for (int32_t i = 0; i < list->count + 2; i++) {
        bool is_end = i >= list->count;
        const calc_layer_strategy end = calc_layer_list_end(r->app, list, i > list->count);
        const calc_layer_strategy *layer = is_end ? &end : &list->run[i].strategy;
        calc_exec e = calc_layer_list_exec(r->exec, layer);
        int k = 0;
        char name[64];
        while (k < count && !calc_layer_list_same(&seen[k], &e)) {
            k++;
        }
        if (k == count && (count + 1) * chips > CALC_MAX_LAYER_RECIPES) {
            BROKEN(r, "let layers agree", "more than %d strategies%s",
                   CALC_MAX_LAYER_RECIPES / chips, chips > 1 ? " on several systems" : "");
            return;
        }
        name_of(r, is_end ? -1 : i, name);
        if (!divides(r, layer, name)) {
            return;
        }
        if (k < count) {
            continue;
        }
        /* With stages on several systems the first system is checked here, and each of them by the
         * rules of stages. */
        calc_errors found = {0};
        if (calc_check(r->app, r->system, &e, &found) != CALC_OK) {
            const calc_error *f = &found.item[0];
            BROKEN(r, f->hint, "%s: %s: %.200s", name, *f->pointer ? f->pointer + 1 : "", f->text);
            return;
        }
        seen[count++] = e;
    }
}

void calc_rules_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors)
{
    rules r = {.app = app, .system = system, .exec = exec, .errors = errors};
    int before = errors->count;
    int64_t sum = calc_layer_list_blocks(&exec->layers), all = app->num_blocks;
    check_beside(&r);
    RULE(sum != all, &r,
         CALC_TEXT(64, "%lld %s", (long long)llabs(sum - all),
                   sum > all ? "too many" : "are missing"),
         "%lld blocks are listed, the model has %lld", (long long)sum, (long long)all);
    if (errors->count == before) {
        check_strategies(&r);
    }
}
