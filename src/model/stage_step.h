/** @file stage_step.h  The step of an extended layout, put together from what its blocks, ends and
 *  groups take: the time of each class of stages, the pipeline over them, the reduction of
 * gradients behind them, and their memory.
 *
 *  Elementwise arithmetic on doubles only, in small inline functions: calc_run() and the sweep,
 * which evaluates many layouts at once, call the same ones. */
#ifndef CALC_MODEL_STAGE_STEP_H
#define CALC_MODEL_STAGE_STEP_H

#include "calc.h"
#include "model/collective.h"
#include "model/processor.h"

enum {
    CALC_MAX_STAGE_CLASSES = 4, /**< the first stage, those with one block more, the others, the
                                     last */
    CALC_STAGE_KINDS = 2        /**< of blocks: dense, with experts */
};

/** Gradients of the last bucket have nothing left to hide behind: this share of them. */
#define CALC_STAGE_LAST_BUCKET 0.03

/** Equal stages that follow one another. A class with 0 stages is not there. */
typedef struct calc_stage_class {
    double stages;      /**< how many */
    double position;    /**< index of the first of them */
    double dense, moe;  /**< blocks of each kind; fractions where kinds alternate or are spread */
    double first, last; /**< 1: has the embedding; the head. Less where ends are spread */
} calc_stage_class;

/** Weights of one rank, in elements, or what goes with them. */
typedef struct calc_stage_weights {
    double dense, expert;
} calc_stage_weights;

/** One part of the model for one micro-batch on one processor. */
typedef struct calc_stage_part {
    double fw_s, agrad_s, wgrad_s; /**< everything included: what the schedule sees */
    double spared_s;               /**< of agrad_s: what not recomputing would spare */
    calc_stage_weights weights;
    double kept_bytes, whole_bytes; /**< activations, with and without recomputation */
} calc_stage_part;

/** What a layout's step needs beside its classes of stages, its chunks and its flags. */
typedef struct calc_stage_terms {
    calc_stage_part block[CALC_STAGE_KINDS];
    calc_stage_part embedding, head; /**< the head with multi-token prediction */
    double stages, microbatches;
    double lost_rounds; /**< chunks an incomplete round of micro-batches leaves idle, per chunk */
    bool training;
    double message_s;        /**< between stages, one way */
    double message_hidden;   /**< share that pipeline_par_overlap hides */
    double recompute_blocks; /**< only so many blocks of a stage recompute; 0: all */

    /* Data parallelism. */
    calc_collective_line reduce_dense, reduce_expert, gather_dense, gather_expert;
    double reduced_bytes, gathered_bytes; /**< per element on the network */
    double reductions;                    /**< per step */
    double window_share, contention;
    double tied_s;            /**< gradients of the table that both ends share */
    double optimizer_s;       /**< per element that is held, */
    double optimizer_owned_s; /**< and per element that is owned */
    double growth;            /**< of the pipeline's time: stragglers */
    double overhead_s;

    /* Memory. */
    double dense_shards, expert_shards;
    double held_bytes, owned_bytes; /**< per element that a rank holds, or owns */
    double gathered_ahead;          /**< bytes per element of two blocks, sharded weights */
    double whole_block_bytes;       /**< bytes per element of one block's whole gradients */
    double framework_bytes[2][2];   /**< [dense blocks][blocks with experts] */
    double framework_head_bytes;
    double used_share, reserved_bytes; /**< 1 + fragmentation; memory outside the allocator */
} calc_stage_terms;

/** One micro-batch on a stage [s]. */
typedef struct calc_stage_pass {
    double fw_s, agrad_s, wgrad_s;
} calc_stage_pass;

static inline double calc_stage_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double calc_stage_pass_s(const calc_stage_pass *p)
{
    return p->fw_s + p->agrad_s + p->wgrad_s;
}

