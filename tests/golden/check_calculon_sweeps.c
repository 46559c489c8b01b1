/* Whole searches of Calculon: every count, the sums over all layouts that fit, the 100 best and the
 * Pareto front. See sweeps/README.md for the data.
 *
 * Calculon and calc differ in the last bits and in which of several equal layouts they name. What
 * must hold: the k-th best value is the same for every k; the values of the front are the same set;
 * and every layout that Calculon names has, by calc_run(), the values that it says. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "calc.h"
#include "frame.h"
#include "sampled.h"
#include "sweep.h"

static const double tolerance = 1e-11;

static const char *const names[] = {
    "sc23_turing-530B_off_1168", "turing-530B_h100_80g_nvl8_5128", "sc23_turing-530B_on_3736",
    "sc23_gpt3-175B_off_4696",   "megatron-126M_a100_80g_8",       "gpt3-13B_a100_80g_64",
};

enum { BEST = 100, MOST_BYTES = 1 << 20 };

/* One search. */
static json_t *golden;
static calc_app app;
static calc_system sys;
static calc_space space;
static calc_designs designs;
static calc_sweep_options options;

static json_t *read_gzip(const char *name)
{
    static char text[MOST_BYTES];
    char path[512];
    snprintf(path, sizeof path, "%s/golden/sweeps/%s.json.gz", CALC_TEST_DATA, name);
    gzFile file = gzopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    int length = gzread(file, text, sizeof text);
    gzclose(file);
    ck_assert_int_gt(length, 0);
    json_error_t error;
    json_t *document = json_loadb(text, (size_t)length, 0, &error);
    ck_assert_msg(document != NULL, "%s: %s", path, error.text);
    return document;
}

static void parse(calc_kind kind, void *object, const json_t *json)
{
    calc_errors errors = {0};
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    ck_assert_ptr_nonnull(text);
    calc_status status = calc_parse(kind, object, text, strlen(text), "golden", &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", errors.item[0].pointer, errors.item[0].text);
    free(text);
}

/* Read the document that `key` names, changed by `mem2` if that is there. */
static void read_named(calc_kind kind, void *object, const char *file, const char *key)
{
    char path[512];
    snprintf(path, sizeof path, "%s/golden/calculon/%s", CALC_TEST_DATA, file);
    json_t *all = json_load_file(path, 0, NULL);
    json_t *one = json_object_get(all, json_string_value(json_object_get(golden, key)));
    ck_assert_ptr_nonnull(one);
    json_t *mem2 = json_object_get(golden, "mem2");
    if (mem2 && kind == CALC_KIND_SYSTEM) {
        json_object_set(one, "mem2", mem2);
    }
    parse(kind, object, one);
    json_decref(all);
}

static uint64_t integer(const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(golden, key));
}

static void set_axis(calc_axis axis, const int64_t *values, size_t count)
{
    ck_assert_int_eq(calc_space_set(&space, axis, values, count), CALC_OK);
}

static void get_design(const void *context, uint64_t index, calc_app *a, calc_system *s)
{
    (void)context;
    (void)index;
    *a = app;
    *s = sys;
}

static void begin(int which)
{
    golden = read_gzip(names[which]);
    read_named(CALC_KIND_APP, &app, "applications.json", "app");
    read_named(CALC_KIND_SYSTEM, &sys, "systems.json", "sys");
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    int64_t procs = (int64_t)integer("num_procs");
    int64_t batch = (int64_t)integer("max_batch_size");
    set_axis(CALC_AXIS_num_procs, &procs, 1);
    set_axis(CALC_AXIS_batch_size, &batch, 1);
    ck_assert_str_eq(json_string_value(json_object_get(golden, "datatype")), "float16");
    const json_t *fused = json_object_get(golden, "fused_activation");
    int64_t values[2];
    size_t count = json_array_size(fused);
    ck_assert_uint_le(count, 2);
    for (size_t i = 0; i < count; i++) {
        values[i] = json_is_true(json_array_get(fused, i));
    }
    set_axis(CALC_AXIS_fused_activation, values, count);
    designs = (calc_designs){.count = 1, .get = get_design};
    options = (calc_sweep_options){
        .compat = CALC_COMPAT_CALCULON, .objectives = 3, .top = BEST, .threads = 1};
    static const char *const objectives[] = {"sample_rate", "mem1", "mem2"};
    for (size_t i = 0; i < options.objectives; i++) {
        ck_assert_int_eq(calc_objective_parse(&options.objective[i], objectives[i], NULL), CALC_OK);
    }
    options.top_by = options.objective[0];
}

