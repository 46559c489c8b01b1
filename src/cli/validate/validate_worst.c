#include "cli/validate/validate_worst.h"

#include <math.h>

#include "cli/draw/breakdown.h"

const calc_result *calc_validate_next_worst(const calc_results *results, const calc_result *last,
                                            bool times)
{
    const calc_result *found = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        double error = fabs(r->error);
        bool counts = r->use == CALC_USE_SCORED && isfinite(error) &&
                      (!times || r->quantity == CALC_QUANTITY_STEP_TIME);
        bool below = !last || error < fabs(last->error) || (error == fabs(last->error) && r > last);
        if (counts && below && (!found || error > fabs(found->error))) {
            found = r;
        }
    }
    return found;
}

/* Predict again, with all statistics; memory outside the tensors is left out where it was not
 * measured. */
static void predict(const calc_result *result, calc_systems *systems, calc_stats *out)
{
    const calc_run_map *map = &result->prediction->map;
    const calc_systems_entry *entry = calc_systems_get(systems, map->machine->system);
    calc_system own;
    (void)!calc_run(&map->app, calc_run_map_system(map, &entry->system, &own), &map->exec,
                    CALC_COMPAT_NONE, out);
    if (calc_predict_counts_allocated(map)) {
        out->proc_mem_tier1_cap_req -= out->mem_overhead;
        out->mem_overhead = 0;
    }
}

static bool is_time(const calc_result *result)
{
    return result->quantity == CALC_QUANTITY_STEP_TIME;
}

static void write_parts(calc_output *out, const double *part, size_t count, double total,
                        const char *(*label)(size_t part))
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (part[i] > 0.005 * total) {
            calc_output_printf(out, "%s%s %.0f %%", shown++ ? ", " : "", label(i),
                               100 * part[i] / total);
        }
    }
}

void calc_validate_worst_parts(calc_output *out, const calc_result *result, calc_systems *systems)
{
    calc_stats stats;
    predict(result, systems, &stats);
    calc_output_printf(out, "%34s", "");
    if (is_time(result)) {
        double time_s[CALC_BREAKDOWN_TIMES];
        calc_breakdown_times(&stats, time_s);
        write_parts(out, time_s, CALC_BREAKDOWN_TIMES, stats.total_time, calc_breakdown_time_label);
    } else {
        double space_bytes[CALC_BREAKDOWN_SPACES];
        calc_breakdown_spaces(&result->prediction->map.exec, &stats, 1, space_bytes);
        write_parts(out, space_bytes, CALC_BREAKDOWN_SPACES, stats.proc_mem_tier1_cap_req,
                    calc_breakdown_space_label);
    }
    calc_output_text(out, "\n");
}

/* One row: its index among the rows, and the parts of its time. */
static void put_row(calc_put *put, const calc_result *r, size_t index, calc_systems *systems)
{
    const calc_run_map *map = &r->prediction->map;
    const calc_systems_entry *entry = calc_systems_get(systems, map->machine->system);
    calc_system own;
    calc_stats stats;
    calc_run(&map->app, calc_run_map_system(map, &entry->system, &own), &map->exec,
             CALC_COMPAT_NONE, &stats);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_count(put, "row", (int64_t)index);
    calc_breakdown_put_time(put, "time", &stats);
    calc_put_rounded(put, "total", stats.total_time, 17);
    calc_put_close(put);
}

void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems)
{
    enum { WORST = 24 /* number of rows whose time is broken down */ };
    const calc_result *r = NULL;
    calc_put_array(put, "worst", CALC_PUT_LINES);
    for (int i = 0; i < WORST && (r = calc_validate_next_worst(results, r, true)); i++) {
        put_row(put, r, (size_t)(r - results->item), systems);
    }
    calc_put_close(put);
}
