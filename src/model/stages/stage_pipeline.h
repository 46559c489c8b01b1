/** @file stage_pipeline.h  The time of each class of stages, and the pipeline over them: a part of
 *  stage_step.h. */
#ifndef CALC_MODEL_STAGE_PIPELINE_H
#define CALC_MODEL_STAGE_PIPELINE_H

#include "model/stages/stage_types.h"

/* The step of a stage by Calculon's rules (words.h, CALC_COMPAT_LIST): a
 * part of stage_step.h, which asks for them. The terms of a block are averaged over the kinds of
 * blocks that a stage has. */

/** Whether a rule applies. */
CALC_STAGE_INLINE bool calc_stage_rule(const calc_stage_terms *t, int rule)
{
    return calc_compat_has(t->compat, rule);
}

/* Here and below, a property common to all layouts of a search is a factor instead of a condition,
 * since compilers do not vectorize conditions. */

/** Mean over the blocks of a class of a number of dense blocks and one of blocks with experts. */
CALC_STAGE_INLINE double calc_stage_mean(const calc_stage_class *c, double dense, double moe)
{
    double blocks = c->dense + c->moe;
    double there = blocks > 0 ? 1 : 0;
    double mixed = (c->dense * dense + c->moe * moe) / (blocks > 0 ? blocks : 1);
    return c->moe > 0 ? mixed : there * dense;
}

#define CALC_STAGE_MEAN(t, c, member) calc_stage_mean(c, (t)->rule[0].member, (t)->rule[1].member)

/** A pass over a chunk: its base blocks and its last, which hands on the message. A block takes the
 *  longer of its own time and that of its offload, which its memory traffic delays
 * (`offload-each`).
 *  @param base_s  of a block without either
 *  @return time of the chunk; base_s and edge_s are changed to that of its blocks */
CALC_STAGE_INLINE double calc_stage_chunk_s(double *base_s, double *edge_s, double away_s,
                                            double mem_s, double message_s, double base_blocks)
{
    double least_s = away_s > 0 ? away_s + mem_s : 0;
    *edge_s = calc_max(*base_s + *edge_s + message_s, least_s);
    *base_s = calc_max(*base_s, least_s);
    return base_blocks * *base_s + *edge_s;
}

/** calc_stage_pass_of() by rule. */
CALC_STAGE_INLINE calc_stage_pass calc_stage_pass_by_rule(const calc_stage_terms *t,
                                                          const calc_stage_links *l,
                                                          const calc_stage_class *c, double chunks,
                                                          double exposed)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    double there = calc_min(c->stages, 1);
    double base_blocks = (c->dense + c->moe) / chunks - 1;
    double wgrad_s = c->dense * dense->wgrad_s + c->moe * moe->wgrad_s;
    double agrad_s = calc_stage_mean(c, dense->agrad_s, moe->agrad_s);
    calc_stage_pass p;
    p.base_fw_s = calc_stage_mean(c, dense->fw_s, moe->fw_s);
    p.base_bw_s = agrad_s + calc_stage_mean(c, dense->wgrad_s, moe->wgrad_s);
    p.edge_fw_s = CALC_STAGE_MEAN(t, c, edge_fw_s);
    p.edge_bw_s = CALC_STAGE_MEAN(t, c, edge_bw_s);
    double fw_s = calc_stage_chunk_s(&p.base_fw_s, &p.edge_fw_s, CALC_STAGE_MEAN(t, c, fw_away_s),
                                     CALC_STAGE_MEAN(t, c, fw_mem_s),
                                     l->message_s * exposed * there, base_blocks);
    double bw_s = calc_stage_chunk_s(&p.base_bw_s, &p.edge_bw_s, CALC_STAGE_MEAN(t, c, bw_away_s),
                                     CALC_STAGE_MEAN(t, c, bw_mem_s),
                                     l->back_message_s * exposed * there, base_blocks);
    p.fw_s = chunks * fw_s + c->first * t->embedding.fw_s + c->last * t->head.fw_s;
    p.wgrad_s = wgrad_s + c->first * t->embedding.wgrad_s + c->last * t->head.wgrad_s;
    p.agrad_s = chunks * bw_s - wgrad_s + c->first * t->embedding.agrad_s +
                c->last * t->head.agrad_s -
                calc_stage_rich(t, c) * (c->dense * dense->spared_s + c->moe * moe->spared_s);
    return p;
}

/** Time of the blocks that stages have less than the ceiling [s]: half a base and half an edge
 *  block each, or an edge block if a chunk has no other. */
