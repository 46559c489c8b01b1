#include "tile.h"

#include "count.h"
#include "filter.h"
#include "point.h"
#include "screening.h"

/* ---- Points of a lane ------------------------------------------------------------------------ */

/* Where a flag's time is in a step. */
bool calc_tile_reduces(const calc_cell *c, size_t flag)
{
    return c->reduce[flag / c->gathers] != 0;
}

bool calc_tile_gathers(const calc_cell *c, size_t flag)
{
    return calc_cell_gathers(c, flag / c->gathers, flag % c->gathers);
}

static const calc_row *row_of(const calc_worker *w, size_t lane)
{
    return &w->rows.row[w->job.panel->row[lane]];
}

const calc_stage_links *calc_tile_links(calc_worker *w, size_t lane, size_t pair)
{
    const calc_panel *p = w->job.panel;
    return calc_cell_links(&w->cell, &w->rows, row_of(w, lane), &w->state,
                           calc_cell_pair_of(pair, p->spread[lane]), p->message[lane]);
}

/* The points of a lane. Most have done their work by their times alone: a layout is not small. */
static void visit_lane(calc_worker *w, size_t lane, calc_tile_place at, calc_point_purpose what)
{
    const calc_cell *c = &w->cell;
    calc_stage_step step = calc_kernel_lane_step(&w->job, &c->shape[at.chunking],
                                                 calc_tile_links(w, lane, at.pair), lane, false);
    bool known = false;
    for (size_t i = 0; i < w->flags && w->status == CALC_OK; i++) {
        size_t flag = w->first_flag + i;
        calc_point p = {
            .total_s = step.total_s[calc_tile_reduces(c, flag)][calc_tile_gathers(c, flag)],
            .tier1_bytes = step.tier1_bytes,
            .tier2_bytes = step.tier2_bytes,
        };
        if (what == CALC_POINT_ENTER &&
            (!w->conditions.flag_met[flag] || !calc_point_matters(w, w->group, &p))) {
            continue;
        }
        if (!known) {
            calc_worker_put_lane(w, w->job.panel->row[lane], w->job.panel->choice[lane], &w->exec);
            known = true;
        }
        calc_cell_put_point(c, at.pair, &c->chunking[at.chunking], flag, &w->exec);
        calc_point_take(w, w->group, &w->exec, &p, what);
    }
}

/* The lanes that may matter. */
static void visit(calc_worker *w, calc_tile_place at)
{
    for (size_t lane = 0; lane < w->job.panel->count && w->status == CALC_OK; lane++) {
        calc_point p = {w->best_s.of[lane], w->needs.tier1_bytes.of[lane],
                        w->needs.tier2_bytes.of[lane]};
        if (p.total_s <= w->needs.longest_s.of[lane] &&
            (!w->bounded || calc_point_matters(w, w->group, &p))) {
            visit_lane(w, lane, at, CALC_POINT_ENTER);
        }
    }
}

/* ---- Verification ---------------------------------------------------------------------------- */

static double least_s(const calc_worker *w, const calc_stage_step *step)
{
    double least = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        bool allowed = w->allowed[i / 2][i % 2];
        least = allowed ? calc_stage_min(least, step->total_s[i / 2][i % 2]) : least;
    }
    return least;
}

/* Compare lanes with calc_run(): every point, and the kernel's choice among those of a lane. */
static void verify(calc_worker *w, calc_tile_place at)
{
    const calc_kernel_chunking *shape = &w->cell.shape[at.chunking];
    for (size_t lane = 0; lane < w->job.panel->count && w->status == CALC_OK; lane++) {
        visit_lane(w, lane, at, CALC_POINT_VERIFY);
        const calc_stage_links *links = calc_tile_links(w, lane, at.pair);
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
    bool asks = calc_count_asks(w);
    w->kernel->screen(&w->job, &w->needs);
    for (size_t i = 0; asks && i < w->job.panel->count; i++) {
        w->needs.longest_s.of[i] = w->met[i] ? w->needs.longest_s.of[i] : -1;
    }
}

/* Whether some points of a pair and a chunking may meet the conditions on them. */
static bool meets(const calc_worker *w, calc_tile_place at)
{
    return !w->conditions.any[CALC_CONDITION_LANE] || calc_filter_counts(w) ||
           calc_filter_place(w, at.chunking, at.pair);
}

/* A lane of the panel, for those of its last vector, too. */
static size_t within(const calc_panel *p, size_t lane)
{
    return lane < p->count ? lane : p->count - 1;
}

static void run_pipeline(calc_worker *w, calc_tile_place at)
{
    const calc_panel *p = w->job.panel;
    double message_s[CALC_PANEL_MESSAGES] = {0};
    double back_message_s[CALC_PANEL_MESSAGES] = {0};
    bool known[CALC_PANEL_MESSAGES] = {false};
    for (size_t i = 0; i < calc_panel_whole(p->count); i++) {
        size_t lane = within(p, i);
        size_t m = p->message[lane];
        if (!known[m]) {
            const calc_stage_links *links = calc_tile_links(w, lane, at.pair);
            message_s[m] = links->message_s;
            back_message_s[m] = links->back_message_s;
            known[m] = true;
        }
        w->pipelines.message_s.of[i] = message_s[m];
        w->pipelines.back_message_s.of[i] = back_message_s[m];
    }
    w->kernel->pipeline(&w->job, &w->cell.shape[at.chunking], w->of_all, &w->pipelines);
    w->most_known = false;
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
        const calc_stage_links *links =
            matters ? calc_tile_links(w, within(p, i), (size_t)pair) : &none;
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
    w->of_all = calc_tile_links(w, 0, pair);
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
        calc_tile_place at = {chunking, w->pair[i]};
        if (!meets(w, at)) {
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
        bool met = !calc_filter_counts(w) || calc_count_pair(w, at);
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
void calc_tile_run(calc_worker *w)
{
    const calc_cell *c = &w->cell;
    bool asks = calc_count_asks(w);
    if (asks) {
        calc_count_panel(w);
    }
    for (size_t i = 0; i < c->fitting && w->status == CALC_OK; i++) {
        bool verifies = w->options->verify > 0 && calc_point_verifies(w);
        /* Overlap of messages changes no need. */
        if (i == 0 || c->chunking[i].interleaving != c->chunking[i - 1].interleaving) {
            w->linked = -1;
            w->kernel->needs(&w->job, &c->shape[i], &w->needs);
            if (asks) {
                calc_count_needs(w);
            }
            if (w->needs.feasible > 0) {
                screen(w);
            }
        }
        count(w);
        if (w->needs.feasible > 0) {
            run_pairs(w, i, verifies);
        } else if (verifies) {
            verify(w, (calc_tile_place){i, w->pair[0]});
        }
    }
}
