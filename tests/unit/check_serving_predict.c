/* Predictions of runs of serving, beside what calc says of the same documents. */
#include "serving_run_case.h"

#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "frame.h"

static calc_serving_row row;
static calc_documents apps;
static calc_documents systems;
static calc_serving_prediction p;
static int loaded;

static calc_status count_app(calc_kind kind, const char *name, void *out, calc_errors *errors)
{
    loaded++;
    return load_document(kind, name, out, errors);
}

static void enter(void)
{
    row = serving_row();
    apps = (calc_documents){CALC_KIND_APP, .load = count_app};
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load_document};
    loaded = 0;
}

const calc_test_frame calc_tests = {.setup = enter};

static void predict(void)
{
    calc_serving_predict(&p, &row, &apps, &systems, shipped_engines());
}

/* The statistics of the prediction's own layout in a phase. */
static calc_stats of_phase(calc_inference_phase phase)
{
    calc_stats stats;
    calc_exec e = p.map.exec;
    e.inference.phase = phase;
    if (phase == CALC_INFERENCE_PHASE_DECODE) {
        e.inference.prefill_batch = 0;
    }
    ck_assert_int_eq(
        calc_run(&apps.entry[0].app, &systems.entry[0].system, &e, CALC_COMPAT_NONE, &stats),
        CALC_VERDICT_OK);
    return stats;
}

CALC_TEST(a_closed_loop_is_what_serve_says)
{
    predict();
    ck_assert_str_eq(p.reason, "");
    calc_stats s = of_phase(CALC_INFERENCE_PHASE_SERVE);
    ck_assert(p.predicted[CALC_QUANTITY_TPOT] == s.tpot &&
              p.predicted[CALC_QUANTITY_TTFT] == s.ttft && isnan(p.predicted[CALC_QUANTITY_E2E]));
    ck_assert(p.predicted[CALC_QUANTITY_OUTPUT_RATE] == s.output_tokens_per_s);
    /* Weights alone, 70.6e9 bytes over four times 4.8e12 bytes/s, are a floor of 3.7 ms. */
    ck_assert(p.predicted[CALC_QUANTITY_TPOT] > 0.0036 && p.predicted[CALC_QUANTITY_TPOT] < 0.036);
}

CALC_TEST(a_static_batch_is_its_prompts_and_steps)
{
    row.metric_kind = "static batch, whole generation latency";
    row.e2e_latency_ms = 9000;
    predict();
    ck_assert_str_eq(p.reason, "");
    calc_stats prompts = of_phase(CALC_INFERENCE_PHASE_PREFILL);
    calc_stats steps = of_phase(CALC_INFERENCE_PHASE_DECODE);
    ck_assert(p.predicted[CALC_QUANTITY_TTFT] == prompts.total_time &&
              p.predicted[CALC_QUANTITY_TPOT] == steps.tpot);
    ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_E2E], prompts.total_time + 499 * steps.tpot,
                            1e-12);
    ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_OUTPUT_RATE],
                            16 * 500 / p.predicted[CALC_QUANTITY_E2E], 1e-9);
    row.osl = 1;
    predict();
    ck_assert(isnan(p.predicted[CALC_QUANTITY_TPOT]) &&
              p.predicted[CALC_QUANTITY_E2E] == p.predicted[CALC_QUANTITY_TTFT]);
}

/* Llama 2 7B with prompts of 2,048 tokens and as many generated, a gibibyte of cache each at its
   mean, two at its end. */
static void set_long_batch(double requests, const char *software)
{
    row.metric_kind = "static batch";
    row.app = "llama2-7B";
    row.sys = "h100_sxm";
    row.software = software;
    row.weight_dtype = "bf16";
    row.num_gpus = row.tp = 1;
    row.isl = row.osl = 2048;
    row.concurrency_or_batch = requests;
    row.tpot_or_itl_ms = row.ttft_ms = (double)NAN;
    row.e2e_latency_ms = 60000;
    predict();
    ck_assert_str_eq(p.reason, "");
}

