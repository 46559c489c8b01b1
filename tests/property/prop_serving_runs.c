/* What a run of serving is called, who published it and where, and what its model and machine are
 * called, changes no bit of its prediction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/results.h"

#include "engines.h"
#include "frame.h"

/* A name that says nothing leads to the document by what follows this. */
static const char mark[] = "mi_b_InferenceX (";

static calc_status load(calc_kind kind, const char *name, void *out, calc_errors *errors)
{
    char path[512];
    size_t skip = strncmp(name, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%.200s.json",
             kind == CALC_KIND_APP ? "models" : "systems", name + skip);
    return calc_load(kind, out, path, errors);
}

/* The shipped runs and their results. */
typedef struct found {
    calc_serving_rows rows;
    calc_documents apps;
    calc_documents systems;
    calc_results results;
} found;

static void read_runs(found *f)
{
    calc_errors errors = {0};
    calc_text text = {0};
    f->apps.kind = CALC_KIND_APP;
    f->systems.kind = CALC_KIND_SYSTEM;
    f->apps.load = f->systems.load = load;
    ck_assert_int_eq(calc_text_read(&text, CALC_TEST_DATA "/measured/serving_runs.csv.gz", &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_serving_rows_parse(&f->rows, text, "runs", &errors), CALC_OK);
}

static void predict(found *f)
{
    static const calc_remarks none;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_results_make(&f->results,
                                       &(const calc_measured_runs){.files = 1,
                                                                   .remarks = &none,
                                                                   .systems = &f->systems,
                                                                   .serving = &f->rows,
                                                                   .apps = &f->apps,
                                                                   .engines = shipped_engines()},
                                       &errors),
                     CALC_OK);
}

static void leave(found *f)
{
    calc_results_free(&f->results);
    calc_serving_rows_free(&f->rows);
}

/* Another name for each; the same for the same. */
static const char *renamed(const char *name, char *room)
{
    snprintf(room, 200, "%s%.150s", mark, name);
    return room;
}

CALC_TEST(names_change_no_prediction)
{
    static found plain, other;
    enum { NAMES = 6, SIZE = 200 };
    read_runs(&plain);
    read_runs(&other);
    char *names = malloc(other.rows.count * NAMES * SIZE);
    ck_assert_ptr_nonnull(names);
    for (size_t i = 0; i < other.rows.count; i++) {
        calc_serving_row *row = &other.rows.row[i];
        const char **const name[NAMES] = {&row->id,  &row->source, &row->publisher,
                                          &row->app, &row->sys,    &row->software};
        bool named = *row->engine != '\0'; /* by a document */
        for (size_t k = 0; k < (named ? NAMES : NAMES - 1); k++) {
            *name[k] = renamed(*name[k], names + (i * NAMES + k) * SIZE);
        }
    }
    predict(&plain);
    predict(&other);
    ck_assert_uint_gt(plain.results.count, 14000);
    ck_assert_uint_eq(plain.results.count, other.results.count);
    size_t predicted = 0;
    for (size_t i = 0; i < plain.results.count; i++) {
        const calc_result *a = &plain.results.item[i], *b = &other.results.item[i];
        ck_assert_msg(a->quantity == b->quantity && a->use == b->use &&
                          memcmp(&a->predicted, &b->predicted, sizeof a->predicted) == 0 &&
                          memcmp(&a->measured, &b->measured, sizeof a->measured) == 0,
                      "%s: %s %.17g, renamed %s %.17g", a->serving->map.row->id, a->remark,
                      a->predicted, b->remark, b->predicted);
        predicted += a->predicted > 0;
    }
    ck_assert_uint_gt(predicted, 9000);
    leave(&plain);
    leave(&other);
    free(names);
}
