/** @file stage_step.h  The step of a layout, put together from what its blocks, ends and
 *  groups take: the time of each class of stages, the pipeline over them, the reduction of
 * gradients behind them, and their memory.
 *
 *  Elementwise arithmetic on doubles only, in small inline functions: calc_run() and the sweep,
 * which evaluates many layouts at once, call the same ones. */
#ifndef CALC_MODEL_STAGE_STEP_H
#define CALC_MODEL_STAGE_STEP_H

#include "calc.h"
#include "model/stage_by_rule.h"

/** Passes over a stage of a class, with its messages.
 *  @param chunks   model chunks per stage: each sends its own messages
 *  @param exposed  share of the messages that is not hidden */
CALC_STAGE_INLINE calc_stage_pass calc_stage_pass_of(const calc_stage_terms *t,
                                                     const calc_stage_links *l,
                                                     const calc_stage_class *c, double chunks,
                                                     double exposed)
{
    if (t->compat) {
        return calc_stage_pass_by_rule(t, l, c, chunks, exposed);
    }
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    /* A class that is not there takes nothing: then no maximum below has to ask. */
    double messages = chunks * exposed * calc_stage_min(c->stages, 1);
    double spared_s = calc_stage_rich(t, c) * (c->dense * dense->spared_s + c->moe * moe->spared_s);
    calc_stage_pass p;
    p.fw_s = c->dense * dense->fw_s + c->moe * moe->fw_s + c->first * t->embedding.fw_s +
             c->last * t->head.fw_s + l->message_s * messages;
    p.agrad_s = c->dense * dense->agrad_s + c->moe * moe->agrad_s +
                c->first * t->embedding.agrad_s + c->last * t->head.agrad_s +
                l->back_message_s * messages - spared_s;
    p.wgrad_s = c->dense * dense->wgrad_s + c->moe * moe->wgrad_s +
                c->first * t->embedding.wgrad_s + c->last * t->head.wgrad_s;
    p.base_fw_s = p.edge_fw_s = p.base_bw_s = p.edge_bw_s = 0;
    return p;
}

/** The pipeline of one step for schedules beside 1F1B [s]: schedule.h. Not inline: their closed
 *  forms are long.
 *  @param pass  CALC_MAX_STAGE_CLASSES classes in order of the pipeline */
double calc_stage_scheduled_s(const calc_stage_terms *terms, calc_pipeline_schedule schedule,
                              const calc_stage_class *c, const calc_stage_pass *pass);

/** The same for the micro-batches whose activations a stage holds. */
double calc_stage_scheduled_in_flight(const calc_stage_terms *terms,
                                      calc_pipeline_schedule schedule, double position);

/** And for the stage of a class where they are most. */
double calc_stage_scheduled_peak(const calc_stage_terms *terms, calc_pipeline_schedule schedule,
                                 const calc_stage_class *c);

/** Sums over classes of stages, and the slowest. */
typedef struct calc_stage_sums {
    double fw_s, bw_s; /**< of all stages */
    double slowest_s;  /**< a micro-batch on the slowest stage */
    double slowest_fw_s, slowest_bw_s;
    double before_s, last_s; /**< the slowest but the last, and the last */
} calc_stage_sums;

CALC_STAGE_INLINE calc_stage_sums calc_stage_sum(calc_stage_sums x, const calc_stage_class *c,
                                                 const calc_stage_pass *p)
{
    bool there = c->stages > 0;
    double bw_s = p->agrad_s + p->wgrad_s;
    double s = p->fw_s + bw_s;
    bool more = s > x.slowest_s;
    x.fw_s += c->stages * p->fw_s;
    x.bw_s += c->stages * bw_s;
    x.slowest_fw_s = more ? p->fw_s : x.slowest_fw_s;
    x.slowest_bw_s = more ? bw_s : x.slowest_bw_s;
    x.slowest_s = more ? s : x.slowest_s;
    /* Of several equal stages all but one come before the last. */
    double before_s = c->stages > 1 ? calc_max(x.last_s, s) : x.last_s;
    x.before_s = there ? calc_max(x.before_s, before_s) : x.before_s;
    x.last_s = there ? s : x.last_s;
    return x;
}

