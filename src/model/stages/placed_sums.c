/* Memory of a stage and the work after its passes; the pipeline of a list. */
#include <math.h>

#include "model/operators/processor.h"
#include "model/schedule/schedule_sim.h"
#include "model/stages/placed.h"

enum { WORKSPACE = 1 << 20 /* enough for CALC_MAX_PLACES, whatever the schedule */ };

/* ---- Memory ---------------------------------------------------------------------------------- */

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
            bytes[k] =
                calc_placed_layers_bytes(p, &p->chunk[k * p->stages + (int64_t)at->class.position]);
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
        p->layered ? calc_placed_layers_memory(p, at)
                   : calc_stage_memory_sum(&at->terms, &at->class, &w, schedule, (double)p->chunks);
    if (p->listed && p->chunks > 1 && m.activation > 0) {
        double bytes = interleaved_bytes(p, at, m.in_flight);
        m.total += bytes - m.activation;
        m.in_flight *= bytes / m.activation;
        m.activation = bytes;
    }
    return m;
}

double calc_placed_pipeline_s(const calc_placed *p)
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

double calc_placed_drain_s(const calc_placed *p)
{
    calc_placed_stage at;
    double drain_s = 0;
    for (int64_t stage = 0; stage < p->stages - 1; stage++) {
        calc_placed_stage_of(p, stage, &at);
        calc_stage_pass pass = calc_placed_pass(p, &at);
        drain_s += (pass.agrad_s + pass.wgrad_s) / (double)p->chunks;
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
    return p->layered ? calc_placed_layers_state(p, at)
                      : calc_stage_state_of(&l->context, l->exec, &at->terms, &at->class);
}

/* ---- Behind the passes ----------------------------------------------------------------------- */

calc_stage_reduction calc_placed_reduction(const calc_placed *p, const calc_placed_stage *at,
                                           const calc_stage_pass *pass)
{
    calc_stage_weights w = calc_stage_weights_sum(&at->terms, &at->class);
    return p->layered ? calc_placed_layers_reduction(p, at, pass)
                      : calc_stage_reduction_sum(&at->terms, &at->links, &at->class, &w, pass,
                                                 (double)p->chunks);
}

double calc_placed_optimizer_s(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    size_t count = calc_placed_slices(p, stage);
    double sum_s = 0;
    calc_placed_stage slice;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &slice);
        calc_stage_weights w = calc_stage_weights_sum(&slice.terms, &slice.class);
        sum_s += calc_stage_optimizer_sum(&slice.terms, &slice.class, &w);
    }
    return sum_s;
}

/* ---- Breakdown of passes --------------------------------------------------------------------- */

calc_stage_spent calc_placed_spent(const calc_placed *p, const calc_placed_stage *at)
{
    int64_t stage = (int64_t)at->class.position;
    size_t count = calc_placed_slices(p, stage);
    calc_stage_spent sum = {0};
    calc_placed_stage slice;
    for (size_t i = 0; i < count; i++) {
        calc_placed_slice_of(p, stage, i, &slice);
        const calc_layout *l = slice.layout;
        calc_stage_spent x =
            calc_stage_spent_of(&l->context, l->exec, &l->parts, &l->lines, &slice.terms,
                                &slice.links, &slice.class, (double)p->chunks);
        sum = calc_stage_spent_sum(&sum, &x, 1);
    }
    for (int64_t k = 0; k < p->chunks && p->layered; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + stage];
        calc_reshard message = calc_placed_messages(p, at, k);
        sum.message_s += message.fw_s + message.bw_s;
        sum.tensor_s += c->reshard.fw_s + c->reshard.bw_s;
        sum.all_s += message.fw_s + message.bw_s + c->reshard.fw_s + c->reshard.bw_s;
    }
    return sum;
}