CALC_STAGE_INLINE double calc_stage_missing_s(const calc_stage_class *c, const calc_stage_pass *p,
                                              double chunks)
{
    double base = c->dense + c->moe > chunks ? c->missing : 0;
    double edge_s = p->edge_fw_s + p->edge_bw_s;
    double pair_s = p->base_fw_s + p->base_bw_s + edge_s;
    return base * pair_s / 2 + (c->missing - base) * edge_s;
}

/** Idle time of even stages [s]: 1F1B and interleaved (Narayanan et al. 2021, arXiv 2104.04473). */
CALC_STAGE_INLINE double calc_stage_even_bubble_s(const calc_stage_terms *t,
                                                  const calc_stage_class *c,
                                                  const calc_stage_pass *p, double chunks)
{
    double chunk_s = (p->fw_s + p->agrad_s + p->wgrad_s) / chunks;
    double lost = t->stages - 1 + (chunks - 1) * t->lost_rounds;
    return lost * chunk_s - calc_stage_missing_s(c, p, chunks);
}

/** Messages that count in a chunk but not in a step [s]: those never sent (`idle-message`,
 *  `inference-message`). */
CALC_STAGE_INLINE double calc_stage_unsent_s(const calc_stage_terms *t, const calc_stage_links *l,
                                             double chunks)
{
    double alone = t->stages > 1 ? 0 : 1;
    double back = t->stages > 1 && t->training ? 0 : 1;
    return t->microbatches * chunks * (alone * l->message_s + back * l->back_message_s);
}

/** The pipeline of even stages [s]. */
CALC_STAGE_INLINE double calc_stage_even_s(const calc_stage_terms *t, const calc_stage_links *l,
                                           const calc_stage_class *c, const calc_stage_pass *p,
                                           double chunks)
{
    double chunk_s = (p->fw_s + p->agrad_s + p->wgrad_s) / chunks;
    double rounds = t->microbatches * chunks + (t->stages - 1) + (chunks - 1) * t->lost_rounds;
    return rounds * chunk_s - calc_stage_missing_s(c, p, chunks) -
           calc_stage_unsent_s(t, l, chunks);
}

/** The overlap of gradients with the backward pass of a class (`reduce-by-block`).
 *  @param block_s  reduction of one block */
CALC_STAGE_INLINE calc_reduce_times calc_stage_reduce_by_block(const calc_stage_terms *t,
                                                               const calc_stage_links *l,
                                                               const calc_stage_class *c,
                                                               const calc_stage_pass *p,
                                                               double chunks, double block_s)
{
    double base_blocks = (c->dense + c->moe) / chunks - 1;
    calc_reduce_overlap o;
    o.block_s = block_s;
    o.usage = l->usage;
    o.collides = l->collides;
    o.base_bw_s = p->base_bw_s;
    o.edge_bw_s = p->edge_bw_s;
    o.chunk_bw_s = base_blocks * p->base_bw_s + p->edge_bw_s;
    o.busy_s = CALC_STAGE_MEAN(t, c, busy_s);
    o.link_s = l->same_link * CALC_STAGE_MEAN(t, c, link_s);
    o.edge_link_s = l->same_link * CALC_STAGE_MEAN(t, c, edge_link_s);
    o.compute_s = CALC_STAGE_MEAN(t, c, compute_s);
    o.message_s = l->back_message_s;
    o.optimizer_window_s = CALC_STAGE_MEAN(t, c, optimizer_window_s);
    o.stages = t->stages;
    o.chunks = chunks;
    o.base_blocks = base_blocks;
    o.last_round = t->stages - t->lost_rounds;
    return calc_reduce_overlapped(&o);
}

/** Micro-batches whose activations every stage holds (`mean-in-flight`). */
CALC_STAGE_INLINE double calc_stage_mean_in_flight(const calc_stage_terms *t, double chunks)
{
    double p = t->stages;
    double plain = calc_min(t->microbatches, p);
    return chunks > 1 ? plain * (1 + (p - 1) / (chunks * p)) : plain;
}

/** Memory of the blocks of a class in a tier: fixed, and per micro-batch in flight [bytes]
 *  (`block-memory`). */
CALC_STAGE_INLINE calc_rule_line calc_stage_tier1_by_rule(const calc_stage_terms *t,
                                                          const calc_stage_class *c)
{
    double blocks = c->dense + c->moe;
    calc_rule_line line = {CALC_STAGE_MEAN(t, c, tier1.block_bytes) * blocks +
                               CALC_STAGE_MEAN(t, c, fixed_bytes),
                           CALC_STAGE_MEAN(t, c, tier1.flight_bytes) * blocks};
    return line;
}

