/** @file stage_interleaved.h  Bounds on interleaved 1F1B, whose closed form is long: a part of
 *  stage_step.h. */
#ifndef CALC_MODEL_STAGE_INTERLEAVED_H
#define CALC_MODEL_STAGE_INTERLEAVED_H

#include "model/stages/stage_types.h"

/** Relative difference between sums of a step in different orders, and between products and
 * quotients. Bounds divide by no number of chunks: lanes share it, and its reciprocal. */
#define CALC_STAGE_ROUNDING 1e-12

/** A chunk that is not like the others of its stage, where that is alone in its class: all zero
 *  elsewhere. */
typedef struct calc_stage_special {
    calc_stage_class stage, chunk;
} calc_stage_special;

static const calc_stage_special calc_stage_nothing_special = {{0, 0, 0, 0, 0, 0, 0},
                                                              {0, 0, 0, 0, 0, 0, 0}};

/** The first chunk of the first stage, which may have the embedding, or dense blocks, and the last
 *  chunk of the last stage, which may have the head.
 *  @param c  CALC_MAX_STAGE_CLASSES classes in order of the pipeline */
calc_stage_special calc_stage_first_chunk(const calc_stage_terms *terms, const calc_stage_class *c,
                                          double chunks);
calc_stage_special calc_stage_last_chunk(const calc_stage_terms *terms, const calc_stage_class *c,
                                         double chunks);

/** A pass over a part, both ways [s]. */
CALC_STAGE_INLINE double calc_stage_part_s(const calc_stage_part *p)
{
    return p->fw_s + p->agrad_s + p->wgrad_s;
}

/** A pass over such a chunk, both ways, with its messages [s]; not by rule. */
CALC_STAGE_INLINE double calc_stage_special_s(const calc_stage_terms *t, const calc_stage_links *l,
                                              const calc_stage_special *s, double exposed)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    const calc_stage_class *c = &s->chunk;
    /* Blocks that recompute are spread over the chunks of a stage as all its blocks are. */
    double rich = calc_stage_rich(t, &s->stage);
    return c->dense * (calc_stage_part_s(dense) - rich * dense->spared_s) +
           c->moe * (calc_stage_part_s(moe) - rich * moe->spared_s) +
           c->first * calc_stage_part_s(&t->embedding) + c->last * calc_stage_part_s(&t->head) +
           c->stages * exposed * (l->message_s + l->back_message_s);
}

/** The passes of that. */
CALC_STAGE_INLINE calc_stage_pass calc_stage_special_pass(const calc_stage_terms *t,
                                                          const calc_stage_links *l,
                                                          const calc_stage_special *s,
                                                          double exposed)
{
    const calc_stage_part *dense = &t->block[0];
    const calc_stage_part *moe = &t->block[1];
    const calc_stage_class *c = &s->chunk;
    double messages = c->stages * exposed;
    double spared_s =
        calc_stage_rich(t, &s->stage) * (c->dense * dense->spared_s + c->moe * moe->spared_s);
    calc_stage_pass p;
    p.fw_s = c->dense * dense->fw_s + c->moe * moe->fw_s + c->first * t->embedding.fw_s +
             c->last * t->head.fw_s + messages * l->message_s;
    p.agrad_s = c->dense * dense->agrad_s + c->moe * moe->agrad_s +
                c->first * t->embedding.agrad_s + c->last * t->head.agrad_s +
                messages * l->back_message_s - spared_s;
    p.wgrad_s = c->dense * dense->wgrad_s + c->moe * moe->wgrad_s +
                c->first * t->embedding.wgrad_s + c->last * t->head.wgrad_s;
    p.base_fw_s = p.edge_fw_s = p.base_bw_s = p.edge_bw_s = 0;
    return p;
}

/** Whether the first stage begins with dense blocks and goes on with others. */
CALC_STAGE_INLINE bool calc_stage_dense_prefix(const calc_stage_terms *t, const calc_stage_class *c)
{
    return t->dense_first && c->position <= 0 && c->dense > 0 && c->moe > 0;
}

/** Whether the chunks of a stage of a class are all alike. */
CALC_STAGE_INLINE bool calc_stage_chunks_alike(const calc_stage_terms *t, const calc_stage_class *c)
{
    return c->first < 1 && c->last < 1 && !calc_stage_dense_prefix(t, c);
}

/** Lower bound of the first chunk of a stage: its share, unless ends or dense blocks make it differ
 *  from the others. Factors, the same for all lanes, so that loops over lanes have no choice to
 *  make. */
typedef struct calc_stage_chunk_share {
    double of_stage;
    double of_start; /**< the first chunk of the first stage */
} calc_stage_chunk_share;

static inline calc_stage_chunk_share
calc_stage_chunk_share_of(const calc_stage_terms *t, const calc_stage_class *c, double chunks)
{
    bool usual = calc_stage_chunks_alike(t, c);
    return (calc_stage_chunk_share){usual ? 1 / chunks : 0, !usual && c->position <= 0};
}

/** The same of CALC_MAX_STAGE_CLASSES classes. */
static inline void calc_stage_chunk_shares(const calc_stage_terms *t, const calc_stage_class *c,
                                           double chunks, calc_stage_chunk_share *out)
{
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        out[i] = calc_stage_chunk_share_of(t, &c[i], chunks);
    }
}

/** A lower bound on interleaved 1F1B, stage by stage. */
typedef struct calc_stage_floor {
    double before_s; /**< first chunks of the stages so far */
    double least_s;
} calc_stage_floor;

