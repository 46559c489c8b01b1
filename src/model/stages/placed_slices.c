/* Sums over the parts of a stage: passes, memory, state, reduction. */
#include "model/operators/processor.h"
#include "model/stages/placed_layers.h"

calc_stage_pass calc_placed_layers_pass(const calc_placed *p, const calc_placed_chunk *c)
{
    static const calc_stage_links none = {0};
    calc_stage_pass sum = {.fw_s = c->reshard.fw_s, .agrad_s = c->reshard.bw_s};
    for (int i = c->part; i < c->part + c->parts; i++) {
        const calc_placed_part *part = &p->part[i];
        const calc_stage_class class = {.stages = 1,
                                        .dense = part->dense,
                                        .moe = part->moe,
                                        .first = part->first,
                                        .last = part->last};
        calc_stage_pass x = calc_stage_pass_of(&p->recipe[part->recipe].terms, &none, &class, 1, 0);
        sum.fw_s += x.fw_s;
        sum.agrad_s += x.agrad_s;
        sum.wgrad_s += x.wgrad_s;
    }
    return sum;
}

double calc_placed_layers_bytes(const calc_placed *p, const calc_placed_chunk *c)
{
    double bytes = 0;
    for (int i = c->part; i < c->part + c->parts; i++) {
        const calc_placed_part *part = &p->part[i];
        const calc_stage_part *block = p->recipe[part->recipe].terms.block;
        bytes += part->dense * block[0].kept_bytes + part->moe * block[1].kept_bytes;
    }
    return bytes;
}

/* Memory of a slice for the current block and the next one, gathered or not yet scattered. */
static double passing_state(const calc_placed_stage *slice, const calc_stage_weights *w)
{
    const calc_stage_terms *t = &slice->terms;
    double blocks = calc_max(1, slice->class.dense + slice->class.moe);
    return (t->gathered_ahead + t->whole_block_bytes) * ((w->dense + w->expert) / blocks);
}

/* The framework's memory depends on the shapes of weights: the maximum over slices that split them
 * alike; a slice of ends has the head's only. */
static double framework_bytes(const calc_placed *p, const calc_placed_stage *at)
{
    double bytes = 0;
    int64_t stage = (int64_t)at->class.position;
    size_t count = calc_placed_slices(p, stage);
    calc_placed_stage slice, other;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &slice);
        bool seen = slice.class.dense + slice.class.moe <= 0;
        for (size_t k = 0; k < i && !seen; k++) {
            calc_placed_slice_of(p, stage, k, &other);
            seen = other.class.dense + other.class.moe > 0 &&
                   other.layout->shape.tensor_par == slice.layout->shape.tensor_par;
        }
        double blocks = slice.terms.framework_bytes[slice.class.dense > 0][slice.class.moe > 0];
        bytes += (seen ? 0 : blocks) + slice.class.last * slice.terms.framework_head_bytes;
    }
    return bytes;
}

calc_stage_memory calc_placed_layers_memory(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    size_t count = calc_placed_slices(p, stage);
    calc_stage_memory sum = {0};
    calc_placed_stage slice;
    double passing = 0;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &slice);
        calc_stage_weights w = calc_stage_weights_sum(&slice.terms, &slice.class);
        calc_stage_memory m = calc_stage_memory_sum(&slice.terms, &slice.class, &w,
                                                    p->exec->pipeline_schedule, (double)p->chunks);
        double mine = passing_state(&slice, &w);
        sum.state += m.state - mine;
        passing = calc_max(passing, mine);
        sum.activation += m.activation;
        sum.working = calc_max(sum.working, m.working);
        sum.in_flight = m.in_flight;
    }
    sum.state += passing;
    sum.ends = calc_max(0, at->class.last * at->terms.head.kept_bytes - sum.working) +
               calc_stage_deferred_bytes(&at->terms, &at->class);
    sum.framework = framework_bytes(p, at);
    sum.total = sum.state + sum.activation + sum.working + sum.ends + sum.framework;
    return sum;
}

calc_stage_state calc_placed_layers_state(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    size_t count = calc_placed_slices(p, stage);
    calc_stage_state sum = {0};
    calc_placed_stage slice;
    double most = 0;
    double ahead = 0;
    double whole = 0;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &slice);
        const calc_layout *l = slice.layout;
        calc_stage_weights w = calc_stage_weights_sum(&slice.terms, &slice.class);
        calc_stage_state s = calc_stage_state_of(&l->context, l->exec, &slice.terms, &slice.class);
        double held = (w.dense + w.expert) / calc_max(1, slice.class.dense + slice.class.moe);
        double passing = passing_state(&slice, &w);
        sum.weight += s.weight - slice.terms.gathered_ahead * held;
        sum.grad += s.grad - slice.terms.whole_block_bytes * held;
        sum.optimizer += s.optimizer;
        ahead = passing > most ? slice.terms.gathered_ahead * held : ahead;
        whole = passing > most ? slice.terms.whole_block_bytes * held : whole;
        most = calc_max(most, passing);
    }
    sum.weight += ahead;
    sum.grad += whole;
    return sum;
}