CALC_STAGE_INLINE calc_rule_line calc_stage_tier2_by_rule(const calc_stage_terms *t,
                                                          const calc_stage_class *c)
{
    double blocks = c->dense + c->moe;
    calc_rule_line line = {CALC_STAGE_MEAN(t, c, tier2.block_bytes) * blocks +
                               CALC_STAGE_MEAN(t, c, fixed_away_bytes),
                           CALC_STAGE_MEAN(t, c, tier2.flight_bytes) * blocks};
    return line;
}

#undef CALC_STAGE_MEAN

/** Relative difference between sums of a step in different orders, and between products and
 * quotients. */
#define CALC_STAGE_ROUNDING 1e-12

/** A pass over a part, both ways [s]. */
CALC_STAGE_INLINE double calc_stage_part_s(const calc_stage_part *p)
{
    return p->fw_s + p->agrad_s + p->wgrad_s;
}

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
    double messages = chunks * exposed * calc_min(c->stages, 1);
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

/** A chunk of a stage of a class, as if it were a class of its own: its blocks, and the ends that
 * are in it (docs/schedules.md). Only on the first stage may dense blocks come before the others.
 *  @param chunks  of a stage: 2 with ZB-V and DualPipeV */
calc_stage_class calc_stage_chunk(const calc_stage_terms *terms, const calc_stage_class *c,
                                  int64_t chunks, int64_t chunk);

/** Passes over it, with its messages.
 *  @param chunks   model chunks per stage: pipeline_interleaving
 *  @param parts    chunks of a stage, as above
 *  @param exposed  share of the messages that is not hidden */
calc_stage_pass calc_stage_chunk_pass(const calc_stage_terms *terms, const calc_stage_links *links,
                                      const calc_stage_class *c, double chunks, int64_t parts,
                                      int64_t chunk, double exposed);

/** The pipeline of one step for schedules beside plain 1F1B [s]: in closed form if all chunks take
 *  as long, for gpipe, and interleaved (schedule_interleaved.h); else simulated
 * (schedule_steady.h), if there is room. Not inline: it is long.
 *  @param c, pass  CALC_MAX_STAGE_CLASSES classes in order of the pipeline
 *  @param exposed  share of the messages that is not hidden */
double calc_stage_scheduled_s(const calc_stage_terms *terms, const calc_stage_links *links,
                              calc_pipeline_schedule schedule, const calc_stage_class *c,
                              const calc_stage_pass *pass, double chunks, double exposed);

/** The same for the micro-batches whose activations a stage holds. */
double calc_stage_scheduled_in_flight(const calc_stage_terms *terms,
                                      calc_pipeline_schedule schedule, double position);

/** And for the stage of a class where they are most. */
double calc_stage_scheduled_peak(const calc_stage_terms *terms, calc_pipeline_schedule schedule,
                                 const calc_stage_class *c);

/** A micro-batch on all stages, and on the slowest [s]. */
typedef struct calc_stage_sums {
    double all_s, slowest_s;
} calc_stage_sums;

CALC_STAGE_INLINE calc_stage_sums calc_stage_sum(calc_stage_sums x, const calc_stage_class *c,
                                                 const calc_stage_pass *p)
{
    double s = calc_stage_pass_s(p);
    x.all_s += c->stages * s;
    x.slowest_s = calc_max(x.slowest_s, s);
    return x;
}

/** @param classes  that there are, the first ones of c and pass; more change no bit */
CALC_STAGE_INLINE calc_stage_sums calc_stage_sums_of(int classes, const calc_stage_class *c,
                                                     const calc_stage_pass *pass)
{
    calc_stage_sums x = {0, 0};
    x = calc_stage_sum(x, &c[0], &pass[0]);
    x = classes > 1 ? calc_stage_sum(x, &c[1], &pass[1]) : x;
    x = classes > 2 ? calc_stage_sum(x, &c[2], &pass[2]) : x;
    x = classes > 3 ? calc_stage_sum(x, &c[3], &pass[3]) : x;
    return x;
}

/** A walk along the pipeline, for 1F1B: time of the stages so far, and the slowest of them. */
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
 *  through its last one; `at` is the walk before the class. 0 if there are none. */