/** Share of a stage's blocks that do not recompute. */
static inline double calc_stage_rich(const calc_stage_terms *t, const calc_stage_class *c)
{
    double blocks = c->dense + c->moe;
    bool some = t->recompute_blocks > 0 && t->recompute_blocks < blocks;
    return some ? 1 - t->recompute_blocks / blocks : 0;
}

/** Passes over a stage of a class, with its messages.
 *  @param chunks   model chunks per stage: each sends its own messages
 *  @param exposed  share of the messages that is not hidden */
static inline calc_stage_pass calc_stage_pass_of(const calc_stage_terms *t,
                                                 const calc_stage_class *c, double chunks,
                                                 double exposed)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    double message_s = t->message_s * chunks * exposed;
    double spared_s = calc_stage_rich(t, c) * (c->dense * dense->spared_s + c->moe * moe->spared_s);
    calc_stage_pass p;
    p.fw_s = c->dense * dense->fw_s + c->moe * moe->fw_s + c->first * t->embedding.fw_s +
             c->last * t->head.fw_s + message_s;
    p.agrad_s = c->dense * dense->agrad_s + c->moe * moe->agrad_s +
                c->first * t->embedding.agrad_s + c->last * t->head.agrad_s +
                (t->training ? message_s : 0) - spared_s;
    p.wgrad_s = c->dense * dense->wgrad_s + c->moe * moe->wgrad_s +
                c->first * t->embedding.wgrad_s + c->last * t->head.wgrad_s;
    return p;
}

/** Time until the last micro-batch has passed back through the first stage [s].
 *  1F1B and GPipe: the longest of the paths that wait for one class of stages; exact for equal
 *  stages, else a lower bound (docs/schedules.md has the measured error). Interleaved: the slowest
 *  stage and a chunk of all others (Narayanan et al. 2021, arXiv 2104.04473). Zero bubble: Qi et
 * al. 2023, arXiv 2401.10241; DualPipe: DeepSeek-AI 2024, arXiv 2412.19437, table 2.
 *  @param pass  CALC_MAX_STAGE_CLASSES classes in order of the pipeline */
static inline double calc_stage_pipeline_s(const calc_stage_terms *t,
                                           calc_pipeline_schedule schedule,
                                           const calc_stage_class *c, const calc_stage_pass *pass,
                                           double chunks)
{
    double sum_s = 0;
    calc_stage_pass most = {0, 0, 0};
    double slowest_s = 0;
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        double s = calc_stage_pass_s(&pass[i]);
        bool more = c[i].stages > 0 && s > slowest_s;
        sum_s += c[i].stages * s;
        most.fw_s = more ? pass[i].fw_s : most.fw_s;
        most.agrad_s = more ? pass[i].agrad_s : most.agrad_s;
        most.wgrad_s = more ? pass[i].wgrad_s : most.wgrad_s;
        slowest_s = more ? s : slowest_s;
    }
    double steady_s = t->microbatches * slowest_s;
    double others = t->stages - 1;
    if (!t->training) {
        return sum_s - slowest_s + steady_s;
    }
    switch (schedule) {
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
        return steady_s + others * calc_max(0, most.fw_s + most.agrad_s - most.wgrad_s);
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        return steady_s + others * calc_max(0, most.fw_s + most.agrad_s - 2 * most.wgrad_s);
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        return steady_s + calc_max(0, t->stages / 2 - 1) *
                              calc_max(0, slowest_s + most.agrad_s - 2 * most.wgrad_s);
    default:
        break;
    }
    double interleaved_s =
        steady_s + (sum_s - slowest_s + t->lost_rounds * (chunks - 1) * slowest_s) / chunks;
    double longest_s = 0;
    double before_s = 0;
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        double s = calc_stage_pass_s(&pass[i]);
        double path_s = before_s + c[i].stages * s + (t->microbatches - 1) * s;
        for (int j = i + 1; j < CALC_MAX_STAGE_CLASSES; j++) {
            path_s += c[j].stages * calc_max(0, 2 * calc_stage_pass_s(&pass[j]) - s);
        }
        path_s = c[i].stages > 0 ? path_s : 0;
        longest_s = calc_max(longest_s, path_s);
        before_s += c[i].stages * s;
    }
    return chunks > 1 ? interleaved_s : longest_s;
}

