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

/** The sweep makes vectors of these functions: none may stay a call. */
#define CALC_STAGE_INLINE static inline __attribute__((always_inline))

/** What sums of a step in another order may differ by. */
#define CALC_STAGE_ROUNDING 1e-12

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
    bool ends_as_blocks; /**< embedding and head take the place of a block each */
    bool dense_first;    /**< dense blocks come before those with experts */
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

CALC_STAGE_INLINE double calc_stage_min(double a, double b)
{
    return a < b ? a : b;
}

CALC_STAGE_INLINE double calc_stage_pass_s(const calc_stage_pass *p)
{
    return p->fw_s + p->agrad_s + p->wgrad_s;
}

/** Share of a stage's blocks that do not recompute. */
CALC_STAGE_INLINE double calc_stage_rich(const calc_stage_terms *t, const calc_stage_class *c)
{
    double blocks = c->dense + c->moe;
    bool some = t->recompute_blocks > 0 && t->recompute_blocks < blocks;
    return some ? 1 - t->recompute_blocks / blocks : 0;
}

/** Passes over a stage of a class, with its messages.
 *  @param chunks   model chunks per stage: each sends its own messages
 *  @param exposed  share of the messages that is not hidden */
CALC_STAGE_INLINE calc_stage_pass calc_stage_pass_of(const calc_stage_terms *t,
                                                     const calc_stage_class *c, double chunks,
                                                     double exposed)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    /* A class that is not there takes nothing: then no maximum below has to ask. */
    double message_s = t->message_s * chunks * exposed * calc_stage_min(c->stages, 1);
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

/** A chunk of a stage of a class, as if it were a class of its own: its blocks, and the ends that
 * are in it (docs/schedules.md). Only on the first stage may dense blocks come before the others.
 *  @param chunks  of a stage: 2 with ZB-V and DualPipeV */
calc_stage_class calc_stage_chunk(const calc_stage_terms *terms, const calc_stage_class *c,
                                  int64_t chunks, int64_t chunk);

/** Passes over it, with its messages.
 *  @param chunks   model chunks per stage: pipeline_interleaving
 *  @param parts    chunks of a stage, as above
 *  @param exposed  share of the messages that is not hidden */
calc_stage_pass calc_stage_chunk_pass(const calc_stage_terms *terms, const calc_stage_class *c,
                                      double chunks, int64_t parts, int64_t chunk, double exposed);

/** The pipeline of one step for schedules beside plain 1F1B [s]: in closed form if all chunks take
 *  as long, and for gpipe; else simulated (schedule_steady.h), if there is room. Not inline: it is
 *  long.
 *  @param pass  CALC_MAX_STAGE_CLASSES classes in order of the pipeline */
double calc_stage_scheduled_s(const calc_stage_terms *terms, calc_pipeline_schedule schedule,
                              const calc_stage_class *c, const calc_stage_pass *pass, double chunks,
                              double exposed);

/** The same for the micro-batches whose activations a stage holds. */
double calc_stage_scheduled_in_flight(const calc_stage_terms *terms,
                                      calc_pipeline_schedule schedule, double position);

/** And for the stage of a class where they are most. */
double calc_stage_scheduled_peak(const calc_stage_terms *terms, calc_pipeline_schedule schedule,
                                 const calc_stage_class *c);

/** Forward passes only: the first micro-batch goes through all stages, the others follow the
 * slowest [s]. */
