/* Memory of a stage and the work after its passes; the pipeline of a list. */
#include <math.h>

#include "model/operators/processor.h"
#include "model/schedule/schedule_sim.h"
#include "model/stages/placed.h"

enum { WORKSPACE = 1 << 20 /* enough for CALC_MAX_PLACES, whatever the schedule */ };

/* ---- Memory ---------------------------------------------------------------------------------- */

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
    calc_placed_stage slice, other;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
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

/* States and activations of all slices, and the largest block being processed; chunks are treated
 * as equal. */
static calc_stage_memory layers_memory(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    calc_stage_memory sum = {0};
    calc_placed_stage slice;
    double passing = 0;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
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

static calc_stage_state layers_state(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    calc_stage_state sum = {0};
    calc_placed_stage slice;
    double most = 0;
    double ahead = 0;
    double whole = 0;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
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

/* The most that interleaved chunks hold at any time: a stage passes forward through rounds of as
 * many micro-batches as there are stages, a chunk each, and backward through them from the last one
 * (schedule_order.c). Where the first chunk holds more than others that is not before the first
 * backward pass. After it, a round of all chunks repeats.
 * @param bytes  of a micro-batch in each chunk */
static double most_bytes(const calc_placed *p, int64_t stage, int64_t microbatches,
                         const double bytes[CALC_MAX_PLACES])
{
    int64_t all = microbatches * p->chunks;
    int64_t warm = 2 * (p->stages - 1 - stage) + (p->chunks - 1) * p->stages;
    double sum = 0;
    double most = 0;
    for (int64_t i = 0; i < all && i <= warm + p->stages * p->chunks; i++) {
        sum += bytes[i / p->stages % p->chunks];
        most = calc_max(most, sum);
        sum -= i >= warm ? bytes[p->chunks - 1 - (i - warm) / p->stages % p->chunks] : 0;
    }
    return most;
}

/* Activations of interleaved chunks that differ. The head is counted as where chunks are alike,
 * with the mean of them, and so is everything where micro-batches do not fill whole rounds: such a
 * layout does not run.
 * @param in_flight  micro-batches, the mean */
static double interleaved_bytes(const calc_placed *p, const calc_placed_stage *at, double in_flight)
{
    const calc_stage_part *block = at->terms.block;
    double bytes[CALC_MAX_PLACES];
    double sum = 0;
    for (int64_t k = 0; k < p->chunks; k++) {
        if (p->layered) {
            const calc_placed_chunk *own = &p->chunk[k * p->stages + (int64_t)at->class.position];
            bytes[k] = 0; /* without the head */
            for (int i = own->part; i < own->part + own->parts; i++) {
                const calc_stage_class *part = &p->part[i].class;
                const calc_stage_part *kind = p->recipe[p->part[i].recipe].terms.block;
                bytes[k] += part->dense * kind[0].kept_bytes + part->moe * kind[1].kept_bytes;
            }
            sum += bytes[k];
            continue;
        }
        calc_stage_class c = calc_placed_chunk_class(p, at, p->chunks, k);
        double lean = calc_placed_chunk_recompute(p, at, k);
        double whole_bytes = c.dense * block[0].whole_bytes + c.moe * block[1].whole_bytes;
        double lean_bytes = c.dense * block[0].kept_bytes + c.moe * block[1].kept_bytes;
        bytes[k] = (1 - lean) * whole_bytes + lean * lean_bytes;
        sum += bytes[k];
    }
    double held =
        calc_stages_rounds_fit(p->exec)
            ? most_bytes(p, (int64_t)at->class.position, (int64_t)at->terms.microbatches, bytes)
            : sum * in_flight;
    return held + (at->class.last * at->terms.head.whole_bytes +
                   at->class.first * at->terms.embedding.whole_bytes) *
                      in_flight;
}

calc_stage_memory calc_placed_memory(const calc_placed *p, const calc_placed_stage *at)
{
    calc_pipeline_schedule schedule = p->exec->pipeline_schedule;
    calc_stage_weights w = calc_stage_weights_sum(&at->terms, &at->class);
    calc_stage_memory m =
        p->layered ? layers_memory(p, at)
                   : calc_stage_memory_sum(&at->terms, &at->class, &w, schedule, (double)p->chunks);
    if (p->listed && p->chunks > 1 && m.activation > 0) {
        double bytes = interleaved_bytes(p, at, m.in_flight);
        m.total += bytes - m.activation;
        m.in_flight *= bytes / m.activation;
        m.activation = bytes;
    }
    return m;
}

/* Of a list. */
static double steady_s(const calc_placed *p)
{
    const calc_stage_terms *t = &p->recipe[0].terms;
    calc_schedule_pass pass[CALC_MAX_PLACES];
    calc_stage_sums sums = {0, 0};
    calc_placed_stage at;
    for (int64_t stage = 0; stage < p->stages; stage++) {
        calc_placed_stage_of(p, stage, &at);
        calc_stage_pass all = calc_placed_pass(p, &at);
        sums = calc_stage_sum(sums, &at.class, &all);
        for (int64_t k = 0; k < p->chunks; k++) {
            calc_stage_pass x = calc_placed_chunk_pass(p, &at, p->chunks, k);
            pass[k * p->stages + stage] = (calc_schedule_pass){x.fw_s, x.agrad_s, x.wgrad_s};
        }
    }
    if (!t->training) {
        return calc_stage_forward_s(t, &sums);
    }
    calc_schedule_shape shape = {.kind = p->exec->pipeline_schedule,
                                 .stages = p->stages,
                                 .chunks = p->chunks,
                                 .microbatches = (int64_t)t->microbatches};
    _Alignas(16) char workspace[WORKSPACE];
    return calc_schedule_steady_in(&shape, pass, workspace, sizeof workspace);
}

double calc_placed_pipeline_s(const calc_placed *p)
{
    const calc_layout *l = &p->recipe[0];
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    int classes = calc_stages_classes(&l->stages);
    if (!p->fit || p->listed) {
        return p->fit ? steady_s(p) : (double)NAN;
    }
    calc_stage_passes_of(&l->terms, &l->links, classes, l->stages.item, l->stages.chunks,
                         l->exposed, pass);
    return calc_stage_pipeline_s(&l->terms, &l->links, p->exec->pipeline_schedule, classes,
                                 l->stages.item, pass, l->stages.chunks, l->exposed);
}

double calc_placed_drain_s(const calc_placed *p)
{
    calc_placed_stage at;
    double drain_s = 0;
    size_t entries = calc_placed_entries(p);
    for (size_t i = 0; i < entries; i++) {
        calc_placed_entry_of(p, i, &at);
        calc_stage_pass pass = calc_placed_pass(p, &at);
        double others = at.class.stages - (i + 1 == entries ? 1 : 0);
        drain_s += others * (pass.agrad_s + pass.wgrad_s) / (double)p->chunks;
    }
    return drain_s;
}

calc_stage_deferred calc_placed_deferred(const calc_placed *p)
{
    calc_placed_stage at;
    calc_placed_stage_of(p, p->stages - 1, &at);
    return at.terms.deferred;
}

calc_stage_state calc_placed_state(const calc_placed *p, const calc_placed_stage *at)
{
    const calc_layout *l = at->layout;
    return p->layered ? layers_state(p, at)
                      : calc_stage_state_of(&l->context, l->exec, &at->terms, &at->class);
}

/* ---- Behind the passes ----------------------------------------------------------------------- */

/* Weights of a slice and of those whose gradients the same ranks reduce; none, if an earlier one
 * has them. */
static calc_stage_weights weights_with(const calc_placed *p, int64_t stage, size_t slice,
                                       const calc_placed_stage *at)
{
    calc_stage_weights sum = {0, 0};
    calc_placed_stage other;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &other); i++) {
        const calc_strategy *s = &at->layout->exec->strategy;
        const calc_strategy *t = &other.layout->exec->strategy;
        bool together = s->tensor_par == t->tensor_par && s->context_par == t->context_par &&
                        s->expert_par == t->expert_par && calc_zero_stage(s) == calc_zero_stage(t);
        if (together && i < slice) {
            return (calc_stage_weights){0, 0};
        }
        calc_stage_weights w = calc_stage_weights_sum(&other.terms, &other.class);
        sum.dense += together ? w.dense : 0;
        sum.expert += together ? w.expert : 0;
    }
    return sum;
}

