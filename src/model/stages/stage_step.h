/** @file stage_step.h  The step of a layout from the terms of its blocks, ends and groups: the time
 * of each class of stages, the pipeline over them, the reduction of gradients behind them, and
 * their memory.
 *
 *  Elementwise arithmetic on doubles only, in small inline functions: calc_run() and the sweep,
 * which evaluates many layouts at once, call the same ones. */
#ifndef CALC_MODEL_STAGE_STEP_H
#define CALC_MODEL_STAGE_STEP_H

#include "calc.h"
#include "model/stages/stage_pipeline.h"
#include "model/stages/stage_types.h"

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

/** What its matrices take beyond the state of their weights [bytes]. */
CALC_STAGE_INLINE double calc_stage_narrowed_bytes(const calc_stage_terms *t,
                                                   const calc_stage_class *c)
{
    return c->dense * t->block[0].narrowed_bytes + c->moe * t->block[1].narrowed_bytes +
           c->last * t->head.narrowed_bytes;
}

/** Exposed part of a communication: calc_stage_beside_s() with the shares of the terms. */
CALC_STAGE_INLINE double calc_stage_exposed_s(const calc_stage_terms *t, double link_s,
                                              double window_s, double least_s)
{
    return calc_stage_beside_s(t->window_share, t->contention, link_s, window_s, least_s);
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
    double round = calc_min(t->stages, t->microbatches);
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
    return t->optimizer_s * t->reductions * (w->dense + w->expert) + t->optimizer_owned_s * owned +
           calc_stage_muon_s(t, c);
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
    double chunked = ((chunks - 1) * calc_min(m, p) + calc_min(m, 2 * after + 1)) / chunks;
    double plain = calc_min(m, after + 1);
    return chunks > 1 ? chunked : plain;
}

/** A class, from the position of its stage with most micro-batches in flight (the first of
 *  several). With 1F1B that is the first of the class. */
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

/** Memory of a stage [bytes]. */
typedef struct calc_stage_memory {
    double state; /**< weights, gradients, optimizer */
    double activation, working, ends, framework;
    double in_flight; /**< micro-batches */
    double total;
} calc_stage_memory;

/** @param held  micro-batches: calc_stage_in_flight() */
CALC_STAGE_INLINE calc_stage_memory calc_stage_memory_at(const calc_stage_terms *t,
                                                         const calc_stage_class *c,
                                                         const calc_stage_weights *w,
                                                         calc_pipeline_schedule schedule,
                                                         double held)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    calc_stage_memory m;
    double weights = w->dense + w->expert;
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    double blocks = calc_max(1, c->dense + c->moe);
    m.state = t->held_bytes * weights + t->owned_bytes * owned +
              (t->gathered_ahead + t->whole_block_bytes) * (weights / blocks);
    m.state += calc_stage_narrowed_bytes(t, c) + calc_stage_muon_bytes(t, c).here +
               calc_stage_frozen_of(t, c).here;
    double rich = calc_stage_rich(t, c);
    double lean_bytes = c->dense * dense->kept_bytes + c->moe * moe->kept_bytes;
    double whole_bytes = c->dense * dense->whole_bytes + c->moe * moe->whole_bytes;
    double stored = rich * whole_bytes + (1 - rich) * lean_bytes + c->last * t->head.whole_bytes +
                    c->first * t->embedding.whole_bytes;
    /* The block being processed has the activations that recomputation does not store, and their
     * gradients. */
    double dense_gap =
        c->dense > 0 ? dense->whole_bytes - dense->kept_bytes + dense->passing_bytes : 0;
    double moe_gap = c->moe > 0 ? moe->whole_bytes - moe->kept_bytes + moe->passing_bytes : 0;
    m.in_flight = t->training ? held : 0;
    m.activation = stored * m.in_flight;
    m.working = calc_max(dense_gap, moe_gap);
    /* The head has freed its logits when a block is processed, so only their excess counts; unless
     * another micro-batch goes forward at the same time. */
    bool both_ways = schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ||
                     schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    double logits = c->last * t->head.kept_bytes;
    m.ends = calc_max(0, logits - (both_ways ? 0 : m.working));
    if (calc_stage_rule(t, CALC_COMPAT_BLOCK_MEMORY)) {
        calc_rule_line line = calc_stage_tier1_by_rule(t, c);
        m.in_flight = held;
        m.state = line.block_bytes;
        m.activation = line.flight_bytes * held;
        m.working = 0;
    }
    m.ends += calc_stage_deferred_bytes(t, c);
    double both = t->framework_bytes[1][1];
    double dense_only = t->framework_bytes[1][0];
    double moe_only = t->framework_bytes[0][1];
    double with_dense = c->moe > 0 ? both : dense_only;
    m.framework = c->dense > 0 ? with_dense : moe_only;
    m.framework += c->last * t->framework_head_bytes;
    m.total = m.state + m.activation + m.working + m.ends + m.framework;
    return m;
}

