#include "cli/validate_band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/find.h"
#include "validate/error_groups.h"
#include "validate/sets.h"

/* What is written about. */
typedef struct table {
    calc_output *out;
    const calc_results *results;
    calc_covered *const *covered;
    calc_quantity quantity;
} table;

static bool is_any(const calc_result *result, const void *group)
{
    (void)result;
    (void)group;
    return true;
}

static bool is_of_family(const calc_result *result, const void *group)
{
    return strcmp(result->prediction->map.machine->family, group) == 0;
}

static bool is_of_kind(const calc_result *result, const void *group)
{
    return strcmp(calc_error_groups_kind(result), group) == 0;
}

static bool is_of_set(const calc_result *result, const void *group)
{
    return calc_sets_has(*(const size_t *)group, result);
}

static void write_row(const table *t, const char *name, calc_coverage_member is_member,
                      const void *group)
{
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        calc_coverage c =
            calc_coverage_of(t->results, t->covered[u], t->quantity, is_member, group);
        if (c.count == 0) {
            return;
        }
        if (u == 0) {
            calc_output_printf(t->out, "%-36s%6zu", name, c.count);
        }
        calc_output_printf(t->out, " |%7.1f%9.1f%6.1f%6.1f%6.1f", 100 * c.inside, 100 * c.weighed,
                           100 * c.below, 100 * c.above, 100 * (exp(c.reach) - 1));
    }
    calc_output_text(t->out, "\n");
}

/* Families in the order in which runs name them. */
static void write_families(const table *t)
{
    for (size_t i = 0; i < t->results->count; i++) {
        const calc_result *r = &t->results->item[i];
        bool first = r->use == CALC_USE_SCORED;
        for (size_t k = 0; k < i && first; k++) {
            first = t->results->item[k].use != CALC_USE_SCORED ||
                    !is_of_family(&t->results->item[k], r->prediction->map.machine->family);
        }
        if (first) {
            const char *family = r->prediction->map.machine->family;
            write_row(t, family, is_of_family, family);
        }
    }
}

static void write_quantity(const table *t, const char *title)
{
    calc_output_printf(
        t->out, "\n%-42s | fitted without its width          | without its publisher\n", title);
    calc_output_printf(t->out, "%-36s%6s", "", "n");
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        calc_output_text(t->out, " | inside by table below above   +-");
    }
    calc_output_text(t->out, "\n");
    write_row(t, "all", is_any, NULL);
    write_families(t);
    write_row(t, "dense", is_of_kind, "dense");
    write_row(t, "MoE", is_of_kind, "MoE");
    for (size_t s = 0; calc_sets_name(s); s++) {
        write_row(t, calc_sets_name(s), is_of_set, &s);
    }
}

void calc_validate_bands_write(calc_output *out, const calc_results *results,
                               const calc_validate_bands *bands)
{
    table t = {out, results, bands->covered, CALC_QUANTITY_STEP_TIME};
    write_quantity(&t, "time of a step, runs in their bands in %");
    t.quantity = CALC_QUANTITY_MEMORY;
    write_quantity(&t, "memory, runs in their bands in %");
}

/* ---- Making them ----------------------------------------------------------------------------- */

calc_status calc_validate_bands_make(calc_validate_bands *out, const calc_results *results,
                                     calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_status status = calc_find_data("measured/residuals.csv", path, errors);
    status = status == CALC_OK ? calc_residuals_read(&out->residuals, path, errors) : status;
    for (int u = 0; u < CALC_UNSEEN_COUNT && status == CALC_OK; u++) {
        out->covered[u] = calloc(results->count + 1, sizeof *out->covered[u]);
        if (!out->covered[u]) {
            return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                                   calc_status_text(CALC_ERR_NOMEM));
        }
        calc_covered_make(out->covered[u], results, &out->residuals, (calc_unseen)u);
    }
    return status;
}

void calc_validate_bands_free(calc_validate_bands *bands)
{
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        free(bands->covered[u]);
    }
    calc_residuals_free(&bands->residuals);
}