/** Interleaved 1F1B [s]: the slowest stage is busy all the time, the others fill and drain it by
 *  chunks; a head on the last chunk keeps chunks out of step (docs/schedules.md).
 *  @param head_s  of the last chunk, all passes */
CALC_STAGE_INLINE double calc_stage_interleaved_s(const calc_stage_terms *t,
                                                  const calc_stage_sums *x, double chunks,
                                                  double head_s)
{
    double p = t->stages;
    double m = t->microbatches;
    double others = calc_max(1, p - 1);
    double fw_s = (x->fw_s - x->slowest_fw_s) / others;
    double bw_s = (x->bw_s - x->slowest_bw_s) / others;
    double lost = p - 1 + (chunks - 1) * t->lost_rounds;
    double one_round_s = lost * (fw_s + bw_s);
    double fill_s = (p - 1) * fw_s + lost * bw_s;
    double drain_s = lost * fw_s + (lost - p * (chunks - 1)) * bw_s;
    double bubble_s = m <= p ? one_round_s : calc_max(fill_s, drain_s);
    double usual_s = (x->last_s - head_s) / chunks;
    double chunk_s = calc_max(x->before_s / chunks, usual_s);
    double in_step_s = (chunks - 1) * chunk_s + calc_max(chunk_s, usual_s + head_s);
    double out_of_step_s = head_s > 0 ? calc_max(0, in_step_s - x->slowest_s) / 2 : 0;
    return m * (x->slowest_s + out_of_step_s) + bubble_s / chunks;
}

/** A walk along the pipeline, for 1F1B: what the stages so far take, and the slowest of them. */
typedef struct calc_stage_walk {
    double stage;
    double fw_s, bw_s;
    double fw_max_s, bw_max_s;
} calc_stage_walk;

CALC_STAGE_INLINE calc_stage_walk calc_stage_walk_on(calc_stage_walk w, const calc_stage_pass *p,
                                                     double stages)
{
    w.stage += stages;
    w.fw_s += stages * p->fw_s;
    w.bw_s += stages * (p->agrad_s + p->wgrad_s);
    return w;
}

CALC_STAGE_INLINE calc_stage_walk calc_stage_walk_meets(calc_stage_walk w, const calc_stage_pass *p)
{
    w.fw_max_s = calc_max(w.fw_max_s, p->fw_s);
    w.bw_max_s = calc_max(w.bw_max_s, p->agrad_s + p->wgrad_s);
    return w;
}

/** 1F1B through a stage s: between filling and draining the path stays there. While the pipeline
 *  fills it may go down to any stage j beyond, passing p-1-j forwards on the slowest stage above j,
 *  before it comes back up to s; and likewise with backwards while it drains. */
typedef struct calc_stage_through {
    calc_stage_walk at, start;
    double fill_s, drain_s;
} calc_stage_through;

CALC_STAGE_INLINE calc_stage_through calc_stage_turn(calc_stage_through x, const calc_stage_pass *p,
                                                     double stages, double all)
{
    x.at = calc_stage_walk_on(x.at, p, stages);
    double below = all - x.at.stage;
    double way_s = x.at.fw_s + x.at.bw_s;
    x.fill_s = calc_max(x.fill_s, way_s - x.start.bw_s + below * x.at.fw_max_s);
    x.drain_s = calc_max(x.drain_s, way_s - x.start.fw_s + below * x.at.bw_max_s);
    return x;
}

/** The best turn is at the first or the last stage of a class. */
CALC_STAGE_INLINE calc_stage_through calc_stage_go(calc_stage_through x, const calc_stage_pass *p,
                                                   double stages, double all)
{
    x.at = calc_stage_walk_meets(x.at, p);
    x = calc_stage_turn(x, p, 1, all);
    return calc_stage_turn(x, p, stages - 1, all);
}

/** The longest path through stages of class i that come out of filling before they drain, and
 *  through its last one; `at` is what comes before the class. 0 if there are none. */
