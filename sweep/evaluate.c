#include "evaluate.h"

#include <math.h>
#include <string.h>

#include "adapt.h"
#include "corner.h"
#include "filter.h"
#include "model/operators/processor.h"
#include "model/verdict.h"
#include "point.h"
#include "screening.h"
#include "tile.h"

/* ---- Panels ---------------------------------------------------------------------------------- */

static uint64_t points_of_lane(const calc_worker *w)
{
    return w->pairs * w->cell.fitting * w->flags;
}

/* Lanes of some vectors of a panel that may matter, by their bounds.
 * @param alive  filled with their positions
 * @return their number */
static size_t bound(calc_worker *w, const calc_panel *p, const unsigned char *vector,
                    size_t vectors, unsigned char *alive)
{
    const calc_conditions *known = &w->conditions;
    calc_kernel_job limited = w->job;
    limited.panel = p;
    limited.tier1_capacity_bytes = fmin(limited.tier1_capacity_bytes, known->most_tier1_bytes);
    limited.tier2_capacity_bytes = fmin(limited.tier2_capacity_bytes, known->most_tier2_bytes);
    return w->kernel->bound(&limited, &w->cell.floor, vector, vectors, alive);
}

/* The lanes that were collected. */
static void run_alive(calc_worker *w)
{
    if (w->alive.count > 0) {
        w->job.panel = &w->alive;
        calc_panel_pad(&w->alive, w->shared.compat != CALC_COMPAT_NONE);
        calc_tile_run(w);
        w->alive.count = 0;
    }
}

/* Lanes that are legal and may matter: collected until a panel is full. */
static void collect(calc_worker *w, const calc_panel *from, const unsigned char *lane, size_t lanes)
{
    bool rules = w->shared.compat != CALC_COMPAT_NONE;
    while (lanes > 0) {
        size_t room = CALC_PANEL_LANES - w->alive.count;
        size_t taken = lanes < room ? lanes : room;
        calc_panel_add(&w->alive, from, lane, taken, rules);
        lane += taken;
        lanes -= taken;
        if (w->alive.count == CALC_PANEL_LANES) {
            run_alive(w);
        }
    }
}

/* ---- Lanes of a cell ------------------------------------------------------------------------- */

/* Whether a lane is legal in the cell, and may meet the conditions on its fields; others are
 * counted. */
static bool legal(calc_worker *w, size_t row, size_t choice)
{
    const calc_row_choice *c = &w->rows.choice[choice];
    if (!w->cell.offloads && calc_row_choice_away(c)) {
        w->counts.rejected[CALC_VERDICT_OFFLOAD_BLOCKS] += points_of_lane(w);
        return false;
    }
    bool met = calc_filter_flags(w);
    if (met && w->conditions.any[CALC_CONDITION_TILE]) {
        calc_worker_put_lane(w, row, choice, &w->exec);
        met = calc_filter_tile(w, &w->exec);
    }
    w->counts.skipped += met ? 0 : points_of_lane(w);
    return met;
}

/* Select the legal lanes, of the rows asked for, among some lanes of a panel.
 * @param lane  their positions; changed
 * @return their number */
static size_t keep_legal(calc_worker *w, const calc_panel *p, unsigned char *lane, size_t lanes)
{
    size_t kept = 0;
    for (size_t i = 0; i < lanes && !w->all_legal; i++) {
        size_t row = p->row[lane[i]];
        bool asked = row >= w->first_row && row < w->last_row && w->runs[p->spread[lane[i]]];
        lane[kept] = lane[i];
        kept += asked && legal(w, row, p->choice[lane[i]]);
    }
    return w->all_legal ? lanes : kept;
}

/* Lanes of a panel from the one to before the other. */
static size_t list_lanes(const calc_panel *p, size_t begin, size_t end, unsigned char *lane)
{
    size_t lanes = 0;
    for (size_t i = begin; i < end && i < p->count; i++) {
        lane[lanes++] = (unsigned char)i;
    }
    return lanes;
}