static bool is_in_parts(void)
{
    for (int i = 0; i < p.map.assumed.count; i++) {
        if (strstr(p.map.assumed.text[i], "in parts")) {
            return true;
        }
    }
    return false;
}

/* Batches that the engine does not hold at once are the sum of those that it does: TensorRT-LLM
   keeps room to the end of each, vLLM for what there is. */
CALC_TEST(a_batch_that_does_not_fit_runs_in_parts)
{
    static const char *const engine[] = {"tensorrt_llm 0.9.0", "vllm 0.5.0"};
    int64_t most[2];
    for (int i = 0; i < 2; i++) {
        set_long_batch(1, engine[i]);
        double room = floor(of_phase(CALC_INFERENCE_PHASE_DECODE).max_batch);
        most[i] = (int64_t)(i == 0 ? room : room * 4 / 3);
        ck_assert(most[i] > 20 && most[i] < 64);
        set_long_batch((double)most[i], engine[i]);
        ck_assert_str_eq(p.misfit, "");
        ck_assert(!is_in_parts());
        double part_s = p.predicted[CALC_QUANTITY_E2E], step_s = p.predicted[CALC_QUANTITY_TPOT];
        set_long_batch((double)(100 % most[i]), engine[i]);
        double rest_s = p.predicted[CALC_QUANTITY_E2E], prompts_s = p.predicted[CALC_QUANTITY_TTFT];
        set_long_batch(100, engine[i]);
        ck_assert_str_eq(p.misfit, "");
        ck_assert(is_in_parts());
        double parts_s = (double)(100 / most[i]) * part_s;
        ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_E2E], parts_s + rest_s, 1e-9);
        ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_TTFT], parts_s + prompts_s, 1e-9);
        ck_assert_double_eq(p.predicted[CALC_QUANTITY_TPOT], step_s);
        /* Exactly two parts: the last prompts wait for one. */
        set_long_batch((double)(2 * most[i]), engine[i]);
        ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_E2E], 2 * part_s, 1e-9);
        ck_assert(p.predicted[CALC_QUANTITY_TTFT] > part_s &&
                  p.predicted[CALC_QUANTITY_TTFT] < 2 * part_s);
    }
    ck_assert_int_gt(most[1], most[0]);
}

CALC_TEST(rates_are_of_the_requests_that_were_in_flight)
{
    row.num_gpus = 8;
    row.dp = 2;
    row.concurrency_or_batch = 17;
    predict();
    double odd = p.predicted[CALC_QUANTITY_OUTPUT_RATE];
    row.concurrency_or_batch = 18;
    predict();
    ck_assert_double_eq_tol(odd, p.predicted[CALC_QUANTITY_OUTPUT_RATE] * 17 / 18, 1e-9);
}

/* Of ten rounds the first one waits for all prompts: the median request does not. */
CALC_TEST(a_median_is_predicted_beside_a_median)
{
    row.concurrency_or_batch = 64;
    predict();
    double mean_s = p.predicted[CALC_QUANTITY_TTFT];
    row.ttft_stat = "median";
    predict();
    ck_assert_double_lt(p.predicted[CALC_QUANTITY_TTFT], mean_s);
    ck_assert_double_gt(p.predicted[CALC_QUANTITY_TTFT], 0.2 * mean_s);
}

CALC_TEST(what_does_not_fit_is_predicted_and_said)
{
    row.num_gpus = row.tp = 1;
    row.sys = "h100_sxm";
    row.weight_dtype = "bf16";
    row.metric_kind = "static batch";
    predict();
    ck_assert_str_eq(p.reason, "");
    ck_assert_ptr_nonnull(strstr(p.misfit, "does not fit: "));
    ck_assert(p.predicted[CALC_QUANTITY_TPOT] > 0);
}