/** Weights of a stage of a class. */
static inline calc_stage_weights calc_stage_weights_sum(const calc_stage_terms *t,
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

/** What of a communication is exposed beside a window, and what it costs the window. */
static inline double calc_stage_exposed_s(const calc_stage_terms *t, double link_s, double window_s,
                                          double least_s)
{
    double hidden_s = link_s - t->window_share * window_s;
    return calc_max(least_s, hidden_s) + t->contention * calc_stage_min(link_s, window_s);
}

/** Reduction of gradients and gathering of weights of a stage, in a step [s]. */
typedef struct calc_stage_reduction {
    double reduce_s, gather_s;               /**< on the link */
    double reduce_beside_s, gather_beside_s; /**< exposed, where they overlap */
} calc_stage_reduction;

static inline calc_stage_reduction calc_stage_reduction_sum(const calc_stage_terms *t,
                                                            const calc_stage_weights *w,
                                                            const calc_stage_pass *pass,
                                                            double chunks)
{
    calc_stage_reduction r;
    r.reduce_s =
        t->reductions * (calc_collective_line_s(&t->reduce_dense, t->reduced_bytes * w->dense) +
                         calc_collective_line_s(&t->reduce_expert, t->reduced_bytes * w->expert));
    r.gather_s = calc_collective_line_s(&t->gather_dense, t->gathered_bytes * w->dense) +
                 calc_collective_line_s(&t->gather_expert, t->gathered_bytes * w->expert);
    /* With chunks, the gradients of one are final while micro-batches still run through others. */
    double round = calc_stage_min(t->stages, t->microbatches);
    bool several = chunks > 1 && t->stages > 1;
    double windows = calc_max(several ? round * (chunks - 1) / chunks : 1, t->reductions);
    double bw_s = (pass->agrad_s + pass->wgrad_s) * windows;
    double fw_s = pass->fw_s * windows;
    r.reduce_beside_s =
        calc_stage_exposed_s(t, r.reduce_s, bw_s, CALC_STAGE_LAST_BUCKET * r.reduce_s);
    r.gather_beside_s =
        calc_stage_exposed_s(t, r.gather_s, fw_s, CALC_STAGE_LAST_BUCKET * r.gather_s);
    return r;
}

/** Time of the optimizer on a stage [s]. */
static inline double calc_stage_optimizer_sum(const calc_stage_terms *t,
                                              const calc_stage_weights *w)
{
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    return t->optimizer_s * (w->dense + w->expert) + t->optimizer_owned_s * owned;
}

/** Micro-batches whose activations a stage holds at the peak; sources: docs/schedules.md. */
static inline double calc_stage_in_flight(calc_pipeline_schedule schedule, double position,
                                          double stages, double chunks, double microbatches)
{
    double held;
    switch (schedule) {
    case CALC_PIPELINE_SCHEDULE_GPIPE:
        held = microbatches;
        break;
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        held = stages;
        break;
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
        held = 2 * (stages - position) - 1;
        break;
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        held = stages + 1;
        break;
    default: {
        double parts = (chunks - 1) * stages + 2 * (stages - 1 - position) + 1;
        held = chunks > 1 ? parts / chunks : stages - position;
    }
    }
    return calc_stage_min(held, microbatches);
}

/** What a stage holds [bytes]. */
typedef struct calc_stage_memory {
    double state; /**< weights, gradients, optimizer */
    double activation, working, ends, framework;
    double in_flight; /**< micro-batches */
    double total;
} calc_stage_memory;

static inline calc_stage_memory
calc_stage_memory_sum(const calc_stage_terms *t, const calc_stage_class *c,
                      const calc_stage_weights *w, calc_pipeline_schedule schedule, double chunks)
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
    /* What recomputation does not store exists for the block at hand. */
    double dense_gap = c->dense > 0 ? dense->whole_bytes - dense->kept_bytes : 0;
    double moe_gap = c->moe > 0 ? moe->whole_bytes - moe->kept_bytes : 0;
    m.in_flight = t->training ? calc_stage_in_flight(schedule, c->position, t->stages, chunks,
                                                     t->microbatches)
                              : 0;
    m.activation = stored * m.in_flight;
    m.working = calc_max(dense_gap, moe_gap);
    m.ends = c->last * t->head.kept_bytes;
    m.framework = c->dense > 0 ? (c->moe > 0 ? t->framework_bytes[1][1] : t->framework_bytes[1][0])
                               : t->framework_bytes[0][1];
    m.framework += c->last * t->framework_head_bytes;
    m.total = m.state + m.activation + m.working + m.ends + m.framework;
    return m;
}

