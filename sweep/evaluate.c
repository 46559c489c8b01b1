#include "worker.h"

#include <math.h>
#include <string.h>

#include "filter.h"
#include "model/operators/processor.h"
#include "model/verdict.h"
#include "point.h"
#include "sheet.h"

/* A panel in a cell: its lanes with every chunking and every pair of networks. */

/* The unit of evaluation: a chunking and a pair of networks. */
typedef struct tile_place {
    size_t chunking, pair;
} tile_place;

/* Where a flag's time is in a step. */
static bool tile_reduces(const calc_cell *c, size_t flag)
{
    return c->reduce[flag / c->gathers] != 0;
}

static bool tile_gathers(const calc_cell *c, size_t flag)
{
    int64_t gather = c->gather[flag % c->gathers];
    return gather == CALC_CHOICE_AUTO ? tile_reduces(c, flag) : gather == CALC_CHOICE_TRUE;
}

/* Links of a lane of the current panel. */
static const calc_stage_links *tile_links(calc_worker *w, size_t lane, size_t pair)
{
    const calc_panel *p = w->job.panel;
    return calc_cell_links(&w->cell, &w->rows, &w->rows.row[p->row[lane]], &w->state,
                           calc_cell_pair_of(pair, p->spread[lane]), p->message[lane]);
}

/* ---- Layouts that do not meet a condition, counted ------------------------------------------- */

/* Every layout that does not meet a condition, counted: for --no-prune with conditions.
 * Vectorized, except for steps whose bounds do not decide. */

/* Whether lanes are asked for that meet conditions: to be counted, or on memory. */
static bool count_asks(const calc_worker *w)
{
    return w->conditions.any[CALC_CONDITION_MEMORY] || calc_filter_counts(w);
}

/* Which lanes of the current panel meet the conditions on rows, choices and cells:
 * worker->fields_met. */
static void count_panel(calc_worker *w)
{
    bool some = calc_filter_counts(w) && w->conditions.any[CALC_CONDITION_TILE];
    for (size_t i = 0; i < w->job.panel->count; i++) {
        if (some) {
            calc_worker_put_lane(w, w->job.panel->row[i], w->job.panel->choice[i], &w->exec);
        }
        w->fields_met[i] =
            !some || calc_conditions_met(w->options, CALC_CONDITION_TILE, &w->exec, NULL);
    }
}

/* Which of them, with the current chunking, also fit and meet the conditions on memory:
 * worker->met. */
static void count_needs(calc_worker *w)
{
    const calc_kernel_needs *n = &w->needs;
    size_t count = w->job.panel->count;
    memcpy(w->met, w->fields_met, sizeof w->met);
    w->met_lanes = 0;
    if (w->conditions.any[CALC_CONDITION_MEMORY]) {
        calc_condition_memory_met(w->options, n->tier1_bytes.of, n->tier2_bytes.of, count, w->met);
    }
    for (size_t i = 0; i < count; i++) {
        bool fits = n->tier1_bytes.of[i] <= w->job.tier1_capacity_bytes &&
                    n->tier2_bytes.of[i] <= w->job.tier2_capacity_bytes;
        w->met[i] = w->met[i] && fits;
        w->met_lanes += w->met[i];
    }
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Points of a lane that do not meet the conditions on time, at flags that meet those on them. */
static uint64_t unmet_of_lane(calc_worker *w, tile_place at, size_t lane)
{
    const calc_cell *c = &w->cell;
    const calc_kernel_range *steps = &w->conditions.steps;
    calc_stage_step step = calc_kernel_lane_step(&w->job, &c->shape[at.chunking],
                                                 tile_links(w, lane, at.pair), lane, false);
    uint64_t points = 0;
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        double total_s = step.total_s[tile_reduces(c, i)][tile_gathers(c, i)];
        bool met = total_s >= steps->least_s && total_s <= steps->most_s;
        if (met && (total_s < steps->sure_from_s || total_s > steps->sure_to_s)) {
            calc_worker_put_lane(w, w->job.panel->row[lane], w->job.panel->choice[lane], &w->exec);
            calc_cell_put_point(c, at.pair, &c->chunking[at.chunking], i, &w->exec);
            met = calc_filter_point(w, &w->exec, total_s);
        }
        points += w->conditions.flag_met[i] && !met;
    }
    return points;
}

/* Points that do not meet the conditions on time, of lanes and flags that meet the others; the
 * shortest steps of lanes are known. */
