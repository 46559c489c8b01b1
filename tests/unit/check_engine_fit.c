/* Traits of engines fitted to runs that an engine with known traits would have. */
#include "calibrate/engine_calibration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "frame.h"
#include "serving_run_case.h"

enum { RUNS = 48, RESULTS = 3 * RUNS };

static calc_documents apps;
static calc_documents systems;
static calc_serving_row row[RUNS];
static calc_serving_prediction prediction[RUNS];
static calc_result item[RESULTS];
static calc_results results;
static char id[RUNS][16];

static const calc_engine_traits true_traits = {.host_s = 3e-3,
                                               .host_sequence_s = 80e-6,
                                               .host_growth = 0.2,
                                               .issue_s = 10e-6,
                                               .request_s = 12e-3,
                                               .request_sequence_s = 0.2e-3,
                                               .gap_s = 1e-4,
                                               .matrix_share = 0.6,
                                               .cache_share = 0.95,
                                               .experts_undivided = 0.1,
                                               .handover_steps = 5};

static void add(const calc_serving_prediction *p, calc_quantity quantity, double measured)
{
    item[results.count++] = (calc_result){.serving = p,
                                          .quantity = quantity,
                                          .use = CALC_USE_SCORED,
                                          .measured = measured,
                                          .predicted = measured};
}

/* Four dense models in loops on 1 to 8 GPUs, prompts and loads of several sizes: what the engine
   says with the traits above is what was measured. */
static void enter(void)
{
    static const char *const model[] = {"llama3-8B", "qwen3-32B", "llama2-70B", "llama3-70B"};
    static const double gpus[] = {1, 2, 4, 8}, prompt[] = {200, 1000, 6000},
                        load[] = {1, 8, 32, 64};
    apps = (calc_documents){CALC_KIND_APP, .load = load_document};
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load_document};
    results = (calc_results){.serving = prediction, .servings = RUNS, .item = item};
    for (size_t i = 0; i < RUNS; i++) {
        row[i] = serving_row();
        snprintf(id[i], sizeof id[i], "%zu", i);
        row[i].id = id[i];
        row[i].source = i % 3 ? "somebody" : "somebody else";
        row[i].published = i % 2 ? "2025-10-29" : "2026-03-01";
        row[i].app = model[i % 4];
        row[i].num_gpus = row[i].tp = gpus[i % 4];
        row[i].isl = prompt[i / 4 % 3];
        row[i].concurrency_or_batch = load[i / 12];
        calc_serving_predict(&prediction[i], &row[i], &apps, &systems, shipped_engines());
        ck_assert_str_eq(prediction[i].reason, "");
        calc_serving_prediction truth = prediction[i];
        calc_serving_predict_with(&truth, &true_traits);
        add(&prediction[i], CALC_QUANTITY_TPOT, truth.predicted[CALC_QUANTITY_TPOT]);
        add(&prediction[i], CALC_QUANTITY_TTFT, truth.predicted[CALC_QUANTITY_TTFT]);
    }
}

const calc_test_frame calc_tests = {.setup = enter, .timeout_s = 120};

static double fitted[RESULTS], unseen[RESULTS];

static const calc_engine_fit *calibrate(const calc_engine_plan *plan)
{
    static calc_engine_calibration c;
    calc_errors errors = {0};
    size_t i = 0;
    free(c.fit);
    ck_assert_int_eq(calc_engine_calibrate(&c, plan, &results, fitted, unseen, &errors), CALC_OK);
    while (strcmp(c.fit[i].engine->name, "vllm-0.11") != 0) {
        i++;
        ck_assert_uint_lt(i, c.count);
    }
    return &c.fit[i];
}

/* The host's time, the share of the kernels and the server's time decide these runs. */
CALC_TEST(traits_are_found_again)
{
    const calc_engine_plan plan = {.engines = shipped_engines(), .documented = true};
    const calc_engine_fit *fit = calibrate(&plan);
    ck_assert_uint_eq(fit->points, results.count);
    ck_assert_double_eq_tol(fit->traits.host_s, true_traits.host_s, 0.1 * true_traits.host_s);
    ck_assert_double_eq_tol(fit->traits.host_sequence_s, true_traits.host_sequence_s, 8e-6);
    ck_assert_double_eq_tol(fit->traits.request_s, true_traits.request_s, 3e-3);
    ck_assert_double_eq_tol(fit->traits.matrix_share, true_traits.matrix_share, 0.03);
    ck_assert(fit->determined[CALC_ENGINE_TRAIT_host_s]);
    ck_assert(fit->determined[CALC_ENGINE_TRAIT_matrix_share]);
    for (size_t i = 0; i < results.count; i++) {
        ck_assert_double_eq_tol(fitted[i] / item[i].measured, 1, 0.05);
        ck_assert(isnan(unseen[i]));
    }
}

