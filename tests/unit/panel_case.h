/* Random terms of lanes, and panels of them: what tests of the sweep's loops begin with. */
#ifndef CALC_TEST_PANEL_CASE_H
#define CALC_TEST_PANEL_CASE_H

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "panel.h"

/* All magnitudes, often 0 or 1, never negative. */
static inline double panel_case_number(calc_rng *rng)
{
    switch (calc_rng_below(rng, 6)) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return ldexp(1 + calc_rng_real(rng), (int)calc_rng_below(rng, 60) - 40);
    }
}

static inline double panel_case_count(calc_rng *rng, uint32_t most)
{
    return 1 + (double)calc_rng_below(rng, most);
}

static inline void panel_case_numbers(calc_rng *rng, double *number, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        number[i] = panel_case_number(rng);
    }
}

/* No rule, those of users, or any. */
static inline calc_compat panel_case_rules(calc_rng *rng)
{
    switch (calc_rng_below(rng, 6)) {
    case 0:
        return CALC_COMPAT_REPAIRED;
    case 1:
        return CALC_COMPAT_CALCULON;
    case 2:
        return (calc_compat)calc_rng_below(rng, 1U << CALC_COMPAT_COUNT);
    default:
        return CALC_COMPAT_NONE;
    }
}

static inline void panel_case_part(calc_rng *rng, calc_compat compat, calc_stage_part *part)
{
    panel_case_numbers(rng, (double *)part, sizeof *part / sizeof(double));
    /* Rules divide by the backward pass of a block. */
    part->agrad_s += compat ? 1e-3 : 0;
    part->spared_s = part->agrad_s * calc_rng_real(rng); /* no pass takes less than nothing */
    part->whole_bytes += part->kept_bytes;
}

/* The last block of a chunk may take less than the others. */
static inline void panel_case_rule(calc_rng *rng, const calc_stage_part *part, calc_rule_part *rule)
{
    panel_case_numbers(rng, (double *)rule, sizeof *rule / sizeof(double));
    if (calc_rng_below(rng, 2) > 0) {
        rule->edge_fw_s = -part->fw_s * calc_rng_real(rng);
        rule->edge_bw_s = -part->agrad_s * calc_rng_real(rng) / 2;
    }
}

/* What lanes of a panel share. */
static inline calc_stage_terms panel_case_shared(calc_rng *rng)
{
    calc_stage_terms t = {
        .compat = panel_case_rules(rng),
        .training = calc_rng_below(rng, 4) > 0,
        .stages = panel_case_count(rng, 12),
        .microbatches = panel_case_count(rng, 40),
        .dense_first = (int)calc_rng_below(rng, 2),
        .message_hidden = calc_rng_real(rng),
        .recompute_blocks = (double)calc_rng_below(rng, 3),
        .reduced_bytes = 4,
        .gathered_bytes = 2,
        .reductions = panel_case_count(rng, 3),
        .window_share = calc_rng_real(rng),
        .contention = calc_rng_real(rng),
        .growth = calc_rng_real(rng),
        .overhead_s = panel_case_number(rng),
        .dense_shards = panel_case_count(rng, 8),
        .used_share = 1 + calc_rng_real(rng),
        .reserved_bytes = panel_case_number(rng),
    };
    double rest = fmod(t.microbatches, t.stages);
    t.lost_rounds = rest > 0 ? t.stages - rest : 0;
    return t;
}

/* Terms of a lane, with what it shares. */
static inline calc_stage_terms panel_case_terms(calc_rng *rng, const calc_stage_terms *shared)
{
    calc_stage_terms t = *shared;
    t.expert_shards = panel_case_count(rng, 8);
    t.held_bytes = panel_case_number(rng);
    t.owned_bytes = panel_case_number(rng);
    t.gathered_ahead = panel_case_number(rng);
    t.whole_block_bytes = panel_case_number(rng);
    t.optimizer_s = panel_case_number(rng);
    t.optimizer_owned_s = panel_case_number(rng);
    t.framework_head_bytes = panel_case_number(rng);
    panel_case_numbers(rng, &t.framework_bytes[0][0], 4);
    panel_case_part(rng, t.compat, &t.block[0]);
    panel_case_part(rng, t.compat, &t.block[1]);
    panel_case_part(rng, t.compat, &t.embedding);
    panel_case_part(rng, t.compat, &t.head);
    t.embedding.weights.expert = t.embedding.narrowed_bytes = 0; /* it has no experts, no matrix */
    for (int kind = 0; kind < CALC_STAGE_KINDS && t.compat; kind++) {
        panel_case_rule(rng, &t.block[kind], &t.rule[kind]);
    }
    t.away = calc_rng_below(rng, 2) > 0;
    t.block[0].away_bytes *= t.away;
    t.block[1].away_bytes *= t.away;
    if (t.away) {
        t.weight_held_away = panel_case_number(rng);
        t.weight_owned_away = panel_case_number(rng);
        t.optimizer_held_away = panel_case_number(rng);
        t.optimizer_owned_away = panel_case_number(rng);
    }
    return t;
}

/* One lane, a vector and a bit, any number, or all that there is room for. */
static inline size_t panel_case_lanes(calc_rng *rng)
{
    switch (calc_rng_below(rng, 4)) {
    case 0:
        return 1 + calc_rng_below(rng, CALC_PANEL_VECTOR + 1);
    case 1:
        return CALC_PANEL_LANES - calc_rng_below(rng, 2);
    default:
        return 1 + calc_rng_below(rng, CALC_PANEL_LANES);
    }
}

/* A panel, and the terms that its lanes have. What is beyond its lanes is not a number. */
static inline void panel_case_fill(calc_rng *rng, const calc_stage_terms *shared, calc_panel *panel,
                                   calc_stage_terms *lane)
{
    memset(panel, 0xff, sizeof *panel);
    panel->count = panel_case_lanes(rng);
    for (size_t i = 0; i < panel->count; i++) {
        lane[i] = panel_case_terms(rng, shared);
        panel->row[i] = (unsigned short)calc_rng_below(rng, 1U << 16);
        panel->choice[i] = (unsigned char)calc_rng_below(rng, 64);
        panel->message[i] = (unsigned char)calc_rng_below(rng, CALC_PANEL_MESSAGES);
        calc_panel_put(panel, i, &lane[i]);
    }
    calc_panel_pad(panel, shared->compat != CALC_COMPAT_NONE);
}

#endif
