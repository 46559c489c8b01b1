#include "spec/layer_list.h"

#include "spec/rules.h"

const calc_layer_strategy calc_layer_as_exec = {.tensor_par = CALC_LAYER_AS_EXEC,
                                                .context_par = CALC_LAYER_AS_EXEC,
                                                .expert_par = CALC_LAYER_AS_EXEC,
                                                .context_par_type = CALC_LAYER_AS_EXEC,
                                                .zero_stage = CALC_LAYER_AS_EXEC,
                                                .recompute = CALC_LAYER_AS_EXEC,
                                                .modules = 0};

static int64_t size_of(int64_t par)
{
    return par > 1 ? par : 1;
}

/* ZeRO stage: zero_stage, or if that is absent as optimizer_sharding says. */
static int64_t zero_of(const calc_strategy *s)
{
    return s->zero_stage > 0 ? s->zero_stage : s->optimizer_sharding;
}

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
    return a->tensor_par == b->tensor_par && a->context_par == b->context_par &&
           a->expert_par == b->expert_par && a->context_par_type == b->context_par_type &&
           a->zero_stage == b->zero_stage && a->recompute == b->recompute &&
           a->modules == b->modules;
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
    return s->tensor_par * size_of(s->context_par) * s->data_par;
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
    s->data_par = calc_layer_list_ranks(exec) / (s->tensor_par * size_of(s->context_par));
    s->data_par = size_of(s->data_par);
    e->microbatch_size = size_of(calc_layer_list_sequences(exec) / s->data_par);
}

calc_exec calc_layer_list_exec(const calc_exec *exec, const calc_layer_strategy *layer)
{
    calc_exec e = *exec;
    calc_strategy *s = &e.strategy;
    e.layers = (calc_layer_list){0};
    set_sizes(exec, layer, &e);
    int64_t zero = layer->zero_stage < 0 ? zero_of(s) : layer->zero_stage;
    if (zero != zero_of(s)) {
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
    if (s->data_par * size_of(s->context_par) == 1) {
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
    return s->tensor_par == t->tensor_par && size_of(s->context_par) == size_of(t->context_par) &&
           s->data_par == t->data_par && a->microbatch_size == b->microbatch_size &&
           size_of(s->expert_par) == size_of(t->expert_par) &&
           (size_of(s->context_par) == 1 || s->context_par_type == t->context_par_type) &&
           zero_of(s) == zero_of(t) && s->activation_recompute == t->activation_recompute &&
           s->recompute_modules == t->recompute_modules &&
           s->seq_par_ag_redo == t->seq_par_ag_redo &&
           s->tensor_par_overlap == t->tensor_par_overlap &&
           s->data_par_overlap == t->data_par_overlap;
}