CALC_STAGE_INLINE double calc_stage_path_s(const calc_stage_terms *t, int classes,
                                           const calc_stage_class *c, const calc_stage_pass *pass,
                                           int i, calc_stage_walk at)
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
    x = i < 1 && classes > 1 ? calc_stage_go(x, &pass[1], c[1].stages, p) : x;
    x = i < 2 && classes > 2 ? calc_stage_go(x, &pass[2], c[2].stages, p) : x;
    x = i < 3 && classes > 3 ? calc_stage_go(x, &pass[3], c[3].stages, p) : x;
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
    calc_stage_walk at3 = classes > 2 ? calc_stage_walk_on(at2, &pass[2], c[2].stages) : at2;
    at3 = classes > 2 ? calc_stage_walk_meets(at3, &pass[2]) : at2;
    calc_stage_walk end = classes > 3 ? calc_stage_walk_on(at3, &pass[3], c[3].stages) : at3;
    end = classes > 3 ? calc_stage_walk_meets(end, &pass[3]) : at3;
    double longest_s = calc_max(calc_stage_path_s(t, classes, c, pass, 0, at0),
                                calc_stage_path_s(t, classes, c, pass, 1, at1));
    longest_s =
        calc_max(longest_s, classes > 2 ? calc_stage_path_s(t, classes, c, pass, 2, at2) : 0);
    longest_s =
        calc_max(longest_s, classes > 3 ? calc_stage_path_s(t, classes, c, pass, 3, at3) : 0);
    double paced_s = (t->microbatches - 1) * calc_max(end.fw_max_s, end.bw_max_s);
    double unequal_s = calc_max(longest_s, end.fw_s + end.bw_s + paced_s);
    return c[0].stages < t->stages ? unequal_s : alike_s;
}

/** Without training [s]: all stages once, then one micro-batch after the other from the slowest.
 *  Backward there are at most messages, and only by rule. */
CALC_STAGE_INLINE double calc_stage_forward_s(const calc_stage_terms *t, const calc_stage_sums *x)
{
    return x->all_s + (t->microbatches - 1) * x->slowest_s;
}

/** Time until the last micro-batch has passed back through the first stage [s]; sources:
 *  docs/schedules.md. No loops if the schedule is 1F1B without chunks: the sweep makes vectors of
 * it.
 *  @param classes  as calc_stage_sums_of()
 *  @param c, pass  CALC_MAX_STAGE_CLASSES classes in order of the pipeline
 *  @param exposed  share of the messages that is not hidden */
CALC_STAGE_INLINE double calc_stage_pipeline_s(const calc_stage_terms *t, const calc_stage_links *l,
                                               calc_pipeline_schedule schedule, int classes,
                                               const calc_stage_class *c,
                                               const calc_stage_pass *pass, double chunks,
                                               double exposed)
{
    bool plain = !t->training || schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    if (plain && calc_stage_rule(t, CALC_COMPAT_EVEN_STAGES)) {
        return calc_stage_even_s(t, l, &c[0], &pass[0], chunks);
    }
    double unsent_s = t->compat ? calc_stage_unsent_s(t, l, chunks) : 0;
    if (!t->training) {
        calc_stage_sums x = calc_stage_sums_of(classes, c, pass);
        return calc_stage_forward_s(t, &x) - unsent_s;
    }
    if (!plain || chunks > 1) {
        return calc_stage_scheduled_s(t, l, schedule, c, pass, chunks, exposed) - unsent_s;
    }
    return calc_stage_1f1b_s(t, classes, c, pass) - unsent_s;
}

/** calc_stage_pipeline_s() where that is cheap; else, with other schedules and with chunks, a lower
 * bound of it [s]: the busiest stage is never idle. DualPipe's stages share their work in pairs:
 * the total is divided evenly.
 *  @param chunked  whether there are several chunks; a constant where speed matters, like classes
 */
CALC_STAGE_INLINE double
calc_stage_pipeline_least_s(const calc_stage_terms *t, const calc_stage_links *l,
                            calc_pipeline_schedule schedule, int classes, const calc_stage_class *c,
                            const calc_stage_pass *pass, double chunks, bool chunked)
{
    bool plain = !t->training || schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    if (plain && calc_stage_rule(t, CALC_COMPAT_EVEN_STAGES)) {
        return calc_stage_even_s(t, l, &c[0], &pass[0], chunks);
    }
    double unsent_s = t->compat ? calc_stage_unsent_s(t, l, chunks) : 0;
    calc_stage_sums x = calc_stage_sums_of(classes, c, pass);
    if (!t->training) {
        return calc_stage_forward_s(t, &x) - unsent_s;
    }
    bool pairs = schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE;
    double busy_s = pairs ? x.all_s / t->stages : x.slowest_s;
    return (plain && !chunked ? calc_stage_1f1b_s(t, classes, c, pass)
                              : t->microbatches * busy_s * (1 - CALC_STAGE_ROUNDING)) -
           unsent_s;
}

#endif
