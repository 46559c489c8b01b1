#include "cli/validate/validate_band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/shell/known_runs.h"
#include "validate/fits.h"
#include "validate/result_labels.h"
#include "validate/sets.h"

/* Which runs a row is about, and how the row is written. */
typedef struct table table;
struct table {
    calc_output *out;
    calc_put *put; /* or this */
    const calc_results *results;
    calc_covered *const *covered;
    calc_quantity quantity;
    void (*write)(table *t, const char *by, const char *name, const calc_coverage *of);
};

static bool is_any(const calc_result *result, const void *group)
{
    (void)result;
    (void)group;
    return true;
}

static bool is_of_family(const calc_result *result, const void *group)
{
    return strcmp(result->prediction->map.row->family, group) == 0;
}

static bool is_of_kind(const calc_result *result, const void *group)
{
    return strcmp(calc_result_kind(result), group) == 0;
}

static bool is_of_set(const calc_result *result, const void *group)
{
    return calc_sets_has(*(const size_t *)group, result);
}

static void write_row(table *t, const char *by, const char *name, calc_coverage_member is_member,
                      const void *group)
{
    calc_coverage of[CALC_UNSEEN_COUNT];
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        of[u] = calc_coverage_of(t->results, t->covered[u], t->quantity, is_member, group);
    }
    if (of[CALC_UNSEEN_WIDTH].count > 0) {
        t->write(t, by, name, of);
    }
}

static double half_width(const calc_coverage *c)
{
    return exp(c->reach) - 1;
}

static void write_text_row(table *t, const char *by, const char *name, const calc_coverage *of)
{
    (void)by;
    calc_output_printf(t->out, "%-36s%6zu", name, of->count);
    for (int u = 0; u < CALC_UNSEEN_COUNT && of[u].count > 0; u++) {
        calc_output_text(t->out, " |");
        if (u >= CALC_UNSEEN_CROSSED) {
            calc_output_printf(t->out, "%5zu", of[u].count);
        }
        calc_output_printf(t->out, "%7.1f%9.1f%6.1f%6.1f%6.1f", 100 * of[u].inside,
                           100 * of[u].weighed, 100 * of[u].below, 100 * of[u].above,
                           100 * half_width(&of[u]));
    }
    calc_output_text(t->out, "\n");
}

static void put_row(table *t, const char *by, const char *name, const calc_coverage *of)
{
    static const char *const keys[CALC_UNSEEN_COUNT] = {"unseen_width", "unseen_publisher",
                                                        "later_software", "unseen_software"};
    calc_put_object(t->put, NULL, CALC_PUT_LINE);
    calc_put_text(t->put, "by", by);
    calc_put_text(t->put, "name", name);
    calc_put_text(t->put, "quantity", calc_quantity_word(t->quantity));
    calc_put_count(t->put, "n", (int64_t)of->count);
    for (int u = 0; u < CALC_UNSEEN_COUNT && of[u].count > 0; u++) {
        calc_put_object(t->put, keys[u], CALC_PUT_LINE);
        calc_put_count(t->put, "n", (int64_t)of[u].count);
        calc_put_rounded(t->put, "inside", of[u].inside, 10);
        calc_put_rounded(t->put, "inside_by_table", of[u].weighed, 10);
        calc_put_rounded(t->put, "below", of[u].below, 10);
        calc_put_rounded(t->put, "above", of[u].above, 10);
        calc_put_rounded(t->put, "half_width", half_width(&of[u]), 10);
        calc_put_close(t->put);
    }
    calc_put_close(t->put);
}

/* Families in the order in which runs name them. */
static void write_families(table *t)
{
    for (size_t i = 0; i < t->results->count; i++) {
        const calc_result *r = &t->results->item[i];
        bool first = r->use == CALC_USE_SCORED;
        for (size_t k = 0; k < i && first; k++) {
            first = t->results->item[k].use != CALC_USE_SCORED ||
                    !is_of_family(&t->results->item[k], r->prediction->map.row->family);
        }
        if (first) {
            const char *family = r->prediction->map.row->family;
            write_row(t, "family", *family ? family : "other machines", is_of_family, family);
        }
    }
}

static void write_rows(table *t)
{
    write_row(t, "all", "all", is_any, NULL);
    write_families(t);
    write_row(t, "kind", "dense", is_of_kind, "dense");
    write_row(t, "kind", "MoE", is_of_kind, "MoE");
    for (size_t s = 0; calc_sets_name(s); s++) {
        write_row(t, "set", calc_sets_name(s), is_of_set, &s);
    }
}