CALC_STAGE_INLINE calc_stage_floor
calc_stage_floor_of(calc_stage_floor x, const calc_stage_terms *t, const calc_stage_class *c,
                    const calc_stage_pass *p, const calc_stage_chunk_share *share, double start_s)
{
    double chunk_s = share->of_stage * calc_stage_pass_s(p) + share->of_start * start_s;
    double others = calc_max(0, c->stages - 1);
    x.least_s =
        calc_max(x.least_s, x.before_s + others * chunk_s + t->microbatches * calc_stage_pass_s(p));
    x.before_s += c->stages * chunk_s;
    return x;
}

/** A stage waits for the first chunks of the stages before it, has all micro-batches to do, and
 *  then the stages before it have their first chunks to go back through.
 *  @param share  calc_stage_chunk_share_of() each class */
CALC_STAGE_INLINE double
calc_stage_interleaved_least_s(const calc_stage_terms *t, const calc_stage_links *l, int classes,
                               const calc_stage_class *c, const calc_stage_pass *pass,
                               const calc_stage_chunk_share *share, double exposed,
                               const calc_stage_special *start)
{
    calc_stage_floor x = {0, 0};
    double start_s = t->compat ? 0 : calc_stage_special_s(t, l, start, exposed);
    x = calc_stage_floor_of(x, t, &c[0], &pass[0], &share[0], start_s);
    x = classes > 1 ? calc_stage_floor_of(x, t, &c[1], &pass[1], &share[1], start_s) : x;
    x = classes > 2 ? calc_stage_floor_of(x, t, &c[2], &pass[2], &share[2], start_s) : x;
    x = classes > 3 ? calc_stage_floor_of(x, t, &c[3], &pass[3], &share[3], start_s) : x;
    return x.least_s * (1 - CALC_STAGE_ROUNDING);
}

/** One direction of an upper bound for interleaved stages. */
typedef struct calc_stage_ceiling {
    double chunk_s; /**< longest of the chunks that are alike */
    double more_s;  /**< extra time of the other ones */
} calc_stage_ceiling;

/** Factors of a usual chunk of a stage of a class: its share of all chunks except special ones,
 *  where the stage has any. Factors likewise. */
typedef struct calc_stage_usual {
    double first, last; /**< times that the first and the last chunk of the model are taken off */
    double share;       /**< of the rest */
} calc_stage_usual;

static inline calc_stage_usual calc_stage_usual_of(const calc_stage_class *c, double chunks)
{
    bool last = c->last >= 1;
    bool first = c->first >= 1 && !last;
    return (calc_stage_usual){first, last, first || last ? 1 / (chunks - 1) : 1 / chunks};
}

/** With a class. @param start_s, finish_s  the first and the last chunk of the model */
CALC_STAGE_INLINE calc_stage_ceiling calc_stage_ceiling_add(calc_stage_ceiling x,
                                                            const calc_stage_usual *usual,
                                                            double stage_s, double start_s,
                                                            double finish_s)
{
    double special_s = usual->first * start_s + usual->last * finish_s;
    x.chunk_s = calc_max(x.chunk_s, (stage_s - special_s) * usual->share);
    x.more_s = calc_max(0, start_s - x.chunk_s) + calc_max(0, finish_s - x.chunk_s);
    return x;
}

/** Whether the chunks of a class are known to be alike but for the first and the last. */
CALC_STAGE_INLINE bool calc_stage_ceiling_known(const calc_stage_terms *t,
                                                const calc_stage_class *c)
{
    bool alone = c->stages <= 1 || (c->first < 1 && c->last < 1);
    return alone && !calc_stage_dense_prefix(t, c);
}

/** Whether calc_stage_interleaved_most_s() holds: not by rule, with dense blocks first, with rounds
 *  that are not full. */
CALC_STAGE_INLINE bool calc_stage_interleaved_known(const calc_stage_terms *t, int classes,
                                                    const calc_stage_class *c)
{
    bool known = !t->compat && t->stages > 1 && t->lost_rounds <= 0;
    for (int i = 0; i < classes; i++) {
        known = known && calc_stage_ceiling_known(t, &c[i]);
    }
    return known;
}

/** No less than interleaved 1F1B of two stages and more [s]. No chunk shortens a step by growing,
 * and no way through its operations passes one of them twice: so a step takes no longer than one
 * whose chunks are all as long as the longest, plus the excess of the model's first and last chunk
 * for each micro-batch. Only where calc_stage_interleaved_known().
 *  @param usual          calc_stage_usual_of() each class
 *  @param start, finish  calc_stage_first_chunk(), calc_stage_last_chunk() */
CALC_STAGE_INLINE double
calc_stage_interleaved_most_s(const calc_stage_terms *t, const calc_stage_links *l, int classes,
                              const calc_stage_usual *usual, const calc_stage_pass *pass,
                              double chunks, double exposed, const calc_stage_special *start,
                              const calc_stage_special *finish)
{
    calc_stage_pass first = calc_stage_special_pass(t, l, start, exposed);
    calc_stage_pass last = calc_stage_special_pass(t, l, finish, exposed);
    double start_s = first.agrad_s + first.wgrad_s;
    double finish_s = last.agrad_s + last.wgrad_s;
    calc_stage_ceiling fw = {0, 0};
    calc_stage_ceiling bw = {0, 0};
    for (int i = 0; i < classes; i++) {
        double bw_s = pass[i].agrad_s + pass[i].wgrad_s;
        fw = calc_stage_ceiling_add(fw, &usual[i], pass[i].fw_s, first.fw_s, last.fw_s);
        bw = calc_stage_ceiling_add(bw, &usual[i], bw_s, start_s, finish_s);
    }
    double passes = t->microbatches * chunks + t->stages - 1;
    double most_s = passes * (fw.chunk_s + bw.chunk_s) + t->microbatches * (fw.more_s + bw.more_s);
    return most_s * (1 + CALC_STAGE_ROUNDING);
}

#endif