/* Exposed parts of a reduction that `each_s` of every micro-batch takes (zero_stage 2) and `once_s`
 * at the end: both behind the last micro-batch, the former alone behind the others. */
static double exposed_s(const calc_stage_terms *t, double once_s, double each_s, double pass_s,
                        double windows)
{
    double last_s = once_s + each_s;
    double window_s = pass_s * (once_s > 0 ? windows : 1);
    double others = calc_max(0, t->microbatches - 1);
    return calc_stage_exposed_s(t, last_s, window_s, CALC_STAGE_LAST_BUCKET * last_s) +
           others * calc_stage_exposed_s(t, each_s, pass_s, CALC_STAGE_LAST_BUCKET * each_s);
}

/* Whether the gradients of two slices go together: the same ranks reduce them. */
static bool reduce_together(const calc_placed_stage *a, const calc_placed_stage *b)
{
    const calc_strategy *s = &a->layout->exec->strategy;
    const calc_strategy *t = &b->layout->exec->strategy;
    return s->tensor_par == t->tensor_par && s->context_par == t->context_par &&
           s->expert_par == t->expert_par && calc_zero_stage(s) == calc_zero_stage(t);
}

/* Weights of a slice and of those that reduce with it; none, if an earlier one has them. */
static calc_stage_weights weights_with(const calc_placed *p, int64_t stage, size_t slice,
                                       const calc_placed_stage *at)
{
    calc_stage_weights sum = {0, 0};
    size_t count = calc_placed_slices(p, stage);
    calc_placed_stage other;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &other);
        bool together = reduce_together(at, &other);
        if (together && i < slice) {
            return (calc_stage_weights){0, 0};
        }
        calc_stage_weights w = calc_stage_weights_sum(&other.terms, &other.class);
        sum.dense += together ? w.dense : 0;
        sum.expert += together ? w.expert : 0;
    }
    return sum;
}

calc_stage_reduction calc_placed_layers_reduction(const calc_placed *p, const calc_placed_stage *at,
                                                  const calc_stage_pass *pass)
{
    const calc_stage_terms *t = &at->terms;
    int64_t stage = (int64_t)at->class.position;
    size_t count = calc_placed_slices(p, stage);
    calc_stage_reduction sum = {0};
    calc_placed_stage slice;
    double once_s = 0;
    double each_s = 0;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &slice);
        calc_stage_weights w = weights_with(p, stage, i, &slice);
        calc_stage_reduction r = calc_stage_reduction_sum(&slice.terms, &slice.links, &slice.class,
                                                          &w, pass, (double)p->chunks);
        bool each = calc_zero_stage(&slice.layout->exec->strategy) == 2;
        sum.reduce_s += r.reduce_s;
        sum.gather_s += r.gather_s;
        once_s += each ? 0 : r.reduce_s;
        each_s += each ? r.reduce_s / slice.terms.reductions : 0;
    }
    double round = calc_stage_min(t->stages, t->microbatches);
    bool several = p->chunks > 1 && p->stages > 1;
    double windows = several ? round * ((double)p->chunks - 1) / (double)p->chunks : 1;
    sum.reduce_beside_s = exposed_s(t, once_s, each_s, pass->agrad_s + pass->wgrad_s, windows);
    sum.gather_beside_s = calc_stage_exposed_s(t, sum.gather_s, pass->fw_s * windows,
                                               CALC_STAGE_LAST_BUCKET * sum.gather_s);
    return sum;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* Recipes of a stage, in the order of the model. */
static size_t recipes_of(const calc_placed *p, int64_t stage, int recipe[CALC_MAX_RECIPES])
{
    size_t count = 0;
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + stage];
        for (int i = c->part; i < c->part + c->parts; i++) {
            size_t n = 0;
            while (n < count && recipe[n] != p->part[i].recipe) {
                n++;
            }
            if (n == count) {
                recipe[count++] = p->part[i].recipe;
            }
        }
    }
    return count;
}

size_t calc_placed_slices(const calc_placed *p, int64_t stage)
{
    int recipe[CALC_MAX_RECIPES];
    return p->layered ? recipes_of(p, stage, recipe) : 1;
}

void calc_placed_slice_of(const calc_placed *p, int64_t stage, size_t slice, calc_placed_stage *out)
{
    int recipe[CALC_MAX_RECIPES] = {0};
    if (!p->layered) {
        calc_placed_stage_of(p, stage, out);
        return;
    }
    recipes_of(p, stage, recipe);
    const calc_layout *l = &p->recipe[recipe[slice]];
    out->layout = l;
    out->terms = l->terms;
    out->links = l->links;
    out->links.message_s = out->links.back_message_s = 0;
    out->class = (calc_stage_class){.stages = 1, .position = (double)stage};
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + stage];
        for (int i = c->part; i < c->part + c->parts; i++) {
            const calc_placed_part *part = &p->part[i];
            bool mine = part->recipe == recipe[slice];
            out->class.dense += mine ? part->dense : 0;
            out->class.moe += mine ? part->moe : 0;
            out->class.first += mine ? part->first : 0;
            out->class.last += mine ? part->last : 0;
        }
    }
    out->links.tied_s *= out->class.first + out->class.last > 0;
}