CALC_STAGE_INLINE double calc_stage_path_s(const calc_stage_terms *t, const calc_stage_class *c,
                                           const calc_stage_pass *pass, int i, calc_stage_walk at)
{
    double p = t->stages;
    double m = t->microbatches;
    double skip = calc_max(0, p + 1 - m - at.stage);
    double left = c[i].stages - skip;
    double s = calc_stage_pass_s(&pass[i]);
    calc_stage_through x = {at, at, 0, 0};
    x.at = calc_stage_walk_on(x.at, &pass[i], skip);
    x.start = x.at;
    double from = x.at.stage;
    x = calc_stage_go(x, &pass[i], left, p);
    x = i < 1 ? calc_stage_go(x, &pass[1], c[1].stages, p) : x;
    x = i < 2 ? calc_stage_go(x, &pass[2], c[2].stages, p) : x;
    x = i < 3 ? calc_stage_go(x, &pass[3], c[3].stages, p) : x;
    double through_s = x.fill_s + x.drain_s + (m - 1 - p + from) * s;
    calc_stage_walk end = calc_stage_walk_on(at, &pass[i], c[i].stages);
    double last_s = end.fw_s + end.bw_s + (m - 1) * s;
    return calc_max(left > 0 ? through_s : 0, last_s);
}

/** 1F1B with one chunk [s]: the longest path through any stage; exact unless stages differ wildly,
 *  then a lower bound (docs/schedules.md). */
CALC_STAGE_INLINE double calc_stage_1f1b_s(const calc_stage_terms *t, int classes,
                                           const calc_stage_class *c, const calc_stage_pass *pass)
{
    calc_stage_walk at0 = {0, 0, 0, 0, 0};
    calc_stage_walk at1 = calc_stage_walk_on(at0, &pass[0], c[0].stages);
    at1 = calc_stage_walk_meets(at1, &pass[0]);
    /* Where stages are equal no path is longer than the one through the last of them. */
    double alike_s = at1.fw_s + at1.bw_s + (t->microbatches - 1) * calc_stage_pass_s(&pass[0]);
    if (classes == 1) {
        return alike_s;
    }
    calc_stage_walk at2 = calc_stage_walk_on(at1, &pass[1], c[1].stages);
    at2 = calc_stage_walk_meets(at2, &pass[1]);
    calc_stage_walk at3 = calc_stage_walk_on(at2, &pass[2], c[2].stages);
    at3 = calc_stage_walk_meets(at3, &pass[2]);
    calc_stage_walk end = calc_stage_walk_on(at3, &pass[3], c[3].stages);
    end = calc_stage_walk_meets(end, &pass[3]);
    double longest_s =
        calc_max(calc_stage_path_s(t, c, pass, 0, at0), calc_stage_path_s(t, c, pass, 1, at1));
    longest_s = calc_max(longest_s, calc_stage_path_s(t, c, pass, 2, at2));
    longest_s = calc_max(longest_s, calc_stage_path_s(t, c, pass, 3, at3));
    double paced_s = (t->microbatches - 1) * calc_max(end.fw_max_s, end.bw_max_s);
    double unequal_s = calc_max(longest_s, end.fw_s + end.bw_s + paced_s);
    return c[0].stages < t->stages ? unequal_s : alike_s;
}

/** Time until the last micro-batch has passed back through the first stage [s]; sources:
 *  docs/schedules.md. No loops: the sweep makes vectors of it.
 *  @param classes  as calc_stage_step_of()
 *  @param pass     CALC_MAX_STAGE_CLASSES classes in order of the pipeline */
CALC_STAGE_INLINE double calc_stage_pipeline_s(const calc_stage_terms *t, const calc_stage_links *l,
                                               calc_pipeline_schedule schedule, int classes,
                                               const calc_stage_class *c,
                                               const calc_stage_pass *pass, double chunks)
{
    if (t->training && schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        return calc_stage_scheduled_s(t, schedule, c, pass);
    }
    if (calc_stage_rule(t, CALC_COMPAT_EVEN_STAGES)) {
        return calc_stage_even_s(t, l, &c[0], &pass[0], chunks);
    }
    double unsent_s = t->compat ? calc_stage_unsent_s(t, l, chunks) : 0;
    calc_stage_sums x = {0, 0, 0, 0, 0, 0, 0};
    x = calc_stage_sum(x, &c[0], &pass[0]);
    if (classes > 1) {
        x = calc_stage_sum(x, &c[1], &pass[1]);
        x = calc_stage_sum(x, &c[2], &pass[2]);
        x = calc_stage_sum(x, &c[3], &pass[3]);
    }
    if (!t->training) {
        /* Backward there are messages at most, and those by rule. */
        return x.fw_s + x.bw_s + (t->microbatches - 1) * x.slowest_s - unsent_s;
    }
    const calc_stage_part *head = &t->head;
    double whole_head_s = head->fw_s + head->agrad_s + head->wgrad_s;
    /* Spread over all stages, it keeps none out of step. */
    double head_s = c[0].last > 0 && c[0].last < 1 ? 0 : whole_head_s;
    double interleaved_s = calc_stage_interleaved_s(t, &x, chunks, head_s);
    double plain_s = calc_stage_1f1b_s(t, classes, c, pass);
    return (chunks > 1 ? interleaved_s : plain_s) - unsent_s;
}