CALC_STAGE_INLINE calc_stage_memory calc_stage_memory_sum(const calc_stage_terms *t,
                                                          const calc_stage_class *c,
                                                          const calc_stage_weights *w,
                                                          calc_pipeline_schedule schedule,
                                                          double chunks)
{
    double held = calc_stage_in_flight(t, schedule, c->position, chunks);
    return calc_stage_memory_at(t, c, w, schedule, held);
}

/** Second memory tier of a stage [bytes]. */
typedef struct calc_stage_tier2 {
    double weight, activation, optimizer;
} calc_stage_tier2;

CALC_STAGE_INLINE double calc_stage_tier2_bytes(const calc_stage_tier2 *away)
{
    return away->weight + away->activation + away->optimizer;
}

/** @param held  as calc_stage_memory_at() */
CALC_STAGE_INLINE calc_stage_tier2 calc_stage_tier2_at(const calc_stage_terms *t,
                                                       const calc_stage_class *c,
                                                       const calc_stage_weights *w, double held)
{
    calc_stage_tier2 out;
    if (calc_stage_rule(t, CALC_COMPAT_BLOCK_MEMORY)) {
        calc_rule_line line = calc_stage_tier2_by_rule(t, c);
        out.weight = line.block_bytes;
        out.activation = line.flight_bytes * held;
        out.optimizer = 0;
        return out;
    }
    double weights = w->dense + w->expert;
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    double stored = c->dense * t->block[0].away_bytes + c->moe * t->block[1].away_bytes;
    out.weight = t->weight_held_away * weights + t->weight_owned_away * owned +
                 calc_stage_frozen_of(t, c).away;
    out.activation = stored * (t->training ? held : 0);
    out.optimizer = t->optimizer_held_away * weights + t->optimizer_owned_away * owned +
                    calc_stage_muon_bytes(t, c).away;
    return out;
}

/** The results of a step that a search needs: its time with and without overlap of gradients and of
 *  weights [s], and the memory of the fullest stage [bytes]. */
typedef struct calc_stage_step {
    double pipeline_s;
    double partial_s;     /**< without data parallelism's communication */
    double total_s[2][2]; /**< [gradients overlap][weights overlap] */
    double allocated_bytes, tier1_bytes;
    double tier2_bytes; /**< of the stage that keeps most in the second tier */
} calc_stage_step;

/** Maximum needs over the stages of a layout, independent of its networks. */
typedef struct calc_stage_needs {
    double optimizer_s;
    double allocated_bytes, tier2_bytes;
} calc_stage_needs;

/** Micro-batches that the fullest stage of a class holds. */
CALC_STAGE_INLINE double calc_stage_held(const calc_stage_terms *t, calc_pipeline_schedule schedule,
                                         const calc_stage_class *c, double chunks)
{
    calc_stage_class peak = calc_stage_at_peak(t, schedule, c);
    return calc_stage_in_flight(t, schedule, peak.position, chunks);
}

