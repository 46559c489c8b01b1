#include "adapt.h"

#include "model/cost/state.h"
#include "model/operators/processor.h"
#include "model/stages/stages.h"

static int64_t zero_of(bool sharding, int64_t zero)
{
    const calc_strategy strategy = {.optimizer_sharding = sharding, .zero_stage = zero};
    return calc_zero_stage(&strategy);
}

bool calc_adapt_varies(const calc_row *row, const calc_row_choice *state)
{
    int64_t zero = zero_of(state->sharding, state->zero);
    return zero >= 3 || (zero >= 1 && row->context.compat != CALC_COMPAT_NONE) ||
           calc_stage_tied_weights(&row->context) > 0;
}

/* ---- Sources --------------------------------------------------------------------------------- */

static void put_block(calc_adapt_block *to, size_t lane, const calc_stage_source *from)
{
#define CALC_X(member) to->member[lane] = from->member;
    CALC_STAGE_SOURCE_LIST(CALC_X)
#undef CALC_X
}

static void put_ends(calc_adapt_source *s, size_t lane, const calc_row *row,
                     const calc_stage_terms *t)
{
    calc_stage_ends ends = calc_stage_ends_of(&row->context, &row->parts);
    s->embedding_fw_s[lane] = t->embedding.fw_s;
    s->embedding_agrad_s[lane] = t->embedding.agrad_s;
    s->head_fw_s[lane] = t->head.fw_s;
    s->head_agrad_s[lane] = t->head.agrad_s;
    s->embedding_pass_fw_s[lane] = ends.embedding.fw_s;
    s->embedding_pass_bw_s[lane] = ends.embedding.agrad_s + ends.embedding.wgrad_s;
    s->head_pass_fw_s[lane] = ends.head.fw_s;
    s->head_pass_bw_s[lane] = ends.head.agrad_s + ends.head.wgrad_s;
}

/* The terms of calc_stage_rules_of() for a block, without the ranks that share its state. */
static void put_rule(calc_adapt_rule *to, const calc_row *row, const calc_strategy *strategy,
                     calc_block_kind kind, const calc_stage_terms *t)
{
    bool training = row->context.training;
    calc_block_memory m = calc_block_memory_of(&row->context, strategy, &row->parts.block[kind], 1);
    calc_block_memory alone = m;
    alone.whole_grad = alone.grad = alone.optimizer = 0;
    calc_stage_travel travel = calc_stage_rules_travel(strategy, training, &alone);
    to->without = t->rule[kind];
    calc_block_memory_lines(strategy, training, &alone, &to->without);
    to->state = m;
    to->travel_bytes = travel.bw_bytes;
}

void calc_adapt_put(calc_adapt_source *s, size_t lane, const calc_row *row,
                    const calc_row_choice *choice, const calc_stage_terms *t)
{
    int64_t zero = zero_of(choice->sharding, choice->zero);
    bool rules = zero >= 1 && t->compat != CALC_COMPAT_NONE;
    if (zero < 3 && !rules) {
        return;
    }
    calc_strategy strategy = row->exec.strategy;
    calc_row_choice_put(choice, &strategy);
    calc_stage_away away = calc_stage_away_of(&strategy);
    s->weight_away[lane] = away.weight;
    s->activation_away[lane] = away.activation;
    if (zero >= 3) {
        put_ends(s, lane, row, t);
    }
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        if (zero >= 3) {
            calc_stage_source source = calc_stage_source_of(&row->parts, kind);
            put_block(&s->block[kind], lane, &source);
        }
        if (rules) {
            put_rule(&s->rule[kind][lane], row, &strategy, kind, t);
        }
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void share_table(const calc_adapt_place *at, const calc_adapt_source *s, calc_panel *p)
{
    const calc_row *row = &at->rows->row[p->row[0]];
    double shared = at->exec->pipeline_par <= 1 ? calc_stage_tied_weights(&row->context) : 0;
    for (size_t i = 0; i < calc_panel_whole(p->count); i++) {
        p->head_weights[i] = s->head_weights[i] - shared;
    }
}

static void shard(const calc_adapt_place *at, const calc_adapt_source *s, calc_panel *p)
{
    const calc_row *row = &at->rows->row[p->row[0]];
    calc_strategy strategy = at->exec->strategy;
    strategy.weight_offload = false;
    strategy.activations_offload = false;
    for (size_t i = 0; i < p->count; i++) {
        strategy.weight_offload |= s->weight_away[i] > 0;
        strategy.activations_offload |= s->activation_away[i] > 0;
    }
    double speed = 1 / calc_share_or(at->exec->software_efficiency, 1);
    calc_stage_keeping k = calc_stage_keeping_of(&row->context, &strategy, at->lines, speed);
    at->kernel->shard(&k, s, p);
}

static calc_optimizer_step step_of(const calc_adapt_place *at, const calc_row *row,
                                   calc_block_kind kind)
{
    const calc_optimizer_step *known = calc_cell_optimizer_of(at->cell, row, at->exec, at->lines);
    return known ? known[kind]
                 : calc_stage_rules_optimizer(&row->context, &at->exec->strategy, &row->parts, kind,
                                              at->lines->dense_shards);
}

/* A block of a lane whose state is shared. */
static void share_rule(const calc_adapt_place *at, const calc_row *row, bool away,
                       calc_block_kind kind, const calc_adapt_rule *from, calc_rule_part *out)
{
    const calc_cost_context *c = &row->context;
    calc_block_memory state = from->state;
    state.grad /= at->lines->dense_shards;
    state.optimizer /= at->lines->dense_shards;
    *out = from->without;
    calc_block_memory_add_state(away, c->training, &state, out);
    if (calc_compat_has(c->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        out->optimizer_s = step_of(at, row, kind).step_s;
    }
    if (away && c->training && calc_compat_has(c->compat, CALC_COMPAT_OFFLOAD_EACH)) {
        out->bw_away_s = calc_memory_tier_s(&c->chip->mem2, from->travel_bytes + state.optimizer);
    }
}

static void share_rules(const calc_adapt_place *at, const calc_adapt_source *s, calc_panel *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const calc_row *row = &at->rows->row[p->row[i]];
        bool away = at->rows->choice[p->choice[i]].optimizer;
        for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
            const calc_cost *b = &row->parts.block[kind];
            calc_rule_part out;
            if (b->dense_weights + b->expert_weights > 0) {
                share_rule(at, row, away, kind, &s->rule[kind][i], &out);
                calc_panel_put_shared(p, i, (int)kind, &out);
            }
        }
    }
}

void calc_adapt_panel(const calc_adapt_place *at, const calc_adapt_source *s, calc_panel *p)
{
    const calc_row *row = &at->rows->row[p->row[0]];
    int64_t zero = calc_zero_stage(&at->exec->strategy);
    if (calc_stage_tied_weights(&row->context) > 0) {
        share_table(at, s, p);
    }
    if (zero >= 3) {
        shard(at, s, p);
    }
    if (zero >= 1 && row->context.compat != CALC_COMPAT_NONE) {
        share_rules(at, s, p);
    }
    calc_panel_pad(p, row->context.compat != CALC_COMPAT_NONE);
}
