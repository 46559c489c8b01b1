#include "calibrate/unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* By index of result. */
typedef struct unseen {
    double *predicted[CALC_UNSEEN_CROSSED]; /* NaN: none */
    int *fold[CALC_UNSEEN_CROSSED];
} unseen;

static const calc_cross crosses[] = {
    [CALC_UNSEEN_WIDTH] = CALC_CROSS_WIDTH, [CALC_UNSEEN_SOURCE] = CALC_CROSS_SOURCE};

static calc_status allocate(unseen *u, size_t count)
{
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        u->predicted[k] = calloc(count + 1, sizeof *u->predicted[k]);
        u->fold[k] = calloc(count + 1, sizeof *u->fold[k]);
        if (!u->predicted[k] || !u->fold[k]) {
            return CALC_ERR_NOMEM;
        }
        for (size_t i = 0; i < count; i++) {
            u->predicted[k][i] = (double)NAN;
        }
    }
    return CALC_OK;
}

static bool has(const calc_calibration *family, const calc_result *result)
{
    bool found = false;
    for (size_t m = 0; m < family->family.machines; m++) {
        found = found ||
                strcmp(family->family.machine[m], result->prediction->map.machine->system) == 0;
    }
    return found;
}

static bool is_calibrated(const calc_calibration *family, size_t families,
                          const calc_result *result)
{
    bool found = false;
    for (size_t f = 0; f < families; f++) {
        found = found || has(&family[f], result);
    }
    return found;
}

/* Runs of one publisher have the number of its first run. */
static int fold_of_publisher(const calc_results *results, size_t index)
{
    size_t length, other;
    const char *name =
        calc_run_source_publisher(results->item[index].prediction->map.source, &length);
    size_t first = 0;
    while (strncmp(calc_run_source_publisher(results->item[first].prediction->map.source, &other),
                   name, length) != 0 ||
           other != length) {
        first++;
    }
    return (int)first;
}

/* A publisher is one fold on machines of all families; the parts of a single table stay apart. */
static void number_sources(unseen *u, const calc_calibration *family, const calc_results *results)
{
    int *fold = u->fold[CALC_UNSEEN_SOURCE];
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->use == CALC_USE_SCORED && has(family, r)) {
            fold[i] =
                family->sources > 1 ? fold_of_publisher(results, i) : (int)results->count + fold[i];
        }
    }
}

static void add_memory(unseen *u, const calc_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->quantity == CALC_QUANTITY_MEMORY && r->use == CALC_USE_SCORED) {
            u->predicted[CALC_UNSEEN_WIDTH][i] = u->predicted[CALC_UNSEEN_SOURCE][i] = r->predicted;
            u->fold[CALC_UNSEEN_WIDTH][i] =
                calc_evidence_width_fold(r->prediction->map.app.hidden, 0);
            u->fold[CALC_UNSEEN_SOURCE][i] = fold_of_publisher(results, i);
        }
    }
}

static void write(calc_output *out, const unseen *u, const calc_results *results, size_t index)
{
    const calc_result *r = &results->item[index];
    const calc_run_map *map = &r->prediction->map;
    calc_residual residual = {.id = map->row->id,
                              .source = map->source->name,
                              .machine = map->machine->system,
                              .quantity = r->quantity,
                              .traits =
                                  calc_traits_of(&map->app, &map->exec, map->machine->family)};
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        residual.value[k] = log(r->measured / u->predicted[k][index]);
        residual.fold[k] = u->fold[k][index];
    }
    /* A run that every fit has seen has none. */
    if (isfinite(residual.value[CALC_UNSEEN_WIDTH]) &&
        isfinite(residual.value[CALC_UNSEEN_SOURCE])) {
        calc_residuals_write(out, &residual);
    }
}

calc_status calc_unseen_write(calc_output *out, calc_calibration *family, size_t families,
                              const calc_calibration_runs *runs, const calc_results *results,
                              calc_errors *errors)
{
    unseen u = {{NULL}, {NULL}};
    calc_status status = allocate(&u, results->count);
    if (status != CALC_OK) {
        calc_errors_no_memory(errors);
    }
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        for (size_t f = 0; f < families && status == CALC_OK; f++) {
            status = calc_calibration_cross(&family[f], crosses[k], runs, u.predicted[k], u.fold[k],
                                            errors);
        }
    }
    for (size_t f = 0; f < families && status == CALC_OK; f++) {
        number_sources(&u, &family[f], results);
    }
    if (status == CALC_OK) {
        add_memory(&u, results);
        calc_residuals_write_head(out);
    }
    for (size_t i = 0; i < results->count && status == CALC_OK; i++) {
        const calc_result *r = &results->item[i];
        if (r->use == CALC_USE_SCORED && is_calibrated(family, families, r)) {
            write(out, &u, results, i);
        }
    }
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        free(u.predicted[k]);
        free(u.fold[k]);
    }
    return status;
}
