/* Logs: every row of the table in the text that its program prints, JSON and columns; the start
 * left out. */
#include <stdlib.h>
#include <string.h>

#include "formats/run_log.h"
#include "frame.h"

/* Reads a text, which the log must take. */
static calc_run_log log_of(const char *content)
{
    calc_run_log log = {0};
    calc_errors errors = {0};
    calc_text text = {strdup(content), strlen(content)};
    ck_assert_ptr_nonnull(text.data);
    ck_assert_msg(calc_run_log_read(&log, &text, "run.log", &errors) == CALC_OK, "%s", content);
    calc_text_free(&text);
    return log;
}

static const struct {
    const char *text;
    calc_log_what what;
    size_t count;
    double first;
} lines[] = {
    {" iteration        1/    500 | elapsed time per iteration (ms): 15300.5 | lm loss: 1.0E+01 |",
     CALC_LOG_STEP_TIME, 1, 15.3005},
    {"iteration 1 | elapsed time per iteration (ms): 15300.5/15310.0 | x", CALC_LOG_STEP_TIME, 1,
     15.3005},
    {"Training epoch 0, iteration 1/9 | train_step_timing in s: 9.11\n", CALC_LOG_STEP_TIME, 1,
     9.11},
    {"10/1000 [01:23<2:17, 8.34s/it, train_step_timing in s=8.120]", CALC_LOG_STEP_TIME, 1, 8.12},
    {"train_step_timing in s: [11.85, 6.98,\n 5.36]", CALC_LOG_STEP_TIME, 3, 11.85},
    {"Step Time : 9.11s GPU utilization: 400.2MODEL_TFLOP/s/GPU", CALC_LOG_STEP_TIME, 1, 9.11},
    {"steps: 10 loss: 7.7 iter time (s): 3.02 samples/sec: 42.3", CALC_LOG_STEP_TIME, 1, 3.02},
    {"completed step: 10, seconds: 5.123, TFLOP/s/device: 390.1", CALC_LOG_STEP_TIME, 1, 5.123},
    {"{\"_step\": 1, \"iteration-time\": 4.5}\n{\"_step\": 2, \"iteration-time\": 4.25}",
     CALC_LOG_STEP_TIME, 2, 4.5},
    {"Step,\"run 7 - iteration-time\",\"run 7 - iteration-time__MIN\"\n1,4.5,4\n2,4.25,4\n",
     CALC_LOG_STEP_TIME, 2, 4.5},
    {"a,b - throughput(tps)\n1,\n2,6500.5\n", CALC_LOG_TOKENS_PER_S_PER_PROC, 1, 6500.5},
    {"\x1b[31mstep:  4 \x1b[34mtps: 10,050 \x1b[36mtflops: 314.7", CALC_LOG_TOKENS_PER_S_PER_PROC,
     1, 10050},
    {"step: 4 tps: 1,010,050", CALC_LOG_TOKENS_PER_S_PER_PROC, 1, 1010050},
    {"wps: 900, mfu: 1", CALC_LOG_TOKENS_PER_S_PER_PROC, 1, 900},
    {"{\"throughput/device/tokens_per_sec\": 812.5}", CALC_LOG_TOKENS_PER_S_PER_PROC, 1, 812.5},
    {"RunningAvgSamplesPerSec=12.3, CurrSamplesPerSec=12.4, MemAllocated=1GB",
     CALC_LOG_SAMPLES_PER_S, 1, 12.4},
    {"Mean TPOT (ms):                          39.40", CALC_LOG_TPOT, 1, 0.0394},
    {"{\"mean_tpot_ms\": 39.4, \"p99_tpot_ms\": 60}", CALC_LOG_TPOT, 1, 0.0394},
    {"{\"inter_token_latency\": {\"unit\": \"ms\",\n \"avg\": 39.4, \"p50\": 38}}", CALC_LOG_TPOT,
     1, 0.0394},
};

CALC_TEST_LOOP(a_program_is_read, 0, sizeof lines / sizeof *lines)
{
    calc_run_log log = log_of(lines[_i].text);
    const calc_log_series *series = &log.series[lines[_i].what];
    ck_assert_msg(series->count == lines[_i].count, "%s: %zu values", lines[_i].text,
                  series->count);
    ck_assert_double_eq_tol(series->value[0], lines[_i].first, 1e-9 * lines[_i].first);
    ck_assert_ptr_nonnull(series->program);
    calc_run_log_free(&log);
}