/* The first lane of a sheet whose spread is legal. @return whether there is one */
static bool find_legal(const calc_worker *w, const calc_sheet *sheet, size_t *row, size_t *choice)
{
    for (size_t i = sheet->first; i < sheet->first + sheet->panels; i++) {
        const calc_panel *p = &w->sheets.panel[i];
        for (size_t lane = 0; lane < p->count; lane++) {
            if (w->runs[p->spread[lane]]) {
                *row = p->row[lane];
                *choice = p->choice[lane];
                return true;
            }
        }
    }
    return false;
}

/* Data common to the lanes of a sheet in the cell, with the first pair and flag.
 * @param index, choice  of one of them */
static void share(calc_worker *w, size_t index, size_t choice)
{
    calc_cell *c = &w->cell;
    const calc_row *row = &w->rows.row[index];
    calc_worker_put_lane(w, index, choice, &w->state);
    calc_cell_put_point(c, w->pair[0], &c->chunking[0], w->first_flag, &w->state);
    w->lines = calc_cell_pair_of(w->pair[0], row->spread);
    bool sharded = calc_zero_stage(&w->state.strategy) >= 3; /* weights travel within the passes */
    const calc_stage_lines *lines =
        sharded ? calc_cell_lines(c, w->system, &w->rows, &w->state.strategy, w->lines)
                : calc_cell_ranks(c, w->system, w->lines);
    w->shared = w->rows.terms[row->terms + choice];
    calc_stage_terms_cell(&row->context, &w->state, &row->parts, lines,
                          calc_cell_optimizer_of(c, row, &w->state, lines), &w->shared);
}

/* The ranks that share the experts of each lane; of corners, the most of any. */
static void share_experts(calc_worker *w, const calc_sheet *sheet)
{
    double shards[CALC_SPREADS];
    double most = 1;
    for (size_t i = 0; i < w->rows.spreads.count; i++) {
        size_t pair = calc_cell_pair_of(w->pair[0], i);
        shards[i] = w->runs[i] ? calc_cell_ranks(&w->cell, w->system, pair)->expert_shards : 1;
        most = fmax(most, shards[i]);
    }
    for (size_t i = sheet->first; i < sheet->first + sheet->panels; i++) {
        calc_panel *p = &w->sheets.panel[i];
        for (size_t lane = 0; lane < calc_panel_whole(p->count); lane++) {
            p->expert_shards[lane] = shards[p->spread[lane]];
        }
    }
    for (size_t i = sheet->corner; i < sheet->corner + sheet->corners; i++) {
        calc_panel *p = &w->sheets.corner[i];
        for (size_t lane = 0; lane < calc_panel_whole(p->count); lane++) {
            p->expert_shards[lane] = most;
        }
    }
}

/* Adapt the lanes of a panel to the cell. */
static void fit(calc_worker *w, const calc_sheet *sheet, size_t panel)
{
    if (sheet->varies) {
        const calc_stage_lines *lines =
            calc_cell_lines(&w->cell, w->system, &w->rows, &w->state.strategy, w->lines);
        calc_adapt_place at = {w->kernel, &w->rows, &w->cell, &w->state, lines};
        calc_adapt_panel(&at, &w->sheets.source[panel], &w->sheets.panel[panel]);
    }
}

/* A panel of the sheet in the cell, whole. */
static void add_panel(calc_worker *w, const calc_sheet *sheet, size_t panel)
{
    unsigned char lane[CALC_PANEL_LANES];
    calc_panel *p = &w->sheets.panel[panel];
    const size_t all = p->count;
    size_t lanes = keep_legal(w, p, lane, list_lanes(p, 0, all, lane));
    if (lanes == 0) {
        return;
    }
    fit(w, sheet, panel);
    w->job.panel = p;
    if (lane[lanes - 1] == lanes - 1) { /* the first so many */
        p->count = lanes;
        calc_tile_run(w);
        p->count = all;
    } else {
        collect(w, p, lane, lanes);
    }
}

/* Lanes of a panel that do not matter. */
static void skip(calc_worker *w, const calc_panel *p, unsigned char *lane, size_t lanes)
{
    w->counts.skipped += keep_legal(w, p, lane, lanes) * points_of_lane(w);
}

