/* Galvatron's search beside what upstream answered, and beside itself with more memory. */
#include "base/rng.h"
#include "galvatron/posed.h"
#include "galvatron_search_case.h"

#include <math.h>

#include "frame.h"

static galvatron_case c;
static calc_galvatron_found found;
static calc_galvatron_found other;

static void search(calc_galvatron_found *out)
{
    ck_assert_int_eq(calc_galvatron_search(&c.request, &c.profiles, out), CALC_OK);
}

static double judge(const calc_galvatron_answer *answer)
{
    return calc_galvatron_judge_s(&c.request, &c.profiles, answer, NULL);
}

static const char *const modes[] = {"tp_only", "sp_only", "tp_with_sp"};

static void check_answer(const json_t *result)
{
    const calc_galvatron_answer *a = &found.best;
    char runs[2048];
    char expected[2048];
    ck_assert_int_eq(found.tasks, json_integer_value(json_object_get(result, "n_tasks")));
    ck_assert(found.proven);
    galvatron_expected_runs(result, expected, sizeof expected);
    ck_assert_int_eq(a->feasible, expected[0] != 0);
    if (!a->feasible) {
        ck_assert_double_gt(found.least_mb, found.limit_mb);
        return;
    }
    double step_s = json_number_value(json_object_get(result, "time_cost_s"));
    ck_assert_double_eq_tol(a->step_s, step_s, 1e-14 * step_s);
    double throughput = json_number_value(json_object_get(result, "throughput_samples_per_s"));
    ck_assert_double_eq_tol(a->throughput, throughput, 1e-14 * throughput);
    ck_assert_int_eq(a->task.gbsz, json_integer_value(json_object_get(result, "gbsz")));
    ck_assert_int_eq(a->task.chunks, json_integer_value(json_object_get(result, "chunks")));
    ck_assert_int_eq(a->task.pp, json_integer_value(json_object_get(result, "pp_size")));
    ck_assert_str_eq(modes[a->task.mode], json_string_value(json_object_get(result, "tp_sp_mode")));
    ck_assert_int_eq(a->task.buffer_tp,
                     json_integer_value(json_object_get(result, "global_buffer_tp_size")));
    ck_assert_int_eq(a->ends.tp * a->ends.sp,
                     json_integer_value(json_object_get(result, "embed_tp_sp")));
    ck_assert_int_eq(a->ends.sp > 1, json_integer_value(json_object_get(result, "embed_sp")));
    ck_assert_int_eq(a->ends.type == CALC_GALVATRON_ZERO3,
                     json_integer_value(json_object_get(result, "embed_sdp")));
    galvatron_runs(a, (int)calc_galvatron_layer_count(&c.request), runs, sizeof runs);
    for (int i = 0; i < a->task.pp; i++) {
        ck_assert_double_eq(a->used_mb[i],
                            json_number_value(json_array_get(
                                json_object_get(result, "memory_cost_MB"), (size_t)i)));
        ck_assert_double_eq(a->remain_mb[i],
                            json_number_value(json_array_get(
                                json_object_get(result, "memory_remain_MB"), (size_t)i)));
    }
    ck_assert_str_eq(runs, expected);
}

static json_t *open_case(int i)
{
    char path[256];
    galvatron_search_open(&c, galvatron_cases[i]);
    snprintf(path, sizeof path, "%s/result.json", galvatron_cases[i]);
    return galvatron_json(path);
}

CALC_TEST_LOOP(upstream_answers_are_reproduced_to_the_last_layer, 0, GALVATRON_CASES)
{
    json_t *result = open_case(_i);
    search(&found);
    check_answer(result);
    json_decref(result);
    galvatron_close(&c);
}

/* Upstream's inexact fits choose between two answers that are equally long by exact ones. */
CALC_TEST(exact_fits_decide_a_tie_otherwise)
{
    galvatron_search_open(&c, "20_llama2-7b_1x8_20G_bsz64_chunk8");
    search(&found);
    galvatron_load(&c);
    search(&other);
    ck_assert_mem_ne(found.best.layer, other.best.layer, sizeof found.best.layer);
    ck_assert_double_eq_tol(judge(&other.best), judge(&found.best), 1e-14);
    galvatron_close(&c);
}