/* No model has experts here, nor are there two pools: what they add stays as assumed, and is said
 * to. */
CALC_TEST(what_no_run_shows_stays_as_assumed)
{
    const calc_engine_plan plan = {.engines = shipped_engines(), .documented = true};
    const calc_engine_fit *fit = calibrate(&plan);
    ck_assert_double_eq_tol(fit->traits.experts_undivided, fit->start.experts_undivided, 1e-12);
    ck_assert(!fit->determined[CALC_ENGINE_TRAIT_experts_undivided]);
    ck_assert_double_eq_tol(fit->traits.handover_steps, fit->start.handover_steps, 1e-12);
    ck_assert(!fit->determined[CALC_ENGINE_TRAIT_handover_steps]);
    ck_assert(!fit->traits.overlapped);
}

/* What unpacking costs is not taken for slow reading of the cache. */
CALC_TEST(runs_that_unpack_weights_say_nothing_of_the_cache)
{
    const calc_engine_plan plan = {.engines = shipped_engines(), .documented = true};
    calc_engine_traits slow = true_traits;
    slow.cache_share = 0.7;
    for (size_t i = 0; i < results.count; i++) {
        calc_serving_prediction truth = *item[i].serving;
        calc_serving_predict_with(&truth, &slow);
        item[i].measured = truth.predicted[item[i].quantity];
    }
    ck_assert_double_eq_tol(calibrate(&plan)->traits.cache_share, slow.cache_share, 0.1);
    for (size_t i = 0; i < RUNS; i++) {
        row[i].weight_dtype = "int4";
        calc_serving_predict(&prediction[i], &row[i], &apps, &systems, shipped_engines());
    }
    const calc_engine_fit *fit = calibrate(&plan);
    ck_assert_uint_eq(fit->points, results.count);
    ck_assert_double_eq_tol(fit->traits.cache_share, fit->start.cache_share, 1e-9);
    ck_assert(!fit->determined[CALC_ENGINE_TRAIT_cache_share]);
}

/* Each is predicted by a fit that saw it or by one that did not: loads of a layout together. */
CALC_TEST(half_of_the_layouts_predicts_the_other)
{
    const calc_engine_plan plan = {
        .engines = shipped_engines(), .cross = CALC_CROSS_HALF, .documented = true};
    const calc_engine_fit *fit = calibrate(&plan);
    size_t seen = 0;
    for (size_t i = 0; i < results.count; i++) {
        size_t same = (i + 24) % results.count; /* but for its load */
        ck_assert((bool)isnan(fitted[i]) != (bool)isnan(unseen[i]));
        ck_assert((bool)isnan(fitted[i]) == (bool)isnan(fitted[same]));
        ck_assert(isnan(unseen[i]) || fabs(unseen[i] / item[i].measured - 1) < 0.1);
        seen += isnan(fitted[i]) ? 0 : 1;
    }
    ck_assert_uint_eq(fit->points, seen);
    ck_assert(seen > 0 && seen < results.count);
}

/* A table may deal them itself. */
CALC_TEST(halves_are_those_of_the_table)
{
    const calc_engine_plan plan = {
        .engines = shipped_engines(), .cross = CALC_CROSS_HALF, .documented = true};
    for (size_t i = 0; i < RUNS; i++) {
        row[i].half = i % 3 == 0;
    }
    const calc_engine_fit *fit = calibrate(&plan);
    ck_assert_uint_eq(fit->points, 2 * 32);
    for (size_t i = 0; i < results.count; i++) {
        ck_assert((bool)isnan(fitted[i]) == (i / 2 % 3 == 0));
    }
}

/* Of one publisher, whatever its sources are called. */
CALC_TEST(publishers_are_left_out_whole)
{
    static const char *const names[] = {"the same", NULL};
    calc_engine_plan plan = {
        .engines = shipped_engines(), .cross = CALC_CROSS_SOURCE, .documented = true};
    for (size_t i = 0; i < RUNS; i++) {
        row[i].publisher = "the same";
    }
    const calc_engine_fit *fit = calibrate(&plan); /* nothing is left to fit to */
    calc_engine_point first = {&item[0], 0, true, 1};
    ck_assert_double_eq_tol(unseen[0], calc_engine_fit_predict(&first, &fit->start), 1e-9);
    row[0].publisher = "another";
    plan = (calc_engine_plan){.engines = shipped_engines(), .documented = true, .held_out = names};
    ck_assert_uint_eq(calibrate(&plan)->points, 2);
}