/** The maximum including a class.
 *  @param held  calc_stage_held() */
CALC_STAGE_INLINE calc_stage_needs calc_stage_needs_more(calc_stage_needs x,
                                                         const calc_stage_terms *t,
                                                         calc_pipeline_schedule schedule,
                                                         const calc_stage_class *c, double held)
{
    calc_stage_weights w = calc_stage_weights_sum(t, c);
    calc_stage_memory m = calc_stage_memory_at(t, c, &w, schedule, held);
    calc_stage_tier2 away = calc_stage_tier2_at(t, c, &w, held);
    double tier2_bytes = calc_stage_tier2_bytes(&away);
    x.optimizer_s = calc_max(x.optimizer_s, calc_stage_optimizer_sum(t, c, &w));
    x.allocated_bytes = calc_max(x.allocated_bytes, m.total * calc_min(c->stages, 1));
    x.tier2_bytes = calc_max(x.tier2_bytes, tier2_bytes * calc_min(c->stages, 1));
    return x;
}

/** @param classes  how many there are, the first ones of c. A constant where speed matters
 *  @param held     calc_stage_held() of each */
CALC_STAGE_INLINE calc_stage_needs calc_stage_needs_of(const calc_stage_terms *t,
                                                       calc_pipeline_schedule schedule, int classes,
                                                       const calc_stage_class *c,
                                                       const double *held)
{
    calc_stage_needs x = {0, 0, 0};
    x = calc_stage_needs_more(x, t, schedule, &c[0], held[0]);
    x = classes > 1 ? calc_stage_needs_more(x, t, schedule, &c[1], held[1]) : x;
    x = classes > 2 ? calc_stage_needs_more(x, t, schedule, &c[2], held[2]) : x;
    x = classes > 3 ? calc_stage_needs_more(x, t, schedule, &c[3], held[3]) : x;
    return x;
}

/** Exposed time of data parallelism on the slowest stage, by type of overlap [s]. */
typedef struct calc_stage_exposed {
    double plain_s, weights_s, gradients_s, both_s;
} calc_stage_exposed;

/** The maximum including a class. */
CALC_STAGE_INLINE calc_stage_exposed
calc_stage_exposed_more(calc_stage_exposed x, const calc_stage_terms *t, const calc_stage_links *l,
                        const calc_stage_class *c, const calc_stage_pass *pass, double chunks)
{
    calc_stage_weights w = calc_stage_weights_sum(t, c);
    calc_stage_reduction r = calc_stage_reduction_sum(t, l, c, &w, pass, chunks);
    x.plain_s = calc_max(x.plain_s, r.reduce_s + r.gather_s);
    x.weights_s = calc_max(x.weights_s, r.reduce_s + r.gather_beside_s);
    x.gradients_s = calc_max(x.gradients_s, r.reduce_beside_s + r.gather_s);
    x.both_s = calc_max(x.both_s, r.reduce_beside_s + r.gather_beside_s);
    return x;
}

CALC_STAGE_INLINE calc_stage_exposed calc_stage_exposed_of(const calc_stage_terms *t,
                                                           const calc_stage_links *l, int classes,
                                                           const calc_stage_class *c,
                                                           const calc_stage_pass *pass,
                                                           double chunks)
{
    calc_stage_exposed x = {0, 0, 0, 0};
    x = calc_stage_exposed_more(x, t, l, &c[0], &pass[0], chunks);
    x = classes > 1 ? calc_stage_exposed_more(x, t, l, &c[1], &pass[1], chunks) : x;
    x = classes > 2 ? calc_stage_exposed_more(x, t, l, &c[2], &pass[2], chunks) : x;
    x = classes > 3 ? calc_stage_exposed_more(x, t, l, &c[3], &pass[3], chunks) : x;
    return x;
}

/** A step of its parts.
 *  @param pipeline_s  calc_stage_pipeline_s(), or less */
