#include "sheet.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "model/cost/state.h"
#include "model/operators/processor.h"
#include "model/stages/stages.h"

bool calc_adapt_varies(const calc_row *row, const calc_row_choice *state)
{
    int64_t zero = calc_row_choice_zero(state);
    return zero >= 3 || (zero >= 1 && row->context.compat != CALC_COMPAT_NONE) ||
           calc_stage_tied_weights(&row->context) > 0;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A block of a lane whose state is shared. */
static void share_rule(const calc_adapt_place *at, const calc_row *row, bool away,
                       calc_block_kind kind, const calc_row_rule *from, calc_rule_part *out)
{
    const calc_cost_context *c = &row->context;
    calc_block_memory state = from->state;
    state.grad /= at->lines->dense_shards;
    state.optimizer /= at->lines->dense_shards;
    *out = from->without;
    calc_block_memory_add_state(away, c->training, &state, out);
    if (calc_compat_has(c->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        const calc_optimizer_step *known =
            calc_cell_optimizer_of(at->cell, row, at->exec, at->lines);
        out->optimizer_s =
            known ? known[kind].step_s
                  : calc_stage_rules_optimizer(&row->context, &at->exec->strategy, &row->parts,
                                               kind, at->lines->dense_shards)
                        .step_s;
    }
    if (away && c->training && calc_compat_has(c->compat, CALC_COMPAT_OFFLOAD_EACH)) {
        out->bw_away_s = calc_memory_tier_s(&c->chip->mem2, from->travel_bytes + state.optimizer);
    }
}

static void share_rules(const calc_adapt_place *at, calc_panel *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const calc_row *row = &at->rows->row[p->row[i]];
        const calc_row_rule *rule = at->rows->rule[row->terms + p->choice[i]];
        bool away = at->rows->choice[p->choice[i]].optimizer;
        for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
            const calc_cost *b = &row->parts.block[kind];
            calc_rule_part out;
            if (b->dense_weights + b->expert_weights > 0) {
                share_rule(at, row, away, kind, &rule[kind], &out);
                calc_panel_put_shared(p, i, (int)kind, &out);
            }
        }
    }
}

void calc_adapt_panel(const calc_adapt_place *at, calc_panel *p)
{
    const calc_cost_context *c = &at->rows->row[p->row[0]].context;
    bool rules = c->compat != CALC_COMPAT_NONE;
    double tied = calc_stage_tied_weights(c);
    for (size_t i = 0; i < p->count && tied > 0; i++) {
        const calc_stage_terms *t = &at->rows->terms[at->rows->row[p->row[i]].terms + p->choice[i]];
        p->head_weights[i] = t->head.weights.dense - (at->exec->pipeline_par <= 1 ? tied : 0);
    }
    if (rules && calc_zero_stage(&at->exec->strategy) >= 1) {
        share_rules(at, p);
    }
    calc_panel_pad(p, rules);
}

/* ---- Corners --------------------------------------------------------------------------------- */

static inline double least(const double *of)
{
    return calc_min(calc_min(calc_min(of[0], of[1]), calc_min(of[2], of[3])),
                    calc_min(calc_min(of[4], of[5]), calc_min(of[6], of[7])));
}

static inline double most(const double *of)
{
    return calc_max(calc_max(calc_max(of[0], of[1]), calc_max(of[2], of[3])),
                    calc_max(calc_max(of[4], of[5]), calc_max(of[6], of[7])));
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
static void put_rules(calc_panel *to, size_t lane, const calc_rows *rows, const calc_panel *p,
                      size_t first)
{
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        calc_rule_part rule = {.bw_away_s = INFINITY};
        rule.fixed_bytes = rule.tier1.block_bytes = rule.tier2.block_bytes = INFINITY;
        for (size_t i = first; i < first + CALC_CORNER_LANES; i++) {
            size_t terms = rows->row[p->row[i]].terms + p->choice[i];
            const calc_rule_part *other = &rows->rule[terms][kind].without;
            rule.bw_away_s = calc_min(rule.bw_away_s, other->bw_away_s);
            rule.fixed_bytes = calc_min(rule.fixed_bytes, other->fixed_bytes);
            rule.tier1.block_bytes = calc_min(rule.tier1.block_bytes, other->tier1.block_bytes);
            rule.tier2.block_bytes = calc_min(rule.tier2.block_bytes, other->tier2.block_bytes);
        }
        calc_panel_put_shared(to, lane, kind, &rule);
    }
}

