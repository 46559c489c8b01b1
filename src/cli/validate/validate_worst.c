#include "cli/validate/validate_worst.h"

#include <math.h>

#include "cli/draw/breakdown.h"

enum { WORST = 24 /* rows whose time is broken down */ };

static bool counts(const calc_result *r)
{
    return r->use == CALC_USE_SCORED && r->quantity == CALC_QUANTITY_STEP_TIME &&
           isfinite(r->error);
}

/* Indices of the rows with the largest errors, largest first. @return how many */
static size_t find_worst(const calc_results *results, size_t worst[WORST])
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        size_t at = count;
        double error = fabs(results->item[i].error);
        if (!counts(&results->item[i])) {
            continue;
        }
        while (at > 0 && fabs(results->item[worst[at - 1]].error) < error) {
            at--;
        }
        if (at == WORST) {
            continue;
        }
        count += count < WORST;
        for (size_t k = count - 1; k > at; k--) {
            worst[k] = worst[k - 1];
        }
        worst[at] = i;
    }
    return count;
}

/* One row: its index among the rows, and the parts of its time. */
static void put_row(calc_put *put, const calc_result *r, size_t index, calc_systems *systems)
{
    const calc_run_map *map = &r->prediction->map;
    const calc_systems_entry *entry = calc_systems_get(systems, map->machine->system);
    calc_stats stats;
    calc_run(&map->app, &entry->system, &map->exec, CALC_COMPAT_NONE, &stats);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_count(put, "row", (int64_t)index);
    calc_breakdown_put_time(put, "time", &stats);
    calc_put_rounded(put, "total", stats.total_time, 17);
    calc_put_close(put);
}

void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems)
{
    size_t worst[WORST];
    size_t count = find_worst(results, worst);
    calc_put_array(put, "worst", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        put_row(put, &results->item[worst[i]], worst[i], systems);
    }
    calc_put_close(put);
}