CALC_STAGE_INLINE calc_stage_step calc_stage_step_sum(const calc_stage_terms *t,
                                                      const calc_stage_links *l,
                                                      const calc_stage_needs *needs,
                                                      const calc_stage_exposed *exposed,
                                                      double pipeline_s)
{
    calc_stage_step s;
    s.pipeline_s = pipeline_s;
    s.partial_s =
        pipeline_s + pipeline_s * t->growth + l->tied_s + needs->optimizer_s + t->overhead_s;
    s.total_s[0][0] = exposed->plain_s + s.partial_s;
    s.total_s[0][1] = exposed->weights_s + s.partial_s;
    s.total_s[1][0] = exposed->gradients_s + s.partial_s;
    s.total_s[1][1] = exposed->both_s + s.partial_s;
    s.allocated_bytes = needs->allocated_bytes;
    s.tier1_bytes = needs->allocated_bytes * t->used_share + t->reserved_bytes;
    s.tier2_bytes = needs->tier2_bytes;
    return s;
}

/** Passes over a stage of each class.
 *  @param exposed  share of the messages that is not hidden */
CALC_STAGE_INLINE void calc_stage_passes_of(const calc_stage_terms *t, const calc_stage_links *l,
                                            int classes, const calc_stage_class *c, double chunks,
                                            double exposed, calc_stage_pass *pass)
{
    const calc_stage_pass none = {0, 0, 0, 0, 0, 0, 0};
    pass[0] = calc_stage_pass_of(t, l, &c[0], chunks, exposed);
    pass[1] = classes > 1 ? calc_stage_pass_of(t, l, &c[1], chunks, exposed) : none;
    pass[2] = classes > 2 ? calc_stage_pass_of(t, l, &c[2], chunks, exposed) : none;
    pass[3] = classes > 3 ? calc_stage_pass_of(t, l, &c[3], chunks, exposed) : none;
}

/** The step of a layout, or less.
 *  @param classes  that there are, the first ones of c; more change no bit. A constant where speed
 *                  matters
 *  @param c        CALC_MAX_STAGE_CLASSES classes in order of the pipeline
 *  @param exposed  share of the messages that is not hidden: calc_stage_exposed_messages()
 *  @param least    take calc_stage_pipeline_least_s(): no calls */
CALC_STAGE_INLINE calc_stage_step calc_stage_step_or_less(const calc_stage_terms *t,
                                                          const calc_stage_links *l,
                                                          calc_pipeline_schedule schedule,
                                                          int classes, const calc_stage_class *c,
                                                          double chunks, double exposed, bool least)
{
    double held[CALC_MAX_STAGE_CLASSES];
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        held[i] = i < classes ? calc_stage_held(t, schedule, &c[i], chunks) : 0;
    }
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    calc_stage_passes_of(t, l, classes, c, chunks, exposed, pass);
    calc_stage_needs needs = calc_stage_needs_of(t, schedule, classes, c, held);
    calc_stage_exposed x = calc_stage_exposed_of(t, l, classes, c, pass, chunks);
    double pipeline_s =
        least ? calc_stage_pipeline_least_s(t, l, schedule, classes, c, pass, chunks, chunks > 1)
              : calc_stage_pipeline_s(t, l, schedule, classes, c, pass, chunks, exposed);
    pipeline_s += calc_stage_deferred_s(t, classes, c, pass, chunks);
    return calc_stage_step_sum(t, l, &needs, &x, pipeline_s);
}

/** The step of a layout. */
CALC_STAGE_INLINE calc_stage_step calc_stage_step_of(const calc_stage_terms *t,
                                                     const calc_stage_links *l,
                                                     calc_pipeline_schedule schedule, int classes,
                                                     const calc_stage_class *c, double chunks,
                                                     double exposed)
{
    return calc_stage_step_or_less(t, l, schedule, classes, c, chunks, exposed, false);
}

#endif