/* The neighbours of a panel whose corners may matter, and the lanes among them that may.
 * @param vector  their numbers */
static void add_neighbours(calc_worker *w, const calc_sheet *sheet, size_t panel,
                           const unsigned char *vector, size_t vectors)
{
    unsigned char alive[CALC_PANEL_LANES];
    unsigned char dead[CALC_PANEL_LANES];
    const calc_panel *p = &w->sheets.panel[panel];
    fit(w, sheet, panel);
    size_t lanes = bound(w, p, vector, vectors, alive);
    size_t next = 0;
    size_t others = 0;
    for (size_t i = 0; i < vectors * CALC_CORNER_LANES; i++) {
        size_t lane =
            (size_t)vector[i / CALC_CORNER_LANES] * CALC_CORNER_LANES + i % CALC_CORNER_LANES;
        bool matters = next < lanes && alive[next] == lane;
        next += matters;
        dead[others] = (unsigned char)lane;
        others += !matters && lane < p->count;
    }
    skip(w, p, dead, others);
    collect(w, p, alive, keep_legal(w, p, alive, lanes));
}

/* The lanes whose corners may matter. */
static void add_corners(calc_worker *w, const calc_sheet *sheet, const calc_panel *corners)
{
    unsigned char every[CALC_PANEL_LANES / CALC_PANEL_VECTOR];
    unsigned char alive[CALC_PANEL_LANES];
    unsigned char vector[CALC_PANEL_LANES / CALC_CORNER_LANES];
    unsigned char lane[CALC_CORNER_LANES];
    size_t next = 0;
    for (size_t i = 0; i < sizeof every; i++) {
        every[i] = (unsigned char)i;
    }
    size_t count =
        bound(w, corners, every, calc_panel_whole(corners->count) / CALC_PANEL_VECTOR, alive);
    for (size_t i = 0; i < corners->count && w->status == CALC_OK;) {
        size_t n = corners->row[i];
        size_t panel = sheet->first + n;
        size_t vectors = 0;
        for (; i < corners->count && corners->row[i] == n; i++) {
            size_t begin = corners->choice[i];
            if (next < count && alive[next] == i) {
                vector[vectors++] = (unsigned char)(begin / CALC_CORNER_LANES);
                next++;
            } else {
                const calc_panel *p = &w->sheets.panel[panel];
                skip(w, p, lane, list_lanes(p, begin, begin + CALC_CORNER_LANES, lane));
            }
        }
        if (vectors > 0) {
            add_neighbours(w, sheet, panel, vector, vectors);
        }
    }
}

/* Adds the lanes that may matter. A sheet of few lanes has no corners: its lanes are bounded at
 * once. */
static void add_bounded(calc_worker *w, const calc_sheet *sheet)
{
    static const unsigned char first = 0;
    if (sheet->corners == 0 && sheet->panels > 0) {
        add_neighbours(w, sheet, sheet->first, &first, 1);
    }
    for (size_t i = 0; i < sheet->corners && w->status == CALC_OK; i++) {
        add_corners(w, sheet, &w->sheets.corner[sheet->corner + i]);
    }
}

/* The lanes of a sheet with the current pairs and flags. */
static void run_lanes(calc_worker *w, const calc_sheet *sheet)
{
    const calc_cell *c = &w->cell;
    size_t row;
    size_t choice;
    if (!find_legal(w, sheet, &row, &choice)) {
        return;
    }
    memset(w->allowed, 0, sizeof w->allowed);
    calc_filter_set_flags(w);
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        w->allowed[calc_tile_reduces(c, i)][calc_tile_gathers(c, i)] |=
            w->conditions.flag_met[i] || w->conditions.flags_met == 0;
    }
    w->alive.count = 0;
    w->all_legal = w->all_run && c->offloads && calc_filter_flags(w) &&
                   !w->conditions.any[CALC_CONDITION_TILE] && w->first_row == 0 &&
                   w->last_row >= w->rows.count;
    share(w, row, choice);
    if (w->rows.shape.experts > 0) {
        share_experts(w, sheet);
    }
    if (calc_worker_prunes(w)) {
        add_bounded(w, sheet);
    }
    for (size_t i = 0; i < sheet->panels && !calc_worker_prunes(w) && w->status == CALC_OK; i++) {
        add_panel(w, sheet, sheet->first + i);
    }
    run_alive(w);
}