CALC_TEST_LOOP(the_default_is_never_worse_than_upstream, 0, GALVATRON_CASES)
{
    json_t *result = open_case(_i);
    search(&found);
    c.request.compat = false;
    search(&other);
    ck_assert_int_eq(other.best.feasible, found.best.feasible);
    if (other.best.feasible) {
        ck_assert(other.proven);
        ck_assert_double_le(other.best.step_s, judge(&found.best) * (1 + 1e-12));
        ck_assert_double_eq_tol(judge(&other.best), other.best.step_s, 1e-12);
        ck_assert_double_ge(other.best.step_s / (double)other.best.task.gbsz,
                            other.unlimited_s * (1 - 1e-12));
        for (int i = 0; i < other.best.task.pp; i++) {
            ck_assert_double_ge(other.best.remain_mb[i], -1e-6);
        }
        if (other.second.feasible) {
            ck_assert_double_le(other.second.throughput, other.best.throughput);
        }
    }
    json_decref(result);
    galvatron_close(&c);
}

/* Two nodes, which upstream was measured on as well: 2.718392433 s, and 2.535687970 s where its
 * objective is the step. */
CALC_TEST(two_nodes_gain_eight_per_cent)
{
    galvatron_search_open(&c, "04_llama2-7b_1x4_40G_bsz32");
    c.request.num_nodes = 2;
    c.request.num_gpus_per_node = 8;
    c.request.min_bsz = c.request.max_bsz = 64;
    c.request.memory_constraint = 24;
    galvatron_load(&c);
    search(&found);
    ck_assert_double_eq_tol(found.best.step_s, 2.718392433, 1e-8);
    c.request.compat = false;
    search(&other);
    ck_assert(other.proven);
    ck_assert_double_le(other.best.step_s, 2.535687970);
    ck_assert_double_le(other.best.step_s, 0.94 * judge(&found.best));
    galvatron_close(&c);
}

CALC_TEST(more_memory_is_never_worse_but_for_upstream)
{
    galvatron_search_open(&c, "20_llama2-7b_1x8_20G_bsz64_chunk8");
    c.request.memory_constraint = 20;
    search(&found);
    c.request.memory_constraint = 21;
    search(&other);
    ck_assert_double_gt(other.best.step_s, found.best.step_s * 1.09);
    c.request.compat = false;
    double before_s = INFINITY;
    calc_rng rng;
    calc_rng_init(&rng, 14, 0);
    c.request.memory_constraint = 10;
    for (int i = 0; i < 1000; i++) {
        c.request.memory_constraint += 0.09 * calc_rng_real(&rng);
        search(&found);
        if (found.best.feasible) {
            ck_assert_double_le(found.best.step_s, before_s * (1 + 1e-9));
            before_s = found.best.step_s;
        } else {
            ck_assert(before_s == INFINITY);
            ck_assert_double_gt(found.least_mb, found.limit_mb);
        }
    }
    galvatron_close(&c);
}

CALC_TEST(budgets_grow_and_are_never_below_upstream)
{
    calc_galvatron_request r = {.compat = true};
    const double whole[][2] = {{16, 16384}, {20, 20480}, {21, 17204}, {24, 19661},
                               {36, 29492}, {40, 32768}, {80, 65536}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        r.memory_constraint = whole[i][0];
        ck_assert_double_eq(calc_galvatron_limits_of(&r).limit_mb, whole[i][1]);
    }
    double before_mb = 0;
    for (int i = 1; i <= 768; i++) {
        double gb = i % 4 && i / 4 == 20 ? 21 : 0.25 * i; /* upstream takes whole ones */
        r.memory_constraint = gb;
        r.compat = true;
        double upstream_mb = calc_galvatron_limits_of(&r).limit_mb;
        r.compat = false;
        calc_galvatron_limits limits = calc_galvatron_limits_of(&r);
        ck_assert_double_ge(limits.limit_mb, fmax(before_mb, upstream_mb));
        ck_assert_double_eq(limits.limit_mb + limits.reserve_mb, gb * 1024);
        before_mb = limits.limit_mb;
    }
}

CALC_TEST(too_many_layers_are_refused)
{
    calc_galvatron_request r = {.types = 1, .layers = {{4096, CALC_GALVATRON_LAYERS + 1, 2048}}};
    ck_assert_int_eq(calc_galvatron_search(&r, &c.profiles, &found), CALC_ERR_RULE);
}
