/* Every number of every golden run, by all rules of Calculon's and by all but its defects. See
   calculon/README.md for the data and docs/calculon.md for what parity means. CALC_VERBOSE=1 prints
   how close each statistic is. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "calc.h"
#include "frame.h"

#define GOLDEN CALC_TEST_DATA "/golden/calculon/"

/* Different order of the same additions costs a few last bits, never this much. */
static const double tolerance = 1e-11;

enum { CALCULON_STATS = 96, MAX_FIELDS = 160, LINE_MAX_BYTES = 1 << 20 };

/* One run as structs, and whether it was accepted as input. */
typedef struct layout {
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_errors errors;
    bool accepted;
} layout;

/* How close each field came over all objects compared. */
typedef struct closeness {
    double worst[MAX_FIELDS];
    int equal[MAX_FIELDS];
    int objects;
} closeness;

static json_t *applications, *systems, *runs, *corrected, *layers;

/* ---- Reading --------------------------------------------------------------------------------- */

static json_t *read_json(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    ck_assert_msg(document != NULL, "%s:%d: %s", path, error.line, error.text);
    return document;
}

/* Lines of a compressed file, as an object from id to line. */
static json_t *read_lines(const char *path)
{
    gzFile file = gzopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    char *line = malloc(LINE_MAX_BYTES);
    ck_assert_ptr_nonnull(line);
    json_t *by_id = json_object();
    while (gzgets(file, line, LINE_MAX_BYTES) != NULL) {
        json_error_t error;
        json_t *object = json_loads(line, 0, &error);
        ck_assert_msg(object != NULL, "%s: %s", path, error.text);
        char id[32];
        snprintf(id, sizeof id, "%lld",
                 (long long)json_integer_value(json_object_get(object, "id")));
        ck_assert_msg(json_object_get(by_id, id) == NULL, "%s: id %s twice", path, id);
        json_object_set_new(by_id, id, object);
    }
    ck_assert_msg(gzeof(file), "%s is cut short", path);
    gzclose(file);
    free(line);
    return by_id;
}

static void read_golden(void)
{
    applications = read_json(GOLDEN "applications.json");
    systems = read_json(GOLDEN "systems.json");
    runs = read_lines(GOLDEN "runs.jsonl.gz");
    corrected = read_lines(GOLDEN "corrected.jsonl.gz");
    layers = read_lines(GOLDEN "layers.jsonl.gz");
}

static void free_golden(void)
{
    json_decref(applications);
    json_decref(systems);
    json_decref(runs);
    json_decref(corrected);
    json_decref(layers);
}

const calc_test_frame calc_tests = {.setup_once = read_golden, .teardown_once = free_golden};

static bool parse(layout *l, calc_kind kind, void *object, const json_t *json)
{
    ck_assert_ptr_nonnull(json);
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    ck_assert_ptr_nonnull(text);
    calc_status status = calc_parse(kind, object, text, strlen(text), "golden", &l->errors);
    free(text);
    return status == CALC_OK;
}

/* Only the execution of a golden run may be refused. */
static void read_layout(layout *l, const json_t *run)
{
    memset(l, 0, sizeof *l);
    const char *app = json_string_value(json_object_get(run, "application"));
    const char *system = json_string_value(json_object_get(run, "system"));
    bool known = parse(l, CALC_KIND_APP, &l->app, json_object_get(applications, app)) &&
                 parse(l, CALC_KIND_SYSTEM, &l->system, json_object_get(systems, system));
    ck_assert_msg(known, "%s, %s: %s", app, system, l->errors.item[0].text);
    l->accepted = parse(l, CALC_KIND_EXEC, &l->exec, json_object_get(run, "execution")) &&
                  calc_check(&l->app, &l->system, &l->exec, &l->errors) == CALC_OK;
}

static void read_accepted_layout(layout *l, const char *id, const json_t *run)
{
    read_layout(l, run);
    const calc_error *first = &l->errors.item[0];
    ck_assert_msg(l->accepted, "run %s: %s: %s", id, first->pointer, first->text);
}