/* Gradients and weights of all slices, behind the passes of the whole stage. */
static calc_stage_reduction layers_reduction(const calc_placed *p, const calc_placed_stage *at,
                                             const calc_stage_pass *pass)
{
    const calc_stage_terms *t = &at->terms;
    int64_t stage = (int64_t)at->class.position;
    calc_stage_reduction sum = {0};
    calc_placed_stage slice;
    double once_s = 0;
    double each_s = 0;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
        calc_stage_weights w = weights_with(p, stage, i, &slice);
        calc_stage_reduction r = calc_stage_reduction_sum(&slice.terms, &slice.links, &slice.class,
                                                          &w, pass, (double)p->chunks);
        bool each = calc_zero_stage(&slice.layout->exec->strategy) == 2;
        sum.reduce_s += r.reduce_s;
        sum.gather_s += r.gather_s;
        once_s += each ? 0 : r.reduce_s;
        each_s += each ? r.reduce_s / slice.terms.reductions : 0;
    }
    double round = calc_min(t->stages, t->microbatches);
    bool several = p->chunks > 1 && p->stages > 1;
    double windows = several ? round * ((double)p->chunks - 1) / (double)p->chunks : 1;
    /* `each_s` of every micro-batch (zero_stage 2) and `once_s` at the end: both behind the last
     * micro-batch, the former alone behind the others. */
    double last_s = once_s + each_s, pass_s = pass->agrad_s + pass->wgrad_s;
    sum.reduce_beside_s =
        calc_stage_exposed_s(t, last_s, pass_s * (once_s > 0 ? windows : 1),
                             CALC_STAGE_LAST_BUCKET * last_s) +
        calc_max(0, t->microbatches - 1) *
            calc_stage_exposed_s(t, each_s, pass_s, CALC_STAGE_LAST_BUCKET * each_s);
    sum.gather_beside_s = calc_stage_exposed_s(t, sum.gather_s, pass->fw_s * windows,
                                               CALC_STAGE_LAST_BUCKET * sum.gather_s);
    return sum;
}