CALC_STAGE_INLINE double calc_stage_forward_s(const calc_stage_terms *t, const calc_stage_class *c,
                                              const calc_stage_pass *pass)
{
    double first_s = c[0].stages * pass[0].fw_s + c[1].stages * pass[1].fw_s +
                     c[2].stages * pass[2].fw_s + c[3].stages * pass[3].fw_s;
    double slowest_s = calc_max(calc_stage_pass_s(&pass[0]), calc_stage_pass_s(&pass[1]));
    slowest_s = calc_max(slowest_s, calc_stage_pass_s(&pass[2]));
    slowest_s = calc_max(slowest_s, calc_stage_pass_s(&pass[3]));
    return first_s + (t->microbatches - 1) * slowest_s;
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
CALC_STAGE_INLINE double calc_stage_1f1b_s(const calc_stage_terms *t, const calc_stage_class *c,
                                           const calc_stage_pass *pass)
{
    calc_stage_walk at0 = {0, 0, 0, 0, 0};
    calc_stage_walk at1 = calc_stage_walk_on(at0, &pass[0], c[0].stages);
    at1 = calc_stage_walk_meets(at1, &pass[0]);
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
    return calc_max(longest_s, end.fw_s + end.bw_s + paced_s);
}

/** Time until the last micro-batch has passed back through the first stage [s]; sources:
 *  docs/schedules.md. No loops if the schedule is 1F1B without chunks: the sweep makes vectors of
 * it.
 *  @param pass     CALC_MAX_STAGE_CLASSES classes in order of the pipeline
 *  @param exposed  share of the messages that is not hidden */
CALC_STAGE_INLINE double calc_stage_pipeline_s(const calc_stage_terms *t,
                                               calc_pipeline_schedule schedule,
                                               const calc_stage_class *c,
                                               const calc_stage_pass *pass, double chunks,
                                               double exposed)
{
    if (!t->training) {
        return calc_stage_forward_s(t, c, pass);
    }
    if (schedule != CALC_PIPELINE_SCHEDULE_1F1B || chunks > 1) {
        return calc_stage_scheduled_s(t, schedule, c, pass, chunks, exposed);
    }
    return calc_stage_1f1b_s(t, c, pass);
}

/** calc_stage_pipeline_s() where that is short; else no more than it [s]: the busiest stage is
 * never idle. DualPipe's stages share their work in pairs: what all of them do is divided evenly.
 */
CALC_STAGE_INLINE double calc_stage_pipeline_least_s(const calc_stage_terms *t,
                                                     calc_pipeline_schedule schedule,
                                                     const calc_stage_class *c,
                                                     const calc_stage_pass *pass, double chunks)
{
    if (!t->training) {
        return calc_stage_forward_s(t, c, pass);
    }
    double s0 = calc_stage_pass_s(&pass[0]);
    double s1 = calc_stage_pass_s(&pass[1]);
    double s2 = calc_stage_pass_s(&pass[2]);
    double s3 = calc_stage_pass_s(&pass[3]);
    double most_s = calc_max(calc_max(s0, s1), calc_max(s2, s3));
    double all_s = c[0].stages * s0 + c[1].stages * s1 + c[2].stages * s2 + c[3].stages * s3;
    double busy_s = schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ? all_s / t->stages : most_s;
    double least_s = t->microbatches * busy_s * (1 - CALC_STAGE_ROUNDING);
    if (schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        return least_s;
    }
    double plain_s = calc_stage_1f1b_s(t, c, pass);
    return chunks > 1 ? least_s : plain_s;
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

/** What of a communication is exposed beside a window, and what it costs the window. */
CALC_STAGE_INLINE double calc_stage_exposed_s(const calc_stage_terms *t, double link_s,
                                              double window_s, double least_s)
{
    double hidden_s = link_s - t->window_share * window_s;
    return calc_max(least_s, hidden_s) + t->contention * calc_stage_min(link_s, window_s);
}

/** Reduction of gradients and gathering of weights of a stage, in a step [s]. */
typedef struct calc_stage_reduction {
    double reduce_s, gather_s;               /**< on the link */
    double reduce_beside_s, gather_beside_s; /**< exposed, where they overlap */
} calc_stage_reduction;

CALC_STAGE_INLINE calc_stage_reduction calc_stage_reduction_sum(const calc_stage_terms *t,
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
CALC_STAGE_INLINE double calc_stage_optimizer_sum(const calc_stage_terms *t,
                                                  const calc_stage_weights *w)
{
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
    /* What recomputation does not store exists for the block at hand. */
    double dense_gap = c->dense > 0 ? dense->whole_bytes - dense->kept_bytes : 0;
    double moe_gap = c->moe > 0 ? moe->whole_bytes - moe->kept_bytes : 0;
    m.in_flight = t->training ? calc_stage_in_flight(t, schedule, c->position, chunks) : 0;
    m.activation = stored * m.in_flight;
    m.working = calc_max(dense_gap, moe_gap);
    /* The head is done with its logits when a block recomputes: what they need beyond that; unless
     * another micro-batch is on its way forward at the same time. */
    bool both_ways = schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ||
                     schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    double logits = c->last * t->head.kept_bytes;
    m.ends = calc_max(0, logits - (both_ways ? 0 : m.working));
    double both = t->framework_bytes[1][1];
    double dense_only = t->framework_bytes[1][0];
    double moe_only = t->framework_bytes[0][1];
    double with_dense = c->moe > 0 ? both : dense_only;
    m.framework = c->dense > 0 ? with_dense : moe_only;
    m.framework += c->last * t->framework_head_bytes;
    m.total = m.state + m.activation + m.working + m.ends + m.framework;
    return m;
}

/** A step, as far as a search needs it: without overlap of gradients and weights, with that of
 *  gradients, of weights, and of both [s]; and the memory of the fullest stage [bytes]. */
typedef struct calc_stage_step {
    double pipeline_s;
    double partial_s;     /**< without data parallelism's communication */
    double total_s[2][2]; /**< [gradients overlap][weights overlap] */
    double allocated_bytes, tier1_bytes;
} calc_stage_step;

/** The most of the classes seen so far. */
typedef struct calc_stage_most {
    double plain_s, weights_s, gradients_s, both_s; /**< exposed, by what overlaps */
    double optimizer_s, allocated_bytes;
} calc_stage_most;

CALC_STAGE_INLINE calc_stage_most calc_stage_more(calc_stage_most x, const calc_stage_terms *t,
                                                  calc_pipeline_schedule schedule,
                                                  const calc_stage_class *c,
                                                  const calc_stage_pass *pass, double chunks)
{
    calc_stage_weights w = calc_stage_weights_sum(t, c);
    calc_stage_reduction r = calc_stage_reduction_sum(t, &w, pass, chunks);
    calc_stage_class peak = calc_stage_at_peak(t, schedule, c);
    calc_stage_memory m = calc_stage_memory_sum(t, &peak, &w, schedule, chunks);
    double optimizer_s = calc_stage_optimizer_sum(t, &w);
    double plain_s = r.reduce_s + r.gather_s;
    double weights_s = r.reduce_s + r.gather_beside_s;
    double gradients_s = r.reduce_beside_s + r.gather_s;
    double both_s = r.reduce_beside_s + r.gather_beside_s;
    x.plain_s = calc_max(x.plain_s, plain_s);
    x.weights_s = calc_max(x.weights_s, weights_s);
    x.gradients_s = calc_max(x.gradients_s, gradients_s);
    x.both_s = calc_max(x.both_s, both_s);
    x.optimizer_s = calc_max(x.optimizer_s, optimizer_s);
    x.allocated_bytes = calc_max(x.allocated_bytes, m.total * calc_stage_min(c->stages, 1));
    return x;
}

/** @param least  take a lower bound for the pipeline where it has no short closed form: no calls */
CALC_STAGE_INLINE calc_stage_step calc_stage_step_or_less(const calc_stage_terms *t,
                                                          calc_pipeline_schedule schedule,
                                                          const calc_stage_class *c, double chunks,
                                                          double exposed, bool least)
{
    const calc_stage_pass pass[CALC_MAX_STAGE_CLASSES] = {
        calc_stage_pass_of(t, &c[0], chunks, exposed),
        calc_stage_pass_of(t, &c[1], chunks, exposed),
        calc_stage_pass_of(t, &c[2], chunks, exposed),
        calc_stage_pass_of(t, &c[3], chunks, exposed)};
    calc_stage_most most = {0, 0, 0, 0, 0, 0};
    most = calc_stage_more(most, t, schedule, &c[0], &pass[0], chunks);
    most = calc_stage_more(most, t, schedule, &c[1], &pass[1], chunks);
    most = calc_stage_more(most, t, schedule, &c[2], &pass[2], chunks);
    most = calc_stage_more(most, t, schedule, &c[3], &pass[3], chunks);
    calc_stage_step s;
    double pipeline_s = least ? calc_stage_pipeline_least_s(t, schedule, c, pass, chunks)
                              : calc_stage_pipeline_s(t, schedule, c, pass, chunks, exposed);
    s.pipeline_s = pipeline_s;
    s.partial_s =
        pipeline_s + pipeline_s * t->growth + t->tied_s + most.optimizer_s + t->overhead_s;
    s.total_s[0][0] = most.plain_s + s.partial_s;
    s.total_s[0][1] = most.weights_s + s.partial_s;
    s.total_s[1][0] = most.gradients_s + s.partial_s;
    s.total_s[1][1] = most.both_s + s.partial_s;
    s.allocated_bytes = most.allocated_bytes;
    s.tier1_bytes = most.allocated_bytes * t->used_share + t->reserved_bytes;
    return s;
}

CALC_STAGE_INLINE calc_stage_step calc_stage_step_of(const calc_stage_terms *t,
                                                     calc_pipeline_schedule schedule,
                                                     const calc_stage_class *c, double chunks,
                                                     double exposed)
{
    return calc_stage_step_or_less(t, schedule, c, chunks, exposed, false);
}

#endif