/** Weights of a stage of a class. */
CALC_STAGE_INLINE calc_stage_weights calc_stage_weights_sum(const calc_stage_terms *t,
                                                            const calc_stage_class *c)
{
    const calc_stage_weights *dense = &t->block[0].weights;
    const calc_stage_weights *moe = &t->block[1].weights;
    calc_stage_weights w;
    w.dense = c->dense * dense->dense + c->moe * moe->dense +
              c->first * t->embedding.weights.dense + c->last * t->head.weights.dense;
    w.expert = c->moe * moe->expert + c->last * t->head.weights.expert;
    return w;
}

/** Exposed part of a communication that overlaps a window, and the slow-down it causes there. */
CALC_STAGE_INLINE double calc_stage_exposed_s(const calc_stage_terms *t, double link_s,
                                              double window_s, double least_s)
{
    double hidden_s = link_s - t->window_share * window_s;
    return calc_max(least_s, hidden_s) + t->contention * calc_stage_min(link_s, window_s);
}

/** Reduction of one kind of gradients, or gathering of one kind of weights [s]: on a
 * calc_collective_line. */
CALC_STAGE_INLINE double calc_stage_line_s(double latency_s, double s_per_byte, double bytes)
{
    calc_collective_line line = {latency_s, s_per_byte};
    return calc_collective_line_s(&line, bytes);
}

/** Reduction of gradients and gathering of weights of a stage, in a step [s]. */
typedef struct calc_stage_reduction {
    double reduce_s, gather_s;               /**< on the link */
    double reduce_beside_s, gather_beside_s; /**< exposed, where they overlap */
} calc_stage_reduction;

/** The same block by block; nothing to gather is left behind it. */
CALC_STAGE_INLINE calc_stage_reduction calc_stage_reduction_by_rule(const calc_stage_terms *t,
                                                                    const calc_stage_links *l,
                                                                    const calc_stage_class *c,
                                                                    const calc_stage_pass *pass,
                                                                    double chunks)
{
    const calc_stage_weights *dense = &t->block[0].weights;
    const calc_stage_weights *moe = &t->block[1].weights;
    double held = calc_stage_mean(c, dense->dense, moe->dense);
    double expert = calc_stage_mean(c, dense->expert, moe->expert);
    double block_s = calc_stage_line_s(l->reduce_dense_latency_s, l->reduce_dense_s_per_byte,
                                       t->reduced_bytes * held) +
                     calc_stage_line_s(l->reduce_expert_latency_s, l->reduce_expert_s_per_byte,
                                       t->reduced_bytes * expert) +
                     calc_stage_line_s(l->gather_dense_latency_s, l->gather_dense_s_per_byte,
                                       t->gathered_bytes * held) +
                     calc_stage_line_s(l->gather_expert_latency_s, l->gather_expert_s_per_byte,
                                       t->gathered_bytes * expert);
    calc_reduce_times x = calc_stage_reduce_by_block(t, l, c, pass, chunks, block_s);
    calc_stage_reduction r;
    r.reduce_s = (c->dense + c->moe) * block_s;
    r.reduce_beside_s = block_s > 0 ? x.exposed_s : 0;
    r.gather_s = 0;
    r.gather_beside_s = 0;
    return r;
}