CALC_TEST(a_time_comes_before_a_rate_and_words_belong_to_a_program)
{
    calc_run_log log =
        log_of("memory: 3\nglobal_batch_size: 7\n"
               "iteration 1 | elapsed time per iteration (ms): 100 | global batch size: 64 |\n"
               "[Rank 0] memory (MB) | max reserved: 1024.0\n all-grads-sync ....: (12.5, 13)\n");
    ck_assert_uint_eq(log.series[CALC_LOG_STEP_TIME].count, 1);
    ck_assert_double_eq(log.series[CALC_LOG_BATCH].value[0], 64);
    ck_assert_uint_eq(log.series[CALC_LOG_BATCH].count, 1);
    ck_assert_double_eq(log.series[CALC_LOG_MEMORY].value[0], 0x1p30);
    ck_assert_double_eq_tol(log.series[CALC_LOG_GRADIENTS].value[0], 0.0125, 1e-12);
    calc_run_log_free(&log);
    log = log_of("step: 1 memory: 2.5GiB(3%) tps: 10\nglobal batch size: 7\nmax reserved: 4\n");
    ck_assert_double_eq(log.series[CALC_LOG_MEMORY].value[0], 2.5 * 0x1p30);
    ck_assert_uint_eq(log.series[CALC_LOG_BATCH].count, 0);
    calc_run_log_free(&log);
}

static const char *const nothing[] = {
    "",
    "loss 3\n",
    "https: 7\n",                  /* "tps" within a word */
    "forward-iteration-time: 3\n", /* "iteration-time" likewise */
    "elapsed time per iteration (ms): nan |\n",
    "elapsed time per iteration (ms): -3 |\n",
    "elapsed time per iteration (ms): 0 |\n",
    "elapsed time per iteration (ms) 12\n", /* no colon */
    "elapsed time per iteration (ms):",
    "completed step: 10\nseconds: 5\n", /* on another line */
    "{\"inter_token_latency\": {\"unit\": \"ms\"}, \"avg\": 3}",
    "{\"inter_token_latency\": {\"p50\": 18.0",
    "a,b\n1,2\n",
    "a,iteration-time\n1,\"2\n",
    "iteration-time\n3\n",
};

CALC_TEST_LOOP(what_is_no_log_is_refused, 0, sizeof nothing / sizeof *nothing)
{
    calc_run_log log = {0};
    calc_errors errors = {0};
    calc_text text = {strdup(nothing[_i]), strlen(nothing[_i])};
    ck_assert_msg(calc_run_log_read(&log, &text, "run.log", &errors) == CALC_ERR_UNSUPPORTED, "%s",
                  nothing[_i]);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].file, "run.log");
    ck_assert_ptr_nonnull(strstr(errors.item[0].hint, "Megatron-LM"));
    calc_text_free(&text);
    calc_run_log_free(&log);
}

CALC_TEST(the_start_is_left_out)
{
    /* 40 and 12 s of warming up, and one slow step, which counts. */
    double value[] = {40, 12, 10.1, 9.9, 10, 10.2, 30, 9.8, 10, 10};
    calc_log_series series = {.value = value, .count = sizeof value / sizeof *value};
    calc_log_summary s = calc_log_summarize(&series);
    ck_assert_uint_eq(s.warm_up, 2);
    ck_assert_uint_eq(s.records, 8);
    ck_assert_double_eq_tol(s.median, 10, 1e-12); /* 9.8 9.9 10 10 10 10.1 10.2 30 */
}

CALC_TEST(at_most_half_is_left_out)
{
    double value[] = {9, 8, 7, 6, 1, 1, 1, 1};
    calc_log_series series = {.value = value, .count = 8};
    ck_assert_uint_eq(calc_log_summarize(&series).warm_up, 4);
    double three[] = {3, 1, 2};
    series = (calc_log_series){.value = three, .count = 3};
    calc_log_summary s = calc_log_summarize(&series);
    ck_assert_uint_eq(s.warm_up, 0);
    ck_assert_double_eq(s.median, 2);
    double one[] = {3};
    series = (calc_log_series){.value = one, .count = 1};
    s = calc_log_summarize(&series);
    ck_assert_uint_eq(s.records, 1);
    ck_assert_double_eq(s.median, 3);
}

const calc_test_frame calc_tests = {0};