static const char *status_of(const json_t *run)
{
    return json_string_value(json_object_get(run, "status"));
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* Relative difference; infinite where there is no relation: null is NaN, and 0 is exactly 0. */
static double difference(double got, const json_t *want)
{
    if (!json_is_number(want)) {
        return json_is_null(want) && isnan(got) ? 0 : HUGE_VAL;
    }
    double number = json_number_value(want);
    if (got == number) {
        return 0;
    }
    return number == 0 || isnan(got) ? HUGE_VAL : fabs(got - number) / fabs(number);
}

/* Compare the fields that Calculon has; `changed` (or NULL) goes before `want`. */
static void compare(closeness *close, const char *id, calc_kind kind, const void *object,
                    const json_t *want, const json_t *changed)
{
    const calc_table *table = calc_table_of(kind);
    ck_assert_uint_le(table->count, MAX_FIELDS);
    close->objects++;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (field->flags & CALC_EXTRA) {
            continue;
        }
        const json_t *value = json_object_get(changed, field->key);
        value = value ? value : json_object_get(want, field->key);
        calc_field_ref ref = {kind, field, field->offset};
        double got = calc_field_number(&ref, object);
        double d = difference(got, value);
        if (!(d <= tolerance)) {
            ck_abort_msg("run %s: %s is %.17g, Calculon has %.17g (relative %.2g)", id, field->key,
                         got, json_number_value(value), d);
        }
        close->worst[i] = fmax(close->worst[i], d);
        close->equal[i] += d == 0;
    }
}

static void print_closeness(const closeness *close, calc_kind kind, const char *title)
{
    if (getenv("CALC_VERBOSE") == NULL) {
        return;
    }
    const calc_table *table = calc_table_of(kind);
    printf("%s, %d compared\n%-36s %10s %8s\n", title, close->objects, "field", "worst", "equal");
    for (size_t i = 0; i < table->count; i++) {
        if (!(table->rows[i].flags & CALC_EXTRA)) {
            printf("%-36s %10.2g %8d\n", table->rows[i].key, close->worst[i], close->equal[i]);
        }
    }
    fflush(stdout);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

CALC_TEST(golden_data_is_complete)
{
    int feasible = 0;
    const char *id;
    json_t *run;
    json_object_foreach (runs, id, run) {
        feasible += strcmp(status_of(run), "ok") == 0;
    }
    ck_assert_uint_eq(json_object_size(runs), 3823);
    ck_assert_int_eq(feasible, 3000);
    ck_assert_uint_eq(json_object_size(corrected), 2281);
    ck_assert_uint_eq(json_object_size(layers), 40);
}

CALC_TEST(first_96_statistics_are_calculons)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    const json_t *stats = json_object_get(json_object_get(runs, "2"), "stats");
    ck_assert_uint_eq(json_object_size(stats), CALCULON_STATS);
    for (size_t i = 0; i < table->count; i++) {
        bool extra = (table->rows[i].flags & CALC_EXTRA) != 0;
        ck_assert_msg(extra == (i >= CALCULON_STATS), "row %zu: %s", i, table->rows[i].key);
        ck_assert_msg(extra == (json_object_get(stats, table->rows[i].key) == NULL), "row %zu: %s",
                      i, table->rows[i].key);
    }
}

CALC_TEST(comparison_notices_every_kind_of_difference)
{
    json_t *two = json_real(2), *zero = json_integer(0), *null = json_null();
    ck_assert_double_eq(difference(2, two), 0);
    ck_assert_double_eq(difference(0, zero), 0);
    ck_assert_double_eq(difference(nan(""), null), 0);
    ck_assert_double_gt(difference(2 * (1 + 1.1e-11), two), tolerance);
    ck_assert_double_le(difference(2 * (1 + 0.9e-11), two), tolerance);
    ck_assert_double_infinite(difference(nan(""), two));
    ck_assert_double_infinite(difference(HUGE_VAL, two));
    ck_assert_double_infinite(difference(1e-300, zero));
    ck_assert_double_infinite(difference(0, null));
    ck_assert_double_infinite(difference(nan(""), NULL));
    json_decref(two);
    json_decref(zero);
}

