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
        w->counted.asked.of[i] = w->met[i];
    }
    for (size_t i = count; i < calc_panel_whole(count); i++) {
        w->counted.asked.of[i] = 0;
    }
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* The current flags that meet the conditions on them and have the given overlap of gradients and
 * weights. @param flag  filled with one of them, if there is any */
static size_t flags_of(const calc_worker *w, bool reduces, bool gathers, size_t *flag)
{
    size_t flags = 0;
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        if (w->conditions.flag_met[i] && calc_tile_reduces(&w->cell, i) == reduces &&
            calc_tile_gathers(&w->cell, i) == gathers) {
            flags++;
            *flag = i;
        }
    }
    return flags;
}

/* Whether points of a lane meet the conditions, by their own time. */
static bool lane_met(calc_worker *w, calc_tile_place at, bool reduces, bool gathers, size_t flag,
                     size_t lane)
{
    const calc_cell *c = &w->cell;
    const calc_kernel_range *steps = &w->conditions.steps;
    calc_stage_step step = calc_kernel_lane_step(&w->job, &c->shape[at.chunking],
                                                 calc_tile_links(w, lane, at.pair), lane, false);
    double total_s = step.total_s[reduces][gathers];
    if (total_s > steps->most_s || total_s < steps->least_s) {
        return false;
    }
    if (total_s >= steps->sure_from_s && total_s <= steps->sure_to_s) {
        return true;
    }
    calc_worker_put_lane(w, w->job.panel->row[lane], w->job.panel->choice[lane], &w->exec);
    calc_cell_put_point(c, at.pair, &c->chunking[at.chunking], flag, &w->exec);
    return calc_filter_point(w, &w->exec, total_s);
}

/* Points that do not meet them, of those that the kernel leaves open. */
static uint64_t unmet_open(calc_worker *w, calc_tile_place at)
{
    uint64_t points = 0;
    for (size_t lane = 0; lane < w->job.panel->count; lane++) {
        unsigned open = (unsigned)w->counted.open_of.of[lane];
        for (unsigned o = 0; o < 4; o++) {
            size_t flag = 0;
            bool reduces = o / 2 > 0;
            bool gathers = o % 2 > 0;
            size_t flags = open >> o & 1 ? flags_of(w, reduces, gathers, &flag) : 0;
            points += flags > 0 && !lane_met(w, at, reduces, gathers, flag, lane) ? flags : 0;
        }
    }
    return points;
}

/* Upper bounds of pipelines. */
static const calc_lanes *most_of(calc_worker *w, calc_tile_place at)
{
    const calc_kernel_chunking *shape = &w->cell.shape[at.chunking];
    if (calc_kernel_exact(&w->job, shape)) {
        return &w->pipelines.pipeline_s;
    }
    if (!w->most_known) {
        w->kernel->most(&w->job, shape, w->of_all, &w->pipelines);
        w->most_known = true;
    }
    return &w->pipelines.most_s;
}

/* Points that do not meet the conditions on time, of lanes and flags that meet the others; the
 * shortest steps of lanes are known. */
static uint64_t unmet(calc_worker *w, calc_tile_place at)
{
    const calc_kernel_range *steps = &w->conditions.steps;
    calc_kernel_count *c = &w->counted;
    double in_time = 0;
    for (size_t i = 0; i < w->job.panel->count; i++) {
        in_time += w->best_s.of[i] <= steps->most_s ? c->asked.of[i] : 0;
    }
    if (in_time <= 0) {
        return w->met_lanes * w->conditions.flags_met;
    }
    for (int o = 0; o < 4; o++) {
        size_t flag;
        c->points[o / 2][o % 2] = (double)flags_of(w, o / 2 > 0, o % 2 > 0, &flag);
    }
    w->kernel->count(&w->job, &w->cell.shape[at.chunking], w->of_all, &w->needs, &w->pipelines,
                     most_of(w, at), steps, c);
    return (uint64_t)c->out + (c->open > 0 ? unmet_open(w, at) : 0);
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
    if (met > 0 && known->any[CALC_CONDITION_TIME]) {
        w->counts.filtered += unmet(w, at);
    }
    return met > 0;
}
