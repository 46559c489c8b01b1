#include "validate/coverage.h"

#include <math.h>
#include <string.h>

#include "validate/spread.h"

static calc_covered cover(const calc_result *r, const calc_residuals *residuals, calc_unseen unseen)
{
    const calc_run_map *map = &r->prediction->map;
    const calc_residual *found = calc_residuals_find(residuals, map->row->id, r->quantity);
    bool fitted = !found || isnan(found->value[CALC_UNSEEN_SOFTWARE]);
    const calc_residual *own = fitted == (unseen != CALC_UNSEEN_SOFTWARE) ? found : NULL;
    if (unseen == CALC_UNSEEN_SOFTWARE && !own) {
        return (calc_covered){(double)NAN, (double)NAN}; /* a fit has seen its software */
    }
    const char *family = calc_residuals_family_of(residuals, map->row);
    const calc_band_query query = {.quantity = r->quantity,
                                   .traits = found ? found->traits
                                                   : calc_traits_of(&map->app, &map->exec, family),
                                   .unseen = unseen,
                                   .without = own};
    calc_band band = calc_band_of(residuals, &query);
    double value = own ? own->value[unseen] : log(r->measured / r->predicted);
    return (calc_covered){isnan(band.reach) ? (double)NAN : value, band.reach};
}

void calc_covered_make(calc_covered *out, const calc_results *results,
                       const calc_residuals *residuals, calc_unseen unseen)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        out[i] = (calc_covered){(double)NAN, (double)NAN};
        if (r->use == CALC_USE_SCORED) {
            out[i] = cover(r, residuals, unseen);
        }
    }
}

/* The runs of one table. */
typedef struct table {
    const char *name;
    size_t count, inside;
} table;

enum { TABLES_MAX = 64 };

/* That of a name, new if there is none; those beyond the last are one. */
static table *table_of(table *tables, const char *name)
{
    int t = 0;
    while (t + 1 < TABLES_MAX && tables[t].name && strcmp(tables[t].name, name) != 0) {
        t++;
    }
    tables[t].name = name;
    return &tables[t];
}

static double weighed(const table *tables)
{
    double inside = 0, all = 0;
    for (int t = 0; t < TABLES_MAX && tables[t].count > 0; t++) {
        double weight = calc_spread_weight(tables[t].count);
        inside += (double)tables[t].inside * weight;
        all += (double)tables[t].count * weight;
    }
    return inside / all;
}

calc_coverage calc_coverage_of(const calc_results *results, const calc_covered *covered,
                               calc_quantity quantity, calc_coverage_member is_member,
                               const void *group)
{
    table tables[TABLES_MAX] = {{NULL, 0, 0}};
    calc_coverage c = {0};
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        double value = covered[i].value;
        if (isnan(value) || r->quantity != quantity || !is_member(r, group)) {
            continue;
        }
        table *t = table_of(tables, r->prediction->map.row->source);
        c.count++;
        c.below += value < -covered[i].reach;
        c.above += value > covered[i].reach;
        c.reach += covered[i].reach;
        t->count++;
        t->inside += fabs(value) <= covered[i].reach;
    }
    double n = c.count > 0 ? (double)c.count : (double)NAN;
    c.below /= n;
    c.above /= n;
    c.reach /= n;
    c.inside = 1 - c.below - c.above;
    c.weighed = weighed(tables);
    return c;
}