calc_stage_reduction calc_placed_reduction(const calc_placed *p, const calc_placed_stage *at,
                                           const calc_stage_pass *pass)
{
    calc_stage_weights w = calc_stage_weights_sum(&at->terms, &at->class);
    return p->layered ? layers_reduction(p, at, pass)
                      : calc_stage_reduction_sum(&at->terms, &at->links, &at->class, &w, pass,
                                                 (double)p->chunks);
}

double calc_placed_optimizer_s(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    double sum_s = 0;
    calc_placed_stage slice;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
        calc_stage_weights w = calc_stage_weights_sum(&slice.terms, &slice.class);
        sum_s += calc_stage_optimizer_sum(&slice.terms, &slice.class, &w);
    }
    return sum_s;
}

/* ---- Breakdown of passes --------------------------------------------------------------------- */

calc_stage_spent calc_placed_spent(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    calc_stage_spent sum = {0};
    calc_placed_stage slice;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
        const calc_layout *l = slice.layout;
        if (l == at->layout) { /* has the messages of the stage */
            slice.links.message_s = at->links.message_s;
            slice.links.back_message_s = at->links.back_message_s;
        }
        calc_stage_spent x =
            calc_stage_spent_of(&l->context, l->exec, &l->parts, &l->lines, &slice.terms,
                                &slice.links, &slice.class, (double)p->chunks);
        sum = calc_stage_spent_sum(&sum, &x, 1);
    }
    for (int64_t k = 0; k < p->chunks && p->layered; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + stage];
        sum.fw_s[CALC_SPENT_RESHARD] += c->reshard.fw_s + c->reshard.bw_s;
    }
    return sum;
}
