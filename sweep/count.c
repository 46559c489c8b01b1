#include "count.h"

#include <string.h>

#include "filter.h"

bool calc_count_asks(const calc_worker *w)
{
    return w->conditions.any[CALC_CONDITION_MEMORY] || calc_filter_counts(w);
}

void calc_count_panel(calc_worker *w)
{
    bool some = calc_filter_counts(w) && w->conditions.any[CALC_CONDITION_TILE];
    for (size_t i = 0; i < w->job.panel->count; i++) {
        if (some) {
            calc_worker_put_lane(w, w->job.panel->row[i], w->job.panel->choice[i], &w->exec);
        }
        w->fields_met[i] =
            !some || calc_condition_fields_met(w->options, CALC_CONDITION_TILE, &w->exec);
    }
}

void calc_count_needs(calc_worker *w)
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

/* What is counted at a time: those of the flags at hand whose gradients and weights overlap alike.
 */
typedef struct overlap {
    bool reduces, gathers;
    uint64_t flags; /* that meet the conditions on them, */
    size_t flag;    /* one of these */
} overlap;

static overlap overlap_of(const calc_worker *w, bool reduces, bool gathers)
{
    overlap o = {.reduces = reduces, .gathers = gathers};
    for (size_t flag = w->first_flag; flag < w->first_flag + w->flags; flag++) {
        if (w->conditions.flag_met[flag] && calc_tile_reduces(&w->cell, flag) == reduces &&
            calc_tile_gathers(&w->cell, flag) == gathers) {
            o.flags++;
            o.flag = flag;
        }
    }
    return o;
}

/* Whether no step from the one to the other meets the conditions; whether all do. */
static bool outside(const calc_condition_steps *s, double from_s, double to_s)
{
    return from_s > s->most_s || to_s < s->least_s;
}

static bool inside(const calc_condition_steps *s, double from_s, double to_s)
{
    return from_s >= s->sure_from_s && to_s <= s->sure_to_s;
}

/* Whether a lane meets the conditions, by its own time. */
static bool lane_met(calc_worker *w, calc_tile_place at, const overlap *o, size_t lane)
{
    const calc_cell *c = &w->cell;
    const calc_condition_steps *steps = &w->conditions.steps;
    calc_stage_step step = calc_kernel_lane_step(&w->job, &c->shape[at.chunking],
                                                 calc_tile_links(w, lane, at.pair), lane, false);
    double total_s = step.total_s[o->reduces][o->gathers];
    if (outside(steps, total_s, total_s) || inside(steps, total_s, total_s)) {
        return inside(steps, total_s, total_s);
    }
    calc_worker_put_lane(w, w->job.panel->row[lane], w->job.panel->choice[lane], &w->exec);
    calc_cell_put_point(c, at.pair, &c->chunking[at.chunking], o->flag, &w->exec);
    return calc_filter_point(w, &w->exec, total_s);
}

/* Upper bounds of steps that are not exact. */
static void set_most(calc_worker *w, calc_tile_place at, bool allowed[2][2], calc_lanes *most_s)
{
    const calc_kernel_chunking *shape = &w->cell.shape[at.chunking];
    const calc_stage_links *links = calc_tile_links(w, 0, at.pair);
    if (!w->most_known) {
        w->kernel->most(&w->job, shape, links, &w->pipelines);
        w->most_known = true;
    }
    calc_lanes kept_s = w->pipelines.pipeline_s;
    w->pipelines.pipeline_s = w->pipelines.most_s;
    w->kernel->step(&w->job, shape, links, &w->needs, &w->pipelines, allowed, most_s);
    w->pipelines.pipeline_s = kept_s;
}

/* Lanes with one overlap that do not meet the conditions on time. */
static uint64_t unmet(calc_worker *w, calc_tile_place at, const overlap *o)
{
    const calc_condition_steps *steps = &w->conditions.steps;
    const calc_kernel_chunking *shape = &w->cell.shape[at.chunking];
    size_t count = w->job.panel->count;
    bool allowed[2][2] = {{false, false}, {false, false}};
    calc_lanes least_s, most_s;
    allowed[o->reduces][o->gathers] = true;
    w->kernel->step(&w->job, shape, calc_tile_links(w, 0, at.pair), &w->needs, &w->pipelines,
                    allowed, &least_s);
    bool some = false; /* may be in time */
    for (size_t i = 0; i < count; i++) {
        some = some || (w->met[i] && least_s.of[i] <= steps->most_s);
    }
    if (some && !calc_kernel_exact(&w->job, shape)) {
        set_most(w, at, allowed, &most_s);
    } else {
        most_s = least_s;
    }
    uint64_t lanes = 0;
    for (size_t i = 0; i < count; i++) {
        bool never = outside(steps, least_s.of[i], most_s.of[i]);
        bool sure = inside(steps, least_s.of[i], most_s.of[i]);
        lanes += w->met[i] && (never || (!sure && !lane_met(w, at, o, i)));
    }
    return lanes;
}

/* ---- All ------------------------------------------------------------------------------------- */

bool calc_count_pair(calc_worker *w, calc_tile_place at)
{
    const calc_conditions *known = &w->conditions;
    size_t flags = known->flags_met;
    bool fine = flags > 0 &&
                (!known->any[CALC_CONDITION_LANE] || calc_filter_place(w, at.chunking, at.pair));
    size_t met = fine ? w->met_lanes * flags : 0;
    w->counts.filtered += w->needs.feasible * w->flags - met;
    for (int i = 0; i < 4 && met > 0 && known->any[CALC_CONDITION_TIME]; i++) {
        overlap o = overlap_of(w, i / 2 > 0, i % 2 > 0);
        w->counts.filtered += o.flags > 0 ? o.flags * unmet(w, at, &o) : 0;
    }
    return met > 0;
}