static void compare_feasible_runs(calc_compat compat, const char *title)
{
    closeness close = {0};
    const char *id;
    json_t *run;
    json_object_foreach (runs, id, run) {
        if (strcmp(status_of(run), "ok") != 0) {
            continue;
        }
        layout l;
        read_accepted_layout(&l, id, run);
        calc_stats stats;
        calc_verdict verdict = calc_run(&l.app, &l.system, &l.exec, compat, &stats);
        ck_assert_msg(verdict == CALC_VERDICT_OK, "run %s: %s", id, calc_verdict_text(verdict));
        const json_t *changed = json_object_get(json_object_get(corrected, id), "changed");
        compare(&close, id, CALC_KIND_STATS, &stats, json_object_get(run, "stats"),
                compat == CALC_COMPAT_REPAIRED ? changed : NULL);
    }
    ck_assert_int_eq(close.objects, 3000);
    print_closeness(&close, CALC_KIND_STATS, title);
}

CALC_TEST(every_feasible_run_agrees_with_calculon)
{
    compare_feasible_runs(CALC_COMPAT_CALCULON, "Calculon as it is");
}

CALC_TEST(every_feasible_run_agrees_with_repaired_calculon)
{
    compare_feasible_runs(CALC_COMPAT_REPAIRED, "Calculon with the three repairs");
}

CALC_TEST(every_infeasible_run_has_calculons_reason)
{
    static const char prefix[] = "infeasible:";
    int compared = 0;
    const char *id;
    json_t *run;
    json_object_foreach (runs, id, run) {
        const char *status = status_of(run);
        if (strncmp(status, prefix, strlen(prefix)) != 0) {
            continue;
        }
        layout l;
        read_accepted_layout(&l, id, run);
        const calc_compat compat[] = {CALC_COMPAT_REPAIRED, CALC_COMPAT_CALCULON};
        for (size_t i = 0; i < sizeof compat / sizeof *compat; i++) {
            calc_stats stats;
            calc_verdict verdict = calc_run(&l.app, &l.system, &l.exec, compat[i], &stats);
            ck_assert_msg(strcmp(calc_verdict_text(verdict), status + strlen(prefix)) == 0,
                          "run %s: %s, Calculon says %s", id, calc_verdict_text(verdict), status);
            ck_assert_int_eq(stats.verdict, verdict);
        }
        compared++;
    }
    ck_assert_int_eq(compared, 618);
}

CALC_TEST(every_invalid_run_is_an_error)
{
    int compared = 0;
    const char *id;
    json_t *run;
    json_object_foreach (runs, id, run) {
        if (strcmp(status_of(run), "invalid") != 0) {
            continue;
        }
        layout l;
        read_layout(&l, run);
        ck_assert_msg(!l.accepted, "run %s should be refused", id);
        ck_assert_msg(l.errors.count > 0 && l.errors.item[0].text[0] != '\0', "run %s: no reason",
                      id);
        compared++;
    }
    ck_assert_int_eq(compared, 205);
}

/* Fields of a kind that Calculon has, too. */
static size_t calculons(calc_kind kind)
{
    const calc_table *table = calc_table_of(kind);
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        count += table->rows[i].flags & CALC_EXTRA ? 0 : 1;
    }
    return count;
}

CALC_TEST(every_layer_agrees_with_calculon)
{
    closeness close = {0};
    const char *id;
    json_t *line;
    json_object_foreach (layers, id, line) {
        layout l;
        read_accepted_layout(&l, id, json_object_get(runs, id));
        calc_layer_stats got[CALC_MAX_LAYERS];
        size_t count =
            calc_layers(&l.app, &l.system, &l.exec, CALC_COMPAT_CALCULON, got, CALC_MAX_LAYERS);
        const json_t *want = json_object_get(line, "layers");
        ck_assert_msg(count == json_array_size(want), "run %s: %zu layers, Calculon has %zu", id,
                      count, json_array_size(want));
        for (size_t i = 0; i < count; i++) {
            const json_t *layer = json_array_get(want, i);
            ck_assert_str_eq(got[i].name, json_string_value(json_object_get(layer, "name")));
            ck_assert_uint_eq(json_object_size(layer), calculons(CALC_KIND_LAYER) + 1);
            compare(&close, id, CALC_KIND_LAYER, &got[i], layer, NULL);
        }
    }
    ck_assert_int_gt(close.objects, 40);
    print_closeness(&close, CALC_KIND_LAYER, "Layers");
}