void calc_corner_put(calc_panel *to, size_t lane, const calc_panel *p, size_t first,
                     const calc_rows *rows, double shared_weights, bool rules)
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
    if (rows) {
        put_rules(to, lane, rows, p, first);
    }
}

/* ---- Sheets ---------------------------------------------------------------------------------- */

CALC_FREES(calc_sheets_free, calc_sheets, of->sheet, of->panel, of->corner)

size_t calc_sheets_bytes(const calc_sheets *s)
{
    return s->capacity * sizeof *s->sheet +
           (s->panels_capacity + s->corners_capacity) * sizeof *s->panel;
}

/* An empty panel at the end of a list. */
static calc_panel *add_panel(calc_panel **list, size_t *count, size_t *capacity)
{
    if (*count == *capacity) {
        size_t more = *capacity > 0 ? 2 * *capacity : 4;
        calc_panel *grown = aligned_alloc(CALC_PANEL_ALIGN, more * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        if (*count > 0) {
            memcpy(grown, *list, *count * sizeof *grown);
        }
        free(*list);
        *list = grown;
        *capacity = more;
    }
    calc_panel *p = &(*list)[(*count)++];
    p->count = 0;
    return p;
}

static unsigned char message_of(calc_sheets *s, double bytes)
{
    size_t i = 0;
    while (i < s->messages && s->message_bytes[i] != bytes) {
        i++;
    }
    assert(i < CALC_PANEL_MESSAGES); /* whole, or a share for each tensor-parallel rank */
    s->message_bytes[i] = bytes;
    s->messages = i < s->messages ? s->messages : i + 1;
    return (unsigned char)i;
}

static bool same_state(const calc_row_choice *a, const calc_row_choice *b)
{
    return a->sharding == b->sharding && a->zero == b->zero && a->alone == b->alone;
}

/* The lanes of a sheet: spread after spread, as few go with all cells, and then choice after
 * choice, so that neighbours are alike. */
static bool add_lanes(calc_sheets *s, calc_sheet *sheet, const calc_rows *rows)
{
    calc_panel *p = NULL;
    sheet->first = s->panels;
    for (size_t n = 0; n < rows->spreads.count * rows->choices; n++) {
        size_t spread = n / rows->choices;
        size_t c = n % rows->choices;
        bool mine = (sheet->spread < 0 || sheet->spread == (int64_t)spread) &&
                    same_state(&rows->choice[c], &sheet->state);
        for (size_t i = 0; i < rows->count && mine; i++) {
            const calc_row *row = &rows->row[i];
            if (row->spread != spread || row->network != sheet->network ||
                row->data_network != sheet->data_network || !calc_row_has(rows, row, c)) {
                continue;
            }
            if (!p || p->count == CALC_PANEL_LANES) {
                p = add_panel(&s->panel, &s->panels, &s->panels_capacity);
            }
            if (!p) {
                return false;
            }
            size_t lane = p->count++;
            p->row[lane] = (unsigned short)i;
            p->choice[lane] = (unsigned char)c;
            p->spread[lane] = (unsigned char)spread;
            p->message[lane] = message_of(s, row->parts.message_bytes);
            calc_panel_put(p, lane, &rows->terms[row->terms + c]);
            p->expert_shards[lane] = 1; /* a cell knows better */
        }
    }
    sheet->panels = s->panels - sheet->first;
    sheet->varies = rows->count > 0 && calc_adapt_varies(&rows->row[0], &sheet->state);
    return true;
}

/* Its corners. */
static bool add_corners(calc_sheets *s, calc_sheet *sheet, const calc_rows *rows)
{
    calc_panel *p = NULL;
    const calc_cost_context *c = &rows->row[0].context;
    double shared_weights = calc_stage_tied_weights(c);
    bool rules = c->compat != CALC_COMPAT_NONE;
    bool shared = rules && calc_row_choice_zero(&sheet->state) >= 1;
    sheet->corner = s->corners;
    for (size_t n = 0; n < sheet->panels; n++) {
        const calc_panel *of = &s->panel[sheet->first + n];
        for (size_t i = 0; i < of->count; i += CALC_CORNER_LANES) {
            if (!p || p->count == CALC_PANEL_LANES) {
                p = add_panel(&s->corner, &s->corners, &s->corners_capacity);
            }
            if (!p) {
                return false;
            }
            p->row[p->count] = (unsigned short)n;
            p->choice[p->count] = (unsigned char)i;
            p->message[p->count] = 0;
            calc_corner_put(p, p->count++, of, i, shared ? rows : NULL, shared_weights, rules);
        }
    }
    sheet->corners = s->corners - sheet->corner;
    return true;
}

static bool add_sheet(calc_sheets *s, int64_t spread, size_t network, int64_t data_network,
                      const calc_row_choice *state)
{
    for (size_t i = 0; i < s->count; i++) {
        const calc_sheet *known = &s->sheet[i];
        if (known->spread == spread && known->network == network &&
            known->data_network == data_network && same_state(&known->state, state)) {
            return true;
        }
    }
    calc_sheet *grown = calc_grown(s->sheet, s->count, &s->capacity, sizeof *grown);
    if (!grown) {
        return false;
    }
    s->sheet = grown;
    calc_sheet *sheet = &s->sheet[s->count++];
    *sheet = (calc_sheet){
        .spread = spread,
        .network = network,
        .data_network = data_network,
        .state = {.sharding = state->sharding, .zero = state->zero, .alone = state->alone}};
    return true;
}

static void pad(calc_panel *panel, size_t panels, const calc_rows *rows)
{
    for (size_t i = 0; i < panels; i++) {
        calc_panel_pad(&panel[i], rows->row[0].context.compat != CALC_COMPAT_NONE);
    }
}

calc_status calc_sheets_fill(calc_sheets *s, const calc_rows *rows, calc_sheet *sheet, bool corners)
{
    if (sheet->filled) {
        return CALC_OK;
    }
    bool fine = add_lanes(s, sheet, rows);
    if (fine) {
        pad(&s->panel[sheet->first], sheet->panels, rows);
    }
    size_t lanes = sheet->panels > 0 ? s->panel[sheet->first].count : 0; /* the others are full */
    sheet->corners = 0;
    if (fine && corners && lanes > CALC_CORNER_LANES) {
        fine = add_corners(s, sheet, rows);
        pad(&s->corner[sheet->corner], sheet->corners, rows);
    }
    sheet->filled = fine;
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}

/* Sheets of a network and a choice of the rows. */
static bool add_spreads(calc_sheets *s, const calc_rows *rows, size_t network, int64_t data_network,
                        const calc_row_choice *state)
{
    bool apart = calc_row_choice_zero(state) >= 3;
    bool fine = true;
    for (size_t i = 0; i < (apart ? rows->spreads.count : 1) && fine; i++) {
        fine = add_sheet(s, apart ? (int64_t)i : -1, network, data_network, state);
    }
    return fine;
}

calc_status calc_sheets_list(calc_sheets *s, const calc_rows *rows)
{
    bool fine = true;
    s->count = s->panels = s->corners = s->messages = 0;
    /* Not every table has rows. */
    size_t networks = rows->count > 0 ? rows->networks_count : 0;
    for (size_t n = 0; n < networks; n++) {
        for (size_t d = 0; d < rows->datas; d++) {
            for (size_t c = 0; c < rows->choices && fine; c++) {
                fine = add_spreads(s, rows, n, rows->data[d], &rows->choice[c]);
            }
        }
    }
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}