/* Pairs of networks that the lanes of a sheet allow.
 *  @param data  of this network of data parallelism only; -1: of any */
static void list_pairs(calc_worker *w, const calc_sheet *sheet, int64_t data)
{
    const calc_cell *c = &w->cell;
    w->pairs = 0;
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        int64_t network = c->pair[i].data;
        bool pairs = sheet->data_network < 0 || sheet->data_network == network;
        if (pairs && (data < 0 || data == network) &&
            c->verdict[sheet->network][i] == CALC_VERDICT_OK) {
            w->pair[w->pairs++] = (unsigned char)i;
        }
    }
}

/* Where weights are sharded they come and go within the passes, so that terms depend on the network
 * of data parallelism and on overlap. */
static void run_each(calc_worker *w, const calc_sheet *sheet)
{
    const calc_cell *c = &w->cell;
    size_t flags = c->reduces * c->gathers;
    for (size_t d = 0; d < c->datas; d++) {
        list_pairs(w, sheet, c->pair[d].data);
        for (size_t flag = 0; flag < flags && w->pairs > 0 && w->status == CALC_OK; flag++) {
            w->first_flag = flag;
            w->flags = 1;
            run_lanes(w, sheet);
        }
    }
}

/* Whether any spread of a sheet is legal in the cell.
 * @param kept  calc_cell_keeps() its state, without and with several ranks of experts */
static bool list_spreads(calc_worker *w, const calc_sheet *sheet, const bool kept[2])
{
    const calc_cell *c = &w->cell;
    const calc_spreads *s = &w->rows.spreads;
    bool any = false;
    w->all_run = true;
    for (size_t i = 0; i < s->count; i++) {
        bool mine = sheet->spread < 0 || sheet->spread == (int64_t)i;
        w->runs[i] = mine && c->legal[i] && kept[s->expert_par[i] > 1];
        w->all_run = w->all_run && (w->runs[i] || !mine);
        any = any || w->runs[i];
    }
    return any;
}

static void run_sheet(calc_worker *w, calc_sheet *sheet, const bool kept[2])
{
    calc_cell *c = &w->cell;
    if (!list_spreads(w, sheet, kept)) {
        return;
    }
    w->status = calc_sheets_fill(&w->sheets, &w->rows, sheet, calc_worker_prunes(w));
    if (w->status != CALC_OK) {
        return;
    }
    calc_strategy strategy = {.optimizer_sharding = sheet->state.sharding,
                              .zero_stage = sheet->state.zero};
    calc_cell_forget_links(c);
    if (calc_zero_stage(&strategy) >= 3) {
        run_each(w, sheet);
        return;
    }
    list_pairs(w, sheet, -1);
    if (w->pairs > 0) {
        w->first_flag = 0;
        w->flags = c->reduces * c->gathers;
        run_lanes(w, sheet);
    }
}

void calc_evaluate_cell(calc_worker *w, size_t first, size_t last)
{
    w->first_row = first;
    w->last_row = last;
    w->job.shared = &w->shared;
    w->job.schedule = w->cell.exec.pipeline_schedule;
    w->job.tier1_capacity_bytes = w->system->chip.mem1.capacity_bytes;
    w->job.tier2_capacity_bytes = w->system->chip.mem2.capacity_bytes;
    w->job.most_s = w->conditions.steps.most_s;
    calc_screening_cell(w);
    bool kept[2] = {false};
    for (size_t i = 0; i < w->sheets.count && w->status == CALC_OK; i++) {
        calc_sheet *sheet = &w->sheets.sheet[i];
        if (sheet->spread <= 0) { /* those of other spreads follow it, and have its state */
            kept[0] = calc_cell_keeps(&w->cell, w->space, false, &sheet->state);
            kept[1] = calc_cell_keeps(&w->cell, w->space, true, &sheet->state);
        }
        if (kept[0] || kept[1]) {
            run_sheet(w, sheet, kept);
        }
    }
}