CALC_TEST(sources_and_later_runs_are_left_out)
{
    calc_engine_plan plan = {
        .engines = shipped_engines(), .cross = CALC_CROSS_SOURCE, .documented = true};
    calibrate(&plan);
    for (size_t i = 0; i < results.count; i++) {
        ck_assert(!isnan(fitted[i]) && !isnan(unseen[i]));
        ck_assert_double_ne(fitted[i], unseen[i]);
    }
    plan.cross = CALC_CROSS_LATER;
    calibrate(&plan);
    for (size_t i = 0; i < results.count; i++) {
        ck_assert((bool)isnan(unseen[i]) == (i / 2 % 2 == 1)); /* two results of each run */
    }
    plan.cross = CALC_CROSS_MACHINE; /* there is one: without it nothing is known */
    const calc_engine_fit *fit = calibrate(&plan);
    calc_engine_point first = {&item[0], 0, true, 1};
    ck_assert_double_eq_tol(unseen[0], calc_engine_fit_predict(&first, &fit->start), 1e-9);
}

CALC_TEST(what_is_held_out_is_in_no_fit)
{
    static const char *const names[] = {"somebody else", NULL};
    const calc_engine_plan plan = {
        .engines = shipped_engines(), .documented = true, .held_out = names};
    const calc_engine_fit *fit = calibrate(&plan);
    ck_assert_uint_eq(fit->points, 2 * 32);
    for (size_t i = 0; i < results.count; i++) {
        ck_assert((bool)isnan(fitted[i]) == (i / 2 % 3 == 0));
        ck_assert((bool)isnan(unseen[i]) == (i / 2 % 3 != 0));
    }
}

/* What is suspect is scored, by fits that do not know it. */
CALC_TEST(what_is_suspect_is_in_no_fit)
{
    const calc_engine_plan plan = {
        .engines = shipped_engines(), .documented = true, .cross = CALC_CROSS_HALF};
    for (size_t i = 0; i < results.count; i += 2) {
        item[i].remark = i % 3 ? "" : "waits for what nobody has published";
    }
    const calc_engine_fit *fit = calibrate(&plan);
    ck_assert_uint_lt(fit->points, results.count * 5 / 6);
    for (size_t i = 0; i < results.count; i += 6) {
        ck_assert((bool)isnan(fitted[i]));
        ck_assert(!isnan(unseen[i]));
    }
}

CALC_TEST(a_fit_starts_from_the_engine_or_from_nothing)
{
    const calc_serving_engine vllm = shipped_engine("vllm-0.11"),
                              sglang = shipped_engine("sglang-0.5");
    calc_engine_traits shipped = calc_engine_fit_start(&vllm, false);
    calc_engine_traits documented = calc_engine_fit_start(&vllm, true);
    calc_engine_traits other = calc_engine_fit_start(&sglang, true);
    ck_assert_double_ne(shipped.host_s, documented.host_s);
    ck_assert_double_eq(other.host_s, documented.host_s);
    ck_assert(other.overlapped && !documented.overlapped);
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        ck_assert_double_gt(*calc_engine_trait(&shipped, k), 0);
        char path[64];
        calc_field_ref ref;
        snprintf(path, sizeof path, "inference.traits.%s", calc_engine_trait_name(k));
        ck_assert_int_eq(calc_field_find(CALC_KIND_EXEC, path, &ref), CALC_OK);
    }
}

/* A version without runs has what its program's others say, with more spread; another program is
 * told by all, and less so. */
CALC_TEST(versions_and_engines_share_what_they_have_in_common)
{
    const calc_engine_plan plan = {.engines = shipped_engines(), .documented = true};
    calc_engine_calibration c;
    calc_errors errors = {0};
    const calc_engine_fit *seen = NULL, *version = NULL, *other = NULL;
    ck_assert_int_eq(calc_engine_calibrate(&c, &plan, &results, fitted, unseen, &errors), CALC_OK);
    for (size_t i = 0; i < c.count; i++) {
        const char *name = c.fit[i].engine->name;
        seen = strcmp(name, "vllm-0.11") == 0 ? &c.fit[i] : seen;
        version = strcmp(name, "vllm-0.8") == 0 ? &c.fit[i] : version;
        other = strcmp(name, "tensorrt_llm-1.0") == 0 ? &c.fit[i] : other;
    }
    ck_assert_uint_eq(version->points + other->points, 0);
    ck_assert_double_lt(version->traits.matrix_share, 0.8); /* 0.6 is true, 0.85 documented */
    ck_assert_double_gt(version->traits.matrix_share, seen->traits.matrix_share);
    ck_assert_double_gt(other->traits.matrix_share, version->traits.matrix_share);
    ck_assert_double_lt(other->traits.matrix_share, 0.85);
    int k = CALC_ENGINE_TRAIT_matrix_share;
    ck_assert(version->error[k] > seen->error[k] && other->error[k] > version->error[k]);
    ck_assert(!version->determined[k]);
    /* Kernels that read the cache are each version's own. */
    ck_assert_double_eq_tol(version->traits.cache_share, version->start.cache_share, 1e-9);
    free(c.fit);
}

