#include "corner.h"

static inline double less(double a, double b)
{
    return a < b ? a : b;
}

static inline double more(double a, double b)
{
    return a > b ? a : b;
}

static inline double least(const double *of)
{
    return less(less(less(of[0], of[1]), less(of[2], of[3])),
                less(less(of[4], of[5]), less(of[6], of[7])));
}

static inline double most(const double *of)
{
    return more(more(more(of[0], of[1]), more(of[2], of[3])),
                more(more(of[4], of[5]), more(of[6], of[7])));
}

/* The current block has the activations that recomputation does not store: the least of any
 * lane. */
static double whole_bytes(const double *kept, const double *whole)
{
    double gap[CALC_CORNER_LANES];
    for (size_t i = 0; i < CALC_CORNER_LANES; i++) {
        gap[i] = whole[i] - kept[i];
    }
    return least(kept) + least(gap);
}

/* By rule: the memory of blocks with no state but that nobody shares, and no optimizer. */
static void put_rules(calc_panel *to, size_t lane, const calc_adapt_source *source, size_t first)
{
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        calc_rule_part rule = source->rule[kind][first].without;
        rule.optimizer_s = 0;
        for (size_t i = 1; i < CALC_CORNER_LANES; i++) {
            const calc_rule_part *other = &source->rule[kind][first + i].without;
            rule.bw_away_s = less(rule.bw_away_s, other->bw_away_s);
            rule.fixed_bytes = less(rule.fixed_bytes, other->fixed_bytes);
            rule.tier1.block_bytes = less(rule.tier1.block_bytes, other->tier1.block_bytes);
            rule.tier2.block_bytes = less(rule.tier2.block_bytes, other->tier2.block_bytes);
        }
        calc_panel_put_shared(to, lane, kind, &rule);
    }
}

void calc_corner_put(calc_panel *to, size_t lane, const calc_panel *p, size_t first,
                     const calc_adapt_source *source, double shared_weights, bool rules)
{
#define CALC_X(name, member) to->name[lane] = least(&p->name[first]);
    CALC_PANEL_LIST(CALC_X)
    if (rules) {
        CALC_PANEL_RULE_LIST(CALC_X)
    }
#undef CALC_X
    /* Less of these makes a lane need more. */
    to->dense_spared_s[lane] = most(&p->dense_spared_s[first]);
    to->moe_spared_s[lane] = most(&p->moe_spared_s[first]);
    to->dense_whole_bytes[lane] =
        whole_bytes(&p->dense_kept_bytes[first], &p->dense_whole_bytes[first]);
    to->moe_whole_bytes[lane] = whole_bytes(&p->moe_kept_bytes[first], &p->moe_whole_bytes[first]);
    to->expert_shards[lane] = most(&p->expert_shards[first]);
    to->head_weights[lane] -= shared_weights;
    if (rules) {
        to->head_kept_bytes[lane] = 0;
    }
    if (rules && source) {
        put_rules(to, lane, source, first);
    }
}