static uint64_t unmet(calc_worker *w, tile_place at)
{
    uint64_t points = 0;
    for (size_t i = 0; i < w->job.panel->count; i++) {
        bool late = w->best_s.of[i] > w->conditions.steps.most_s;
        points += !w->met[i] ? 0 : late ? w->conditions.flags_met : unmet_of_lane(w, at, i);
    }
    return points;
}

/* ---- Counts of a tile ------------------------------------------------------------------------ */

/* Count the layouts of a chunking and a pair of networks that do not meet the conditions.
 * @return whether some lanes may meet them */
static bool count_pair(calc_worker *w, tile_place at)
{
    const calc_conditions *known = &w->conditions;
    size_t flags = known->flags_met;
    bool fine = flags > 0 &&
                (!known->any[CALC_CONDITION_LANE] || calc_filter_place(w, at.chunking, at.pair));
    size_t met = fine ? w->met_lanes * flags : 0;
    w->counts.filtered += w->needs.feasible * w->flags - met;
    if (met > 0 && known->any[CALC_CONDITION_TIME]) {
        w->counts.filtered += unmet(w, at);
    }
    return met > 0;
}

/* ---- Points of a lane ------------------------------------------------------------------------ */

/* The points of a lane. Most have done their work by their times alone: a layout is not small. */
static void visit_lane(calc_worker *w, size_t lane, tile_place at, bool verifies)
{
    const calc_cell *c = &w->cell;
    calc_stage_step step = calc_kernel_lane_step(&w->job, &c->shape[at.chunking],
                                                 tile_links(w, lane, at.pair), lane, false);
    bool known = false;
    for (size_t i = 0; i < w->flags && w->status == CALC_OK; i++) {
        size_t flag = w->first_flag + i;
        calc_point p = {
            .total_s = step.total_s[tile_reduces(c, flag)][tile_gathers(c, flag)],
            .tier1_bytes = step.tier1_bytes,
            .tier2_bytes = step.tier2_bytes,
        };
        if (!verifies && (!w->conditions.flag_met[flag] || !calc_point_matters(w, &p))) {
            continue;
        }
        if (!known) {
            calc_worker_put_lane(w, w->job.panel->row[lane], w->job.panel->choice[lane], &w->exec);
            known = true;
        }
        calc_cell_put_point(c, at.pair, &c->chunking[at.chunking], flag, &w->exec);
        (verifies ? calc_point_verify : calc_point_enter)(w, &w->exec, &p);
    }
}

/* The lanes that may matter. */
static void visit(calc_worker *w, tile_place at)
{
    for (size_t lane = 0; lane < w->job.panel->count && w->status == CALC_OK; lane++) {
        calc_point p = {w->best_s.of[lane], w->needs.tier1_bytes.of[lane],
                        w->needs.tier2_bytes.of[lane]};
        if (p.total_s <= w->needs.longest_s.of[lane] &&
            (!w->bounded || calc_point_matters(w, &p))) {
            visit_lane(w, lane, at, false);
        }
    }
}

/* ---- Verification ---------------------------------------------------------------------------- */

static double least_s(const calc_worker *w, const calc_stage_step *step)
{
    double least = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        bool allowed = w->allowed[i / 2][i % 2];
        least = allowed ? calc_min(least, step->total_s[i / 2][i % 2]) : least;
    }
    return least;
}

/* Compare lanes with calc_run(): every point, and the kernel's choice among those of a lane. */
static void verify(calc_worker *w, tile_place at)
{
    const calc_kernel_chunking *shape = &w->cell.shape[at.chunking];
    for (size_t lane = 0; lane < w->job.panel->count && w->status == CALC_OK; lane++) {
        visit_lane(w, lane, at, true);
        const calc_stage_links *links = tile_links(w, lane, at.pair);
        calc_stage_step step = calc_kernel_lane_step(&w->job, shape, links, lane, false);
        calc_stage_step least = calc_kernel_lane_step(&w->job, shape, links, lane, true);
        bool timed = w->needs.feasible > 0;
        if ((timed && w->best_s.of[lane] != least_s(w, &least)) ||
            least_s(w, &least) > least_s(w, &step) ||
            w->needs.tier1_bytes.of[lane] != step.tier1_bytes ||
            w->needs.tier2_bytes.of[lane] != step.tier2_bytes) {
            w->status = CALC_ERR_RULE;
            w->failed = w->exec;
            calc_cell_put_point(&w->cell, at.pair, &w->cell.chunking[at.chunking], w->first_flag,
                                &w->failed);
        }
    }
}

/* ---- Panels ---------------------------------------------------------------------------------- */