CALC_STAGE_INLINE calc_stage_reduction calc_stage_reduction_sum(
    const calc_stage_terms *t, const calc_stage_links *l, const calc_stage_class *c,
    const calc_stage_weights *w, const calc_stage_pass *pass, double chunks)
{
    if (calc_stage_rule(t, CALC_COMPAT_REDUCE_BY_BLOCK)) {
        return calc_stage_reduction_by_rule(t, l, c, pass, chunks);
    }
    calc_stage_reduction r;
    r.reduce_s =
        t->reductions * (calc_stage_line_s(l->reduce_dense_latency_s, l->reduce_dense_s_per_byte,
                                           t->reduced_bytes * w->dense) +
                         calc_stage_line_s(l->reduce_expert_latency_s, l->reduce_expert_s_per_byte,
                                           t->reduced_bytes * w->expert));
    r.gather_s = calc_stage_line_s(l->gather_dense_latency_s, l->gather_dense_s_per_byte,
                                   t->gathered_bytes * w->dense) +
                 calc_stage_line_s(l->gather_expert_latency_s, l->gather_expert_s_per_byte,
                                   t->gathered_bytes * w->expert);
    /* With chunks, the gradients of one are final while micro-batches still run through others. */
    double round = calc_stage_min(t->stages, t->microbatches);
    bool several = chunks > 1 && t->stages > 1;
    double windows = several ? round * (chunks - 1) / chunks : 1;
    double bw_s = (pass->agrad_s + pass->wgrad_s) * calc_max(windows, t->reductions);
    double fw_s = pass->fw_s * windows;
    r.reduce_beside_s =
        calc_stage_exposed_s(t, r.reduce_s, bw_s, CALC_STAGE_LAST_BUCKET * r.reduce_s);
    r.gather_beside_s =
        calc_stage_exposed_s(t, r.gather_s, fw_s, CALC_STAGE_LAST_BUCKET * r.gather_s);
    return r;
}

/** Time of the optimizer on a stage [s]. */
CALC_STAGE_INLINE double calc_stage_optimizer_sum(const calc_stage_terms *t,
                                                  const calc_stage_class *c,
                                                  const calc_stage_weights *w)
{
    if (calc_stage_rule(t, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        return c->dense * t->rule[0].optimizer_s + c->moe * t->rule[1].optimizer_s;
    }
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    return t->optimizer_s * (w->dense + w->expert) + t->optimizer_owned_s * owned;
}

/** Micro-batches whose activations a stage holds at the peak; sources: docs/schedules.md. */
CALC_STAGE_INLINE double calc_stage_in_flight(const calc_stage_terms *t,
                                              calc_pipeline_schedule schedule, double position,
                                              double chunks)
{
    double p = t->stages;
    double m = t->microbatches;
    if (schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        return calc_stage_scheduled_in_flight(t, schedule, position);
    }
    if (calc_stage_rule(t, CALC_COMPAT_MEAN_IN_FLIGHT)) {
        return calc_stage_mean_in_flight(t, chunks);
    }
    double after = p - 1 - position;
    double chunked =
        ((chunks - 1) * calc_stage_min(m, p) + calc_stage_min(m, 2 * after + 1)) / chunks;
    double plain = calc_stage_min(m, after + 1);
    return chunks > 1 ? chunked : plain;
}

/** A class as its stage that holds most micro-batches sees it: the first of them. With 1F1B that is
 *  the first of the class. */
CALC_STAGE_INLINE calc_stage_class calc_stage_at_peak(const calc_stage_terms *t,
                                                      calc_pipeline_schedule schedule,
                                                      const calc_stage_class *c)
{
    calc_stage_class at = *c;
    if (schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        at.position = calc_stage_scheduled_peak(t, schedule, c);
    }
    return at;
}

/** What a stage holds [bytes]. */
typedef struct calc_stage_memory {
    double state; /**< weights, gradients, optimizer */
    double activation, working, ends, framework;
    double in_flight; /**< micro-batches */
    double total;
} calc_stage_memory;

CALC_STAGE_INLINE calc_stage_memory calc_stage_memory_sum(const calc_stage_terms *t,
                                                          const calc_stage_class *c,
                                                          const calc_stage_weights *w,
                                                          calc_pipeline_schedule schedule,
                                                          double chunks)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    calc_stage_memory m;
    double held = w->dense + w->expert;
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    double blocks = calc_max(1, c->dense + c->moe);
    m.state = t->held_bytes * held + t->owned_bytes * owned +
              (t->gathered_ahead + t->whole_block_bytes) * (held / blocks);
    double rich = calc_stage_rich(t, c);
    double lean_bytes = c->dense * dense->kept_bytes + c->moe * moe->kept_bytes;
    double whole_bytes = c->dense * dense->whole_bytes + c->moe * moe->whole_bytes;
    double stored = rich * whole_bytes + (1 - rich) * lean_bytes + c->last * t->head.whole_bytes;
    /* What recomputation does not store exists for the block at hand, and its gradients. */
    double dense_gap =
        c->dense > 0 ? dense->whole_bytes - dense->kept_bytes + dense->passing_bytes : 0;
    double moe_gap = c->moe > 0 ? moe->whole_bytes - moe->kept_bytes + moe->passing_bytes : 0;
    m.in_flight = t->training ? calc_stage_in_flight(t, schedule, c->position, chunks) : 0;
    m.activation = stored * m.in_flight;
    m.working = calc_max(dense_gap, moe_gap);
    /* The head is done with its logits when a block is at hand: what they need beyond that; unless
     * another micro-batch is on its way forward at the same time. */
    bool both_ways = schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ||
                     schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    double logits = c->last * t->head.kept_bytes;
    m.ends = calc_max(0, logits - (both_ways ? 0 : m.working));
    if (calc_stage_rule(t, CALC_COMPAT_BLOCK_MEMORY)) {
        calc_rule_line line = calc_stage_tier1_by_rule(t, c);
        double in_flight = calc_stage_in_flight(t, schedule, c->position, chunks);
        m.in_flight = in_flight;
        m.state = line.block_bytes;
        m.activation = line.flight_bytes * in_flight;
        m.working = 0;
    }
    double both = t->framework_bytes[1][1];
    double dense_only = t->framework_bytes[1][0];
    double moe_only = t->framework_bytes[0][1];
    double with_dense = c->moe > 0 ? both : dense_only;
    m.framework = c->dense > 0 ? with_dense : moe_only;
    m.framework += c->last * t->framework_head_bytes;
    m.total = m.state + m.activation + m.working + m.ends + m.framework;
    return m;
}