CALC_TEST(an_open_loop_is_what_serve_says_of_a_rate)
{
    row.request_rate = 2;
    row.concurrency_or_batch = (double)NAN;
    predict();
    ck_assert_str_eq(p.reason, "");
    calc_stats s = of_phase(CALC_INFERENCE_PHASE_SERVE);
    ck_assert(p.predicted[CALC_QUANTITY_TPOT] == s.tpot &&
              p.predicted[CALC_QUANTITY_TTFT] == s.ttft);
    ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_OUTPUT_RATE], 2 * 500, 1e-9);
    row.request_rate = 2000;
    predict();
    ck_assert_ptr_nonnull(strstr(p.reason, "more requests arrive than are served: "));
    ck_assert(isnan(p.predicted[CALC_QUANTITY_TTFT]));
    /* Of so many requests the last wait until the others are served, half of that in the mean. */
    row.num_prompts = 4000;
    predict();
    ck_assert_str_eq(p.reason, "");
    double all_s = 4000 * 500 / p.predicted[CALC_QUANTITY_OUTPUT_RATE];
    ck_assert(p.predicted[CALC_QUANTITY_TTFT] > 0.3 * all_s &&
              p.predicted[CALC_QUANTITY_TTFT] < 0.6 * all_s);
    /* A rate that is served is as for ever. */
    row.request_rate = 2;
    predict();
    ck_assert_double_eq_tol(p.predicted[CALC_QUANTITY_TPOT], s.tpot, 0.05 * s.tpot);
}

CALC_TEST(a_loop_has_as_many_rounds_as_its_requests)
{
    predict();
    ck_assert_int_eq(p.map.exec.inference.requests, 160);
    double rate = p.predicted[CALC_QUANTITY_OUTPUT_RATE];
    row.num_prompts = 160;
    predict();
    ck_assert(p.predicted[CALC_QUANTITY_OUTPUT_RATE] == rate);
    row.num_prompts = 3; /* fewer than are in flight */
    predict();
    ck_assert_int_eq(p.map.exec.inference.requests, 16);
}

/* 70 GB of weights leave nothing of the engine's 0.9 of 80 GB, but a little of all. */
CALC_TEST(a_loop_takes_what_its_engine_takes_or_else_all)
{
    row.sys = "h100_sxm";
    row.num_gpus = row.tp = 2;
    predict();
    ck_assert_str_eq(p.misfit, "");
    ck_assert(p.map.exec.inference.memory_share == 0);
    int assumed = p.map.assumed.count;
    row.num_gpus = row.tp = 1;
    predict();
    ck_assert(p.map.exec.inference.memory_share == 1);
    ck_assert_int_eq(p.map.assumed.count, assumed + 1);
}

CALC_TEST(what_is_not_described_is_the_reason)
{
    row.app = "some/model";
    predict();
    ck_assert_str_eq(p.reason, "no description of this model");
    ck_assert(isnan(p.predicted[CALC_QUANTITY_TPOT]) && isnan(p.predicted[CALC_QUANTITY_TTFT]));
    row.app = "llama3-70B"; /* a file of that name */
    row.sys = "abacus";
    predict();
    ck_assert_str_eq(p.reason, "no description of this machine");
    row.sys = "h20";
    predict();
    ck_assert_str_eq(p.reason, "");
    ck_assert_int_eq(loaded, 2); /* the model once */
}

CALC_TEST(a_rule_that_is_broken_is_the_reason)
{
    row.num_gpus = row.tp = 3;
    predict();
    ck_assert_ptr_nonnull(strstr(p.reason, "/tensor_par: 3 does not divide"));
    row.num_gpus = row.tp = 16; /* more than the fast network of the machine, but legal */
    predict();
    ck_assert_str_eq(p.reason, "");
    row.osl = 1;
    predict();
    ck_assert_ptr_nonnull(strstr(p.reason, "/inference/generate_size: "));
}