static void count(calc_worker *w)
{
    const calc_kernel_needs *n = &w->needs;
    uint64_t points = w->pairs * w->flags;
    w->counts.evaluated += w->job.panel->count * points;
    w->counts.feasible += n->feasible * points;
    w->counts.rejected[CALC_VERDICT_MEM1_CAPACITY] += n->over_tier1 * points;
    w->counts.rejected[CALC_VERDICT_MEM2_CAPACITY] += n->over_tier2 * points;
}

/* Update which lanes matter: needs are new, or more is known. */
static void screen(calc_worker *w)
{
    bool asks = count_asks(w);
    w->kernel->screen(&w->job, &w->needs);
    for (size_t i = 0; asks && i < w->job.panel->count; i++) {
        w->needs.longest_s.of[i] = w->met[i] ? w->needs.longest_s.of[i] : -1;
    }
}

/* A lane of the panel, for those of its last vector, too. */
static size_t within(const calc_panel *p, size_t lane)
{
    return lane < p->count ? lane : p->count - 1;
}

static void run_pipeline(calc_worker *w, tile_place at)
{
    const calc_panel *p = w->job.panel;
    double message_s[CALC_PANEL_MESSAGES] = {0};
    double back_message_s[CALC_PANEL_MESSAGES] = {0};
    bool known[CALC_PANEL_MESSAGES] = {false};
    for (size_t i = 0; i < calc_panel_whole(p->count); i++) {
        size_t lane = within(p, i);
        size_t m = p->message[lane];
        if (!known[m]) {
            const calc_stage_links *links = tile_links(w, lane, at.pair);
            message_s[m] = links->message_s;
            back_message_s[m] = links->back_message_s;
            known[m] = true;
        }
        w->pipelines.message_s.of[i] = message_s[m];
        w->pipelines.back_message_s.of[i] = back_message_s[m];
    }
    w->kernel->pipeline(&w->job, &w->cell.shape[at.chunking], w->of_all, &w->pipelines);
}

/* Links of experts, lane by lane, where they matter.
 * @param pair  -1: nothing, as all lanes have the same ones */
static void put_expert_links(calc_worker *w, int64_t pair)
{
    static const calc_stage_links none = {0};
    const calc_panel *p = w->job.panel;
    calc_kernel_pipelines *to = &w->pipelines;
    size_t lanes = pair < 0 ? CALC_PANEL_LANES : calc_panel_whole(p->count);
    for (size_t i = 0; i < lanes; i++) {
        bool matters = pair >= 0 && (w->needs.longest_s.of[i] >= 0 || w->options->verify > 0);
        const calc_stage_links *links = matters ? tile_links(w, within(p, i), (size_t)pair) : &none;
#define CALC_X(member) to->member.of[i] = links->member;
        CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
    }
    w->apart = pair >= 0;
}

/* The links of a pair: of all lanes, and of those whose experts are spread differently. */
static void put_links(calc_worker *w, size_t pair)
{
    bool apart = w->rows.spreads.count > 1;
    w->of_all = tile_links(w, 0, pair);
    w->linked = (int64_t)pair;
    if (apart || w->apart) {
        put_expert_links(w, apart ? (int64_t)pair : -1);
    }
    if (apart) {
        w->links = *w->of_all;
#define CALC_X(member) w->links.member = 0;
        CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
        w->of_all = &w->links;
    }
}

/* All pairs of networks with a chunking. */
static void run_pairs(calc_worker *w, size_t chunking, bool verifies)
{
    int64_t pipeline = -1;
    for (size_t i = 0; i < w->pairs && w->status == CALC_OK; i++) {
        tile_place at = {chunking, w->pair[i]};
        /* Whether some points of it may meet the conditions on them. */
        if (w->conditions.any[CALC_CONDITION_LANE] && !calc_filter_counts(w) &&
            !calc_filter_place(w, chunking, at.pair)) {
            continue;
        }
        if (w->linked != (int64_t)at.pair) {
            put_links(w, at.pair);
        }
        if (w->cell.pair[at.pair].pipeline != pipeline) {
            pipeline = w->cell.pair[at.pair].pipeline;
            run_pipeline(w, at);
        }
        size_t hits = w->kernel->step(&w->job, &w->cell.shape[chunking], w->of_all, &w->needs,
                                      &w->pipelines, w->allowed, &w->best_s);
        bool met = !calc_filter_counts(w) || count_pair(w, at);
        if (hits > 0 && met) {
            uint64_t entered = w->entered;
            visit(w, at);
            if (w->entered > entered) {
                screen(w);
            }
        }
        if (verifies) {
            verify(w, at);
        }
    }
}