/** A step, as far as a search needs it: without overlap of gradients and weights, with that of
 *  gradients, of weights, and of both [s]; and the memory of the fullest stage [bytes]. */
typedef struct calc_stage_step {
    double partial_s;     /**< without data parallelism's communication */
    double total_s[2][2]; /**< [gradients overlap][weights overlap] */
    double allocated_bytes, tier1_bytes;
} calc_stage_step;

static inline calc_stage_step calc_stage_step_of(const calc_stage_terms *t,
                                                 calc_pipeline_schedule schedule,
                                                 const calc_stage_class *c, double chunks,
                                                 double exposed)
{
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    calc_stage_step s;
    double optimizer_s = 0;
    double allocated_bytes = 0;
    s.total_s[0][0] = 0;
    s.total_s[0][1] = 0;
    s.total_s[1][0] = 0;
    s.total_s[1][1] = 0;
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        bool there = c[i].stages > 0;
        pass[i] = calc_stage_pass_of(t, &c[i], chunks, exposed);
        calc_stage_weights w = calc_stage_weights_sum(t, &c[i]);
        calc_stage_reduction r = calc_stage_reduction_sum(t, &w, &pass[i], chunks);
        double optimized_s = calc_stage_optimizer_sum(t, &w);
        calc_stage_memory m = calc_stage_memory_sum(t, &c[i], &w, schedule, chunks);
        double plain_s = r.reduce_s + r.gather_s;
        double weights_s = r.reduce_s + r.gather_beside_s;
        double gradients_s = r.reduce_beside_s + r.gather_s;
        double both_s = r.reduce_beside_s + r.gather_beside_s;
        optimizer_s = there ? calc_max(optimizer_s, optimized_s) : optimizer_s;
        allocated_bytes = there ? calc_max(allocated_bytes, m.total) : allocated_bytes;
        s.total_s[0][0] = there ? calc_max(s.total_s[0][0], plain_s) : s.total_s[0][0];
        s.total_s[0][1] = there ? calc_max(s.total_s[0][1], weights_s) : s.total_s[0][1];
        s.total_s[1][0] = there ? calc_max(s.total_s[1][0], gradients_s) : s.total_s[1][0];
        s.total_s[1][1] = there ? calc_max(s.total_s[1][1], both_s) : s.total_s[1][1];
    }
    double pipeline_s = calc_stage_pipeline_s(t, schedule, c, pass, chunks);
    s.partial_s = pipeline_s + pipeline_s * t->growth + t->tied_s + optimizer_s + t->overhead_s;
    s.total_s[0][0] += s.partial_s;
    s.total_s[0][1] += s.partial_s;
    s.total_s[1][0] += s.partial_s;
    s.total_s[1][1] += s.partial_s;
    s.allocated_bytes = allocated_bytes;
    s.tier1_bytes = allocated_bytes * t->used_share + t->reserved_bytes;
    return s;
}

#endif