/* However the runs are, a host that works ahead stays below what would hide every model. */
CALC_TEST(a_host_that_works_ahead_hides_no_model)
{
    static calc_serving_engine ahead;
    ahead = *calc_serving_engines_find(shipped_engines(), "vllm-0.11");
    ahead.traits.overlapped = true;
    ahead.traits.host_growth = 2;
    calc_serving_engines engines = {.item = &ahead, .count = 1};
    const calc_engine_plan plan = {.engines = &engines};
    calc_engine_calibration c;
    calc_errors errors = {0};
    for (size_t i = 0; i < results.count; i++) {
        item[i].measured = 0.5; /* every run alike */
    }
    ck_assert_int_eq(calc_engine_calibrate(&c, &plan, &results, fitted, unseen, &errors), CALC_OK);
    calc_engine_traits *t = &c.fit[0].traits;
    ck_assert_double_le(t->host_s + 2048 * t->host_sequence_s, 0.011);
    ck_assert_double_le(t->host_growth, 1.0 / 3);
    free(c.fit);
}

/* What the runs would be with these traits. */
static void measure(const calc_engine_traits *with)
{
    for (size_t i = 0; i < results.count; i++) {
        calc_serving_prediction truth = *item[i].serving;
        calc_serving_predict_with(&truth, with);
        item[i].measured = truth.predicted[item[i].quantity];
    }
}

/* One's own server may take 60 ms for a request; where engines are told apart, by how they are
 * documented, all have a server of 10 ms, and few runs do not outweigh that. */
CALC_TEST(a_slow_server_is_ones_own)
{
    calc_engine_traits slow = true_traits;
    slow.request_s = 60e-3;
    measure(&slow);
    const calc_engine_plan own = {.engines = shipped_engines()};
    ck_assert_double_eq_tol(calibrate(&own)->traits.request_s, slow.request_s, 3e-3);
    for (size_t i = 0; i < results.count; i++) {
        item[i].use = i % 12 < 2 ? CALC_USE_SCORED : CALC_USE_UNSCORED;
    }
    const calc_engine_plan documented = {.engines = shipped_engines(), .documented = true};
    ck_assert_double_lt(calibrate(&documented)->traits.request_s, 30e-3);
    ck_assert_double_gt(calibrate(&own)->traits.request_s, 50e-3);
}

/* The same runs, whose prompts take what issuing kernels in 40 us takes: an interpreter is found to
 * take that, and compiled code no more than it can; the rest is then something else. */
CALC_TEST(compiled_code_issues_kernels_faster_than_an_interpreter)
{
    static calc_serving_engine of;
    calc_serving_engines engines = {.item = &of, .count = 1};
    const calc_engine_plan plan = {.engines = &engines};
    calc_engine_traits slow = true_traits;
    slow.issue_s = 40e-6;
    slow.request_s = 5e-3;
    measure(&slow);
    for (int compiled = 0; compiled < 2; compiled++) {
        calc_engine_calibration c;
        calc_errors errors = {0};
        of = *calc_serving_engines_find(shipped_engines(), "vllm-0.11");
        of.compiled = compiled;
        of.traits.issue_s = 30e-6;
        ck_assert_int_eq(calc_engine_calibrate(&c, &plan, &results, fitted, unseen, &errors),
                         CALC_OK);
        ck_assert_double_eq_tol(c.fit[0].traits.issue_s, compiled ? 12e-6 : 40e-6,
                                compiled ? 1e-9 : 4e-6);
        free(c.fit);
    }
}

CALC_TEST(without_runs_there_is_nothing_to_fit)
{
    const calc_engine_plan plan = {.engines = shipped_engines(), .documented = true};
    calc_engine_calibration c;
    calc_errors errors = {0};
    results.count = 0;
    ck_assert_int_eq(calc_engine_calibrate(&c, &plan, &results, fitted, unseen, &errors),
                     CALC_ERR_RULE);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "no run of serving"));
    free(c.fit);
}