/* The panel of the job with every chunking and every pair. */
static void tile_run(calc_worker *w)
{
    const calc_cell *c = &w->cell;
    bool asks = count_asks(w);
    if (asks) {
        count_panel(w);
    }
    for (size_t i = 0; i < c->fitting && w->status == CALC_OK; i++) {
        bool verifies = w->options->verify > 0 && calc_point_verifies(w);
        /* Overlap of messages changes no need. */
        if (i == 0 || c->chunking[i].interleaving != c->chunking[i - 1].interleaving) {
            w->linked = -1;
            w->kernel->needs(&w->job, &c->shape[i], &w->needs);
            if (asks) {
                count_needs(w);
            }
            if (w->needs.feasible > 0) {
                screen(w);
            }
        }
        count(w);
        if (w->needs.feasible > 0) {
            run_pairs(w, i, verifies);
        } else if (verifies) {
            verify(w, (tile_place){i, w->pair[0]});
        }
    }
}

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
        tile_run(w);
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
    if (!w->cell.offloads && (c->weights || c->activations || c->optimizer)) {
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

/* Select the legal lanes among some lanes of a panel.
 * @param lane  their positions; changed
 * @return their number */
static size_t keep_legal(calc_worker *w, const calc_panel *p, unsigned char *lane, size_t lanes)
{
    size_t kept = 0;
    for (size_t i = 0; i < lanes && !w->all_legal; i++) {
        size_t row = p->row[lane[i]];
        bool runs = w->runs[p->spread[lane[i]]];
        lane[kept] = lane[i];
        kept += runs && legal(w, row, p->choice[lane[i]]);
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

/* Adapt the lanes of a panel to the cell: as calc_run() does where weights come and go within the
 * passes. */
static void fit(calc_worker *w, const calc_sheet *sheet, size_t panel)
{
    calc_cell *c = &w->cell;
    calc_panel *p = &w->sheets.panel[panel];
    if (!sheet->varies) {
        return;
    }
    const calc_stage_lines *lines =
        calc_cell_lines(c, w->system, &w->rows, &w->state.strategy, w->lines);
    if (calc_zero_stage(&w->state.strategy) < 3) {
        calc_adapt_panel(&(calc_adapt_place){&w->rows, c, &w->state, lines}, p);
        return;
    }
    for (size_t lane = 0; lane < p->count; lane++) {
        const calc_row *row = &w->rows.row[p->row[lane]];
        calc_stage_terms t = w->rows.terms[row->terms + p->choice[lane]];
        calc_worker_put_lane(w, p->row[lane], p->choice[lane], &w->exec);
        calc_cell_put_point(c, w->pair[0], &c->chunking[0], w->first_flag, &w->exec);
        calc_stage_terms_cell(&row->context, &w->exec, &row->parts, lines,
                              calc_cell_optimizer_of(c, row, &w->exec, lines), &t);
        t.expert_shards = p->expert_shards[lane];
        calc_panel_put(p, lane, &t);
    }
    calc_panel_pad(p, w->shared.compat != CALC_COMPAT_NONE);
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
        tile_run(w);
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
    w->conditions.flags_met = 0;
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        w->conditions.flags_met += w->conditions.flag_met[i];
    }
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        w->allowed[tile_reduces(c, i)][tile_gathers(c, i)] |=
            w->conditions.flag_met[i] || w->conditions.flags_met == 0;
    }
    w->alive.count = 0;
    w->all_legal = w->all_run && c->offloads && calc_filter_flags(w) &&
                   !w->conditions.any[CALC_CONDITION_TILE];
    share(w, row, choice);
    if (w->rows.shape.experts > 0) {
        share_experts(w, sheet);
    }
    bool prunes = calc_worker_prunes(w);
    if (prunes && sheet->corners == 0 && sheet->panels > 0) {
        /* A sheet of few lanes has no corners: its lanes are bounded at once. */
        static const unsigned char first = 0;
        add_neighbours(w, sheet, sheet->first, &first, 1);
    }
    for (size_t i = 0; i < sheet->corners && prunes && w->status == CALC_OK; i++) {
        add_corners(w, sheet, &w->sheets.corner[sheet->corner + i]);
    }
    for (size_t i = 0; i < sheet->panels && !prunes && w->status == CALC_OK; i++) {
        add_panel(w, sheet, sheet->first + i);
    }
    run_alive(w);
}

/* Pairs of networks that the lanes of a sheet allow.
 * @param data  of this network of data parallelism only; -1: of any */
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
    calc_cell_forget_links(c);
    if (calc_row_choice_zero(&sheet->state) >= 3) {
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

void calc_evaluate_cell(calc_worker *w)
{
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