/** What a stage keeps in the second memory tier [bytes]. */
typedef struct calc_stage_tier2 {
    double weight, activation, optimizer;
} calc_stage_tier2;

CALC_STAGE_INLINE calc_stage_tier2 calc_stage_tier2_sum(const calc_stage_terms *t,
                                                        const calc_stage_class *c,
                                                        const calc_stage_weights *w,
                                                        calc_pipeline_schedule schedule,
                                                        double chunks)
{
    calc_stage_tier2 out;
    if (calc_stage_rule(t, CALC_COMPAT_BLOCK_MEMORY)) {
        calc_rule_line line = calc_stage_tier2_by_rule(t, c);
        out.weight = line.block_bytes;
        out.activation = line.flight_bytes * calc_stage_in_flight(t, schedule, c->position, chunks);
        out.optimizer = 0;
        return out;
    }
    double held = w->dense + w->expert;
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    double stored = c->dense * t->block[0].away_bytes + c->moe * t->block[1].away_bytes;
    double in_flight = t->training ? calc_stage_in_flight(t, schedule, c->position, chunks) : 0;
    out.weight = t->weight_held_away * held + t->weight_owned_away * owned;
    out.activation = stored * in_flight;
    out.optimizer = t->optimizer_held_away * held + t->optimizer_owned_away * owned;
    return out;
}

/** A step, as far as a search needs it: without overlap of gradients and weights, with that of
 *  gradients, of weights, and of both [s]; and the memory of the fullest stage [bytes]. */
typedef struct calc_stage_step {
    double partial_s;     /**< without data parallelism's communication */
    double total_s[2][2]; /**< [gradients overlap][weights overlap] */
    double allocated_bytes, tier1_bytes;
    double tier2_bytes; /**< of the stage that keeps most in the second tier */
} calc_stage_step;

/** The most of the classes seen so far. */
typedef struct calc_stage_most {
    double plain_s, weights_s, gradients_s, both_s; /**< exposed, by what overlaps */
    double optimizer_s, allocated_bytes, tier2_bytes;
} calc_stage_most;