static bool has_any(const table *t, calc_unseen unseen)
{
    return calc_coverage_of(t->results, t->covered[unseen], t->quantity, is_any, NULL).count > 0;
}

static void write_quantity(table *t, const char *title)
{
    static const char *const heads[CALC_UNSEEN_COUNT] = {
        "fitted without its width", "without its publisher", "before its release",
        "as software that no fit has seen"};
    bool steps = t->quantity == CALC_QUANTITY_STEP_TIME;
    int shown = !steps                             ? CALC_UNSEEN_CROSSED
                : has_any(t, CALC_UNSEEN_SOFTWARE) ? CALC_UNSEEN_COUNT
                                                   : CALC_UNSEEN_SOFTWARE;
    calc_output_printf(t->out, "\n%-42s", title);
    for (int u = 0; u < shown; u++) {
        int width = u + 1 == shown ? 0 : u == 0 ? 33 : u < CALC_UNSEEN_CROSSED ? 32 : 38;
        calc_output_printf(t->out, " | %-*s", width, heads[u]);
    }
    calc_output_printf(t->out, "\n%-36s%6s", "", "n");
    for (int u = 0; u < shown; u++) {
        calc_output_printf(t->out, " |%s inside by table below above   +-",
                           u >= CALC_UNSEEN_CROSSED ? "    n" : "");
    }
    calc_output_text(t->out, "\n");
    write_rows(t);
}

/* How sure it was that layouts fit, beside how many ran, where some ran out of memory. */
static void write_fits(calc_output *out, const calc_results *results, calc_systems *systems,
                       const calc_residuals *residuals)
{
    static const double least[] = {0.95, 0.9, 0.5, 0.1, 0};
    enum { BINS = sizeof least / sizeof *least };
    size_t n[BINS] = {0}, ran[BINS] = {0}, failed = 0;
    double said[BINS] = {0};
    for (size_t i = 0; i < results->predictions; i++) {
        const calc_prediction *p = &results->prediction[i];
        const calc_runs_row *row = p->map.row;
        const calc_fits_query query = {&p->map.app, &calc_systems_get(systems, row->sys)->system,
                                       &p->map.exec, calc_residuals_family_of(residuals, row),
                                       p->need_bytes};
        double share = *p->reason ? (double)NAN : calc_fits_share(residuals, &query);
        int bin = 0;
        while (bin + 1 < BINS && share < least[bin]) {
            bin++;
        }
        if (!isnan(share)) {
            n[bin]++;
            said[bin] += share;
            ran[bin] += !calc_runs_is_oom(row);
            failed += calc_runs_is_oom(row);
        }
    }
    for (int b = 0; failed > 0 && b < BINS; b++) {
        if (b == 0) {
            calc_output_text(out, "\nhow sure it was to fit     n  said, %   ran, %\n");
        }
        double count = n[b] > 0 ? (double)n[b] : (double)NAN;
        calc_output_printf(out, "%3.0f %% and more       %9zu%9.1f%9.1f\n", 100 * least[b], n[b],
                           100 * said[b] / count, 100 * (double)ran[b] / count);
    }
}

void calc_validate_bands_write(calc_output *out, const calc_results *results,
                               const calc_validate_bands *bands, calc_systems *systems)
{
    table t = {.out = out,
               .results = results,
               .covered = bands->covered,
               .quantity = CALC_QUANTITY_STEP_TIME,
               .write = write_text_row};
    write_quantity(&t, "time of a step, runs in their bands in %");
    t.quantity = CALC_QUANTITY_MEMORY;
    write_quantity(&t, "memory, runs in their bands in %");
    write_fits(out, results, systems, &bands->residuals);
}

void calc_validate_bands_put(calc_put *put, const calc_results *results,
                             const calc_validate_bands *bands)
{
    table t = {.put = put, .results = results, .covered = bands->covered, .write = put_row};
    calc_put_array(put, "bands", CALC_PUT_LINES);
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        t.quantity = (calc_quantity)q;
        write_rows(&t);
    }
    calc_put_close(put);
}

/* ---- Making them ----------------------------------------------------------------------------- */

calc_status calc_validate_bands_make(calc_validate_bands *out, const calc_results *results,
                                     calc_errors *errors)
{
    calc_status status = calc_known_runs_read(&out->residuals, errors);
    for (int u = 0; u < CALC_UNSEEN_COUNT && status == CALC_OK; u++) {
        out->covered[u] = calloc(results->count + 1, sizeof *out->covered[u]);
        if (!out->covered[u]) {
            return calc_errors_no_memory(errors);
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
