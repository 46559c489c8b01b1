/** @file stage_by_rule.h  The step of a stage by Calculon's rules (words.h, CALC_COMPAT_LIST): a
 *  part of stage_step.h, which asks for them. The terms of a block are averaged over the kinds of
 *  blocks that a stage has. */
#ifndef CALC_MODEL_STAGE_BY_RULE_H
#define CALC_MODEL_STAGE_BY_RULE_H

#include "model/stages/stage_types.h"

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
    double there = calc_stage_min(c->stages, 1);
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
    double plain = calc_stage_min(t->microbatches, p);
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
#endif