CALC_STAGE_INLINE calc_stage_most calc_stage_more(calc_stage_most x, const calc_stage_terms *t,
                                                  const calc_stage_links *l,
                                                  calc_pipeline_schedule schedule,
                                                  const calc_stage_class *c,
                                                  const calc_stage_pass *pass, double chunks)
{
    calc_stage_weights w = calc_stage_weights_sum(t, c);
    calc_stage_reduction r = calc_stage_reduction_sum(t, l, c, &w, pass, chunks);
    calc_stage_class peak = calc_stage_at_peak(t, schedule, c);
    calc_stage_memory m = calc_stage_memory_sum(t, &peak, &w, schedule, chunks);
    calc_stage_tier2 away = calc_stage_tier2_sum(t, &peak, &w, schedule, chunks);
    double optimizer_s = calc_stage_optimizer_sum(t, c, &w);
    double plain_s = r.reduce_s + r.gather_s;
    double weights_s = r.reduce_s + r.gather_beside_s;
    double gradients_s = r.reduce_beside_s + r.gather_s;
    double both_s = r.reduce_beside_s + r.gather_beside_s;
    double tier2_bytes = away.weight + away.activation + away.optimizer;
    x.plain_s = calc_max(x.plain_s, plain_s);
    x.weights_s = calc_max(x.weights_s, weights_s);
    x.gradients_s = calc_max(x.gradients_s, gradients_s);
    x.both_s = calc_max(x.both_s, both_s);
    x.optimizer_s = calc_max(x.optimizer_s, optimizer_s);
    x.allocated_bytes = calc_max(x.allocated_bytes, m.total * calc_stage_min(c->stages, 1));
    x.tier2_bytes = calc_max(x.tier2_bytes, tier2_bytes * calc_stage_min(c->stages, 1));
    return x;
}

/** The step of a layout.
 *  @param classes  1: only c[0] has stages; else CALC_MAX_STAGE_CLASSES. A constant where speed
 *                  matters; the result is the same to the bit.
 *  @param c        CALC_MAX_STAGE_CLASSES classes in order of the pipeline
 *  @param exposed  share of the messages that is not hidden: calc_stage_exposed_messages() */
CALC_STAGE_INLINE calc_stage_step calc_stage_step_of(const calc_stage_terms *t,
                                                     const calc_stage_links *l,
                                                     calc_pipeline_schedule schedule, int classes,
                                                     const calc_stage_class *c, double chunks,
                                                     double exposed)
{
    const calc_stage_pass none = {0, 0, 0, 0, 0, 0, 0};
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES] = {none, none, none, none};
    calc_stage_most most = {0, 0, 0, 0, 0, 0, 0};
    pass[0] = calc_stage_pass_of(t, l, &c[0], chunks, exposed);
    most = calc_stage_more(most, t, l, schedule, &c[0], &pass[0], chunks);
    if (classes > 1) {
        pass[1] = calc_stage_pass_of(t, l, &c[1], chunks, exposed);
        pass[2] = calc_stage_pass_of(t, l, &c[2], chunks, exposed);
        pass[3] = calc_stage_pass_of(t, l, &c[3], chunks, exposed);
        most = calc_stage_more(most, t, l, schedule, &c[1], &pass[1], chunks);
        most = calc_stage_more(most, t, l, schedule, &c[2], &pass[2], chunks);
        most = calc_stage_more(most, t, l, schedule, &c[3], &pass[3], chunks);
    }
    calc_stage_step s;
    double pipeline_s = calc_stage_pipeline_s(t, l, schedule, classes, c, pass, chunks);
    s.partial_s =
        pipeline_s + pipeline_s * t->growth + l->tied_s + most.optimizer_s + t->overhead_s;
    s.total_s[0][0] = most.plain_s + s.partial_s;
    s.total_s[0][1] = most.weights_s + s.partial_s;
    s.total_s[1][0] = most.gradients_s + s.partial_s;
    s.total_s[1][1] = most.both_s + s.partial_s;
    s.allocated_bytes = most.allocated_bytes;
    s.tier1_bytes = most.allocated_bytes * t->used_share + t->reserved_bytes;
    s.tier2_bytes = most.tier2_bytes;
    return s;
}

#endif