static void end(void)
{
    calc_space_free(&space);
    json_decref(golden);
}

static void sweep(calc_sweep_result *result)
{
    calc_errors errors = {0};
    calc_status status = calc_sweep(&space, &designs, &options, result, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
}

static bool close_to(double got, double want)
{
    return fabs(got - want) <= tolerance * fabs(want);
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

CALC_TEST_LOOP(counts_are_calculons, 0, sample_of((int)(sizeof names / sizeof *names)))
{
    begin(_i);
    calc_sweep_result result;
    options.no_prune = true;
    sweep(&result);
    const calc_sweep_counts *c = &result.counts;
    ck_assert_uint_eq(c->total, integer("total"));
    ck_assert_uint_eq(c->feasible, integer("good"));
    ck_assert_uint_eq(c->skipped, 0);
    uint64_t rejected = 0;
    const json_t *statuses = json_object_get(golden, "statuses");
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        char key[64];
        snprintf(key, sizeof key, "infeasible:%s", calc_verdict_text((calc_verdict)v));
        ck_assert_msg(c->rejected[v] ==
                          (uint64_t)json_integer_value(json_object_get(statuses, key)),
                      "%s: %llu", key, (unsigned long long)c->rejected[v]);
        rejected += c->rejected[v];
    }
    ck_assert_uint_eq(c->total, c->feasible + rejected);
    calc_sweep_result_free(&result);
    end();
}

/* Sums with the error of each addition carried along: half a million terms must keep 11 digits. */
typedef struct sums {
    double rate, rate_lost, time_s, time_lost;
} sums;

static void add(double *sum, double *lost, double value)
{
    double corrected = value - *lost;
    double next = *sum + corrected;
    *lost = (next - *sum) - corrected;
    *sum = next;
}

static bool add_point(void *context, const calc_sweep_point *point)
{
    sums *s = context;
    add(&s->rate, &s->rate_lost, point->stats->sample_rate);
    add(&s->time_s, &s->time_lost, point->stats->total_time);
    return true;
}

CALC_TEST_LOOP(sums_over_all_that_fit_are_calculons, 0,
               sample_of((int)(sizeof names / sizeof *names)))
{
    begin(_i);
    sums s = {0};
    calc_sweep_result result;
    options.point = add_point;
    options.point_context = &s;
    sweep(&result);
    ck_assert_uint_eq(result.counts.feasible, integer("good"));
    double rate = json_number_value(json_object_get(golden, "sum_sample_rate"));
    double time_s = json_number_value(json_object_get(golden, "sum_total_time"));
    ck_assert_msg(close_to(s.rate, rate), "sample_rate %.17g, not %.17g", s.rate, rate);
    ck_assert_msg(close_to(s.time_s, time_s), "total_time %.17g, not %.17g", s.time_s, time_s);
    calc_sweep_result_free(&result);
    end();
}

/* An entry of Calculon's lists is a layout of ours with the values that it says. */
static void assert_evaluates(const json_t *entry)
{
    calc_exec exec;
    calc_stats stats;
    calc_errors errors = {0};
    parse(CALC_KIND_EXEC, &exec, json_object_get(entry, "exe"));
    ck_assert_int_eq(calc_check(&app, &sys, &exec, &errors), CALC_OK);
    ck_assert_int_eq(calc_run(&app, &sys, &exec, CALC_COMPAT_CALCULON, &stats), CALC_VERDICT_OK);
    ck_assert(close_to(stats.sample_rate, number(entry, "sample_rate")));
    ck_assert(close_to(stats.proc_mem_tier1_cap_req, number(entry, "mem1")));
    ck_assert(close_to(stats.proc_mem_tier2_cap_req, number(entry, "mem2")));
}

CALC_TEST_LOOP(best_hundred_are_calculons, 0, sample_of((int)(sizeof names / sizeof *names)))
{
    begin(_i);
    calc_sweep_result result;
    sweep(&result);
    const json_t *best = json_object_get(golden, "top100");
    const calc_front *top = &result.group[0].top;
    ck_assert_uint_eq(top->count, json_array_size(best));
    for (size_t i = 0; i < top->count; i++) {
        const json_t *entry = json_array_get(best, i);
        assert_evaluates(entry);
        double got = calc_objective_value(&options.top_by, top->item[i].objective[0]);
        ck_assert_msg(close_to(got, number(entry, "sample_rate")), "entry %zu: %.17g, not %.17g", i,
                      got, number(entry, "sample_rate"));
    }
    /* A layout that we have and Calculon has not, or the reverse, ties with its last. */
    double last = number(json_array_get(best, top->count - 1), "sample_rate");
    for (size_t i = 0; i < top->count; i++) {
        const json_t *entry = json_array_get(best, i);
        calc_exec exec;
        parse(CALC_KIND_EXEC, &exec, json_object_get(entry, "exe"));
        const calc_found want = calc_found_of(0, &exec);
        bool there = false;
        for (size_t j = 0; j < top->count && !there; j++) {
            there = calc_found_compare(&want, &top->item[j]) == 0;
        }
        ck_assert_msg(there || close_to(number(entry, "sample_rate"), last),
                      "entry %zu is missing and better than the last", i);
    }
    calc_sweep_result_free(&result);
    end();
}

static bool same_values(const calc_found *ours, const json_t *entry)
{
    static const char *const keys[] = {"sample_rate", "mem1", "mem2"};
    bool same = true;
    for (size_t k = 0; k < 3; k++) {
        double got = calc_objective_value(&options.objective[k], ours->objective[k]);
        same = same && close_to(got, number(entry, keys[k]));
    }
    return same;
}

CALC_TEST_LOOP(pareto_front_is_calculons, 0, sample_of((int)(sizeof names / sizeof *names)))
{
    begin(_i);
    calc_sweep_result result;
    sweep(&result);
    const json_t *want = json_object_get(golden, "pareto");
    const calc_front *front = &result.group[0].front;
    size_t listed = json_array_size(want);
    ck_assert_uint_ge(front->count, listed);
    ck_assert(front->count == listed || listed == BEST);
    for (size_t i = 0; i < listed; i++) {
        const json_t *entry = json_array_get(want, i);
        assert_evaluates(entry);
        bool there = false;
        for (size_t j = 0; j < front->count && !there; j++) {
            there = same_values(&front->item[j], entry);
        }
        ck_assert_msg(there, "entry %zu is not on the front", i);
    }
    /* And the reverse: ours are listed, down to the sample rate where the list ends. */
    double least = number(json_array_get(want, listed - 1), "sample_rate");
    for (size_t j = 0; j < front->count; j++) {
        double rate = calc_objective_value(&options.objective[0], front->item[j].objective[0]);
        bool there = listed == BEST && rate <= least * (1 + tolerance);
        for (size_t i = 0; i < listed && !there; i++) {
            there = same_values(&front->item[j], json_array_get(want, i));
        }
        ck_assert_msg(there, "our entry %zu is not on Calculon's front", j);
    }
    calc_sweep_result_free(&result);
    end();
}
