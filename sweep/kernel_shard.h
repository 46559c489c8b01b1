/** @file kernel_shard.h  The effect of sharding on the blocks and the ends of a lane (adapt.h): the
 *  bodies of loops of kernel.c. */
#ifndef CALC_SWEEP_KERNEL_SHARD_H
#define CALC_SWEEP_KERNEL_SHARD_H

#include "kernel.h"

/** The source and the part of a block of a lane: calc_kernel_dense_lane(), calc_kernel_moe_lane().
 */
#define CALC_KERNEL_BLOCK(kind, index)                                                             \
    CALC_STAGE_INLINE void calc_kernel_##kind##_lane(                                              \
        const calc_stage_keeping *k, const calc_adapt_source *s, size_t i, calc_panel *restrict p) \
    {                                                                                              \
        const calc_adapt_block *b = &s->block[index];                                              \
        calc_stage_source from;                                                                    \
        calc_stage_away away = {s->weight_away[i], s->activation_away[i], 0,                       \
                                s->activation_away[i]};                                            \
        CALC_STAGE_SOURCE_LIST(CALC_KERNEL_SOURCE)                                                 \
        from.frozen.dense = from.frozen.expert = 0;                                                \
        calc_stage_part part = calc_stage_block_of(&from, k, &away);                               \
        p->kind##_fw_s[i] = part.fw_s;                                                             \
        p->kind##_agrad_s[i] = part.agrad_s;                                                       \
        p->kind##_wgrad_s[i] = part.wgrad_s;                                                       \
        p->kind##_spared_s[i] = part.spared_s;                                                     \
        p->kind##_weights[i] = part.weights.dense;                                                 \
        p->kind##_expert_weights[i] = part.weights.expert;                                         \
        p->kind##_kept_bytes[i] = part.kept_bytes;                                                 \
        p->kind##_whole_bytes[i] = part.whole_bytes;                                               \
        p->kind##_away_bytes[i] = part.away_bytes;                                                 \
        p->kind##_passing_bytes[i] = part.passing_bytes;                                           \
    }
#define CALC_KERNEL_SOURCE(member) from.member = b->member[i];
CALC_KERNEL_BLOCK(dense, 0)
CALC_KERNEL_BLOCK(moe, 1)

/** Embedding and head of a lane. */
CALC_STAGE_INLINE void calc_kernel_ends_lane(const calc_stage_keeping *k,
                                             const calc_adapt_source *s, size_t i,
                                             calc_panel *restrict p)
{
    const calc_stage_weights none = {0, 0};
    calc_stage_sharded e = calc_stage_shard(k, p->embedding_weights[i], 0, &none,
                                            s->embedding_pass_fw_s[i], s->embedding_pass_bw_s[i]);
    calc_stage_sharded h = calc_stage_shard(k, p->head_weights[i], p->head_expert_weights[i], &none,
                                            s->head_pass_fw_s[i], s->head_pass_bw_s[i]);
    p->embedding_fw_s[i] = s->embedding_fw_s[i] + e.fw_s * k->speed;
    p->embedding_agrad_s[i] = s->embedding_agrad_s[i] + e.bw_s * k->speed;
    p->head_fw_s[i] = s->head_fw_s[i] + h.fw_s * k->speed;
    p->head_agrad_s[i] = s->head_agrad_s[i] + h.bw_s * k->speed;
}

#endif
