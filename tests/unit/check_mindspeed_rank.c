/* Configurations in the order of their times; a folder of measurements, what is learnt from it, and
 * what to measure next. */
#include "mindspeed/loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/read.h"
#include "frame.h"
#include "mindspeed/memory.h"
#include "scratch.h"

#define GIB 1073741824.0
#define FOLDER CALC_TEST_DATA "/mindspeed/profiles"
#define FLAGS                                                                                      \
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 11008 --num-attention-heads 32 "         \
    "--seq-length 2048 --global-batch-size 256 --use-flash-attn --fp16 --swiglu --vocab-size "     \
    "32000 --normalization RMSNorm --position-embedding-type rope --disable-bias-linear "          \
    "--untie-embeddings-and-output-weights --nnodes 1 --nproc-per-node 8"

static calc_mindspeed_arguments args;
static calc_system device;
static calc_mindspeed_study study;
static calc_mindspeed_ranking ranking;
static calc_mindspeed_evidence evidence;
static calc_errors errors;
static calc_tune_prior prior;
static calc_tune_options options;

static void setup(void)
{
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, FLAGS, strlen(FLAGS), NULL), CALC_OK);
    ck_assert_int_eq(
        calc_mindspeed_arguments_read(&args, &settings, CALC_MINDSPEED_GEN2, NULL, &errors),
        CALC_OK);
    calc_settings_free(&settings);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &device,
                               CALC_DATA_DIR_SOURCE "/systems/ascend_910b.json", &errors),
                     CALC_OK);
    prior = calc_tune_prior_default();
    options = calc_tune_options_default(&prior);
    study = (calc_mindspeed_study){
        .arguments = &args, .system = &device, .generation = CALC_MINDSPEED_GEN2};
}

static void teardown(void)
{
    calc_mindspeed_rank_free(&ranking);
    calc_mindspeed_evidence_free(&evidence);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = teardown};

static void learn(void)
{
    study.profiles = FOLDER;
    ck_assert_int_eq(calc_mindspeed_evidence_start(&evidence, &study, &errors), CALC_OK);
}

static void rank_with(calc_mindspeed_evidence *e, const calc_mindspeed_results *results)
{
    calc_mindspeed_rank_free(&ranking);
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_mindspeed_rank(&study, e, results, &options, 0, &ranking, &errors),
                     CALC_OK);
}

static const calc_mindspeed_candidate *candidate(const char *name)
{
    char text[CALC_MINDSPEED_NAME];
    for (size_t i = 0; i < ranking.count; i++) {
        if (strcmp(name, calc_mindspeed_config_name(&ranking.item[i].config, study.generation,
                                                    text)) == 0) {
            return &ranking.item[i];
        }
    }
    ck_abort_msg("%s", name);
    return NULL;
}

CALC_TEST(in_order_and_within_memory)
{
    double capacity = device.chip.mem1.capacity_bytes;
    rank_with(NULL, NULL);
    ck_assert_uint_eq(ranking.count, 36);
    ck_assert_uint_gt(ranking.fit, 3);
    ck_assert_uint_lt(ranking.fit, ranking.timed);
    ck_assert_uint_lt(ranking.timed, ranking.count);
    for (size_t i = 0; i < ranking.count; i++) {
        const calc_mindspeed_candidate *c = &ranking.item[i];
        double peak = calc_mindspeed_memory_of(&args.job, &c->config).peak_bytes;
        ck_assert_double_eq(c->peak_bytes, peak);
        ck_assert_int_eq(c->fits, i < ranking.fit);
        ck_assert_int_eq(c->fits, peak < 0.95 * capacity);
        ck_assert_int_eq(isfinite(c->step_s) != 0, peak <= 1.2 * capacity);
        if (i > 0 && c->fits) {
            ck_assert_double_ge(c->step_s, ranking.item[i - 1].step_s);
        }
    }
    ck_assert_int_eq(ranking.stop, CALC_MINDSPEED_GOES_ON);
    ck_assert_mem_eq(&ranking.next, &ranking.item[0].config, sizeof ranking.next);
}

/* What was measured corrects the predictions of all others: those of the same kernels nearly as
 * much, and the rest towards it. */
CALC_TEST(predictions_are_on_the_scale_of_what_was_measured)
{
    static const double factors[] = {0.87, 1.15};
    rank_with(NULL, NULL);
    size_t count = ranking.fit;
    calc_mindspeed_candidate *before = calloc(count, sizeof *before);
    memcpy(before, ranking.item, count * sizeof *before);
    for (size_t k = 0; k < 2; k++) {
        calc_mindspeed_result item = {
            .config = before[0].config, .step_s = factors[k] * before[0].step_s, .peak_bytes = NAN};
        const calc_mindspeed_results results = {&item, 1};
        rank_with(NULL, &results);
        ck_assert_uint_eq(ranking.measured, 1);
        ck_assert_double_eq(candidate("PP4_TP1_DP2_CP1_UP1_MBS2_VP8_EP0")->step_s, item.step_s);
        int twins = 0;
        for (size_t i = 1; i < count; i++) {
            char name[CALC_MINDSPEED_NAME];
            const calc_mindspeed_config *f = &before[i].config;
            const calc_mindspeed_candidate *c =
                candidate(calc_mindspeed_config_name(f, CALC_MINDSPEED_GEN2, name));
            double asked_s = factors[k] * before[i].step_s;
            bool twin = f->pp == 4 && f->tp == 1 && f->mbs == 2;
            twins += twin;
            ck_assert(c->p5_s < asked_s && asked_s < c->p95_s);
            ck_assert_double_eq_tol(c->step_s / asked_s, 1, twin ? 0.05 : 0.15);
            ck_assert_double_gt((c->step_s / before[i].step_s - 1) * (factors[k] - 1), 0);
        }
        ck_assert_int_eq(twins, 2);
    }
    free(before);
}

CALC_TEST(memory_by_calc)
{
    study.calc_memory = true;
    rank_with(NULL, NULL);
    for (size_t i = 0; i < ranking.count; i++) {
        const calc_mindspeed_candidate *c = &ranking.item[i];
        ck_assert_double_eq(c->peak_bytes, c->calc_bytes);
        ck_assert_int_eq(c->fits, c->peak_bytes < device.chip.mem1.capacity_bytes);
    }
}

static void put(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}

/* Measured activations of 0.125 + 2 b/(tp cp up) GiB on all five probes make the peak of others; a
 * measured step counts before the model's, and a damaged file is a run that failed. */
CALC_TEST(profiles_of_the_first_generation)
{
    char folder[512], text[CALC_MINDSPEED_NAME], file[CALC_MINDSPEED_NAME + 16], json[64];
    study.generation = CALC_MINDSPEED_GEN1;
    study.profiles = ".";
    scratch_enter(folder, sizeof folder);
    rank_with(NULL, NULL);
    ck_assert(ranking.peak.regression);
    ck_assert_int_eq(ranking.notes.count, 1);
    ck_assert_str_eq(ranking.notes.text[0],
                     "activations of 5 of 5 probes are calc's, not measured");
    const calc_mindspeed_probes probes = ranking.peak.probes;
    for (int i = 0; i < probes.count; i++) {
        const calc_mindspeed_config *c = &probes.config[i];
        snprintf(file, sizeof file, "%s_MODULE.json",
                 calc_mindspeed_config_name(c, CALC_MINDSPEED_GEN1, text));
        snprintf(json, sizeof json, "{\"transformer_act_mem\": %.17g}",
                 0.125 + 2.0 * c->mbs / (c->tp * c->cp * c->up));
        put(file, json);
    }
    put("PP8_TP1_DP1_CP1_UP1_MBS1_MODULE.json", "{\"step_time\": 0.5}");
    put("PP2_TP4_DP1_CP1_UP1_MBS1_MODULE.json", "{\"step_time\": ");
    rank_with(NULL, NULL);
    ck_assert_int_eq(ranking.notes.count, 1);
    ck_assert_ptr_nonnull(strstr(ranking.notes.text[0], "PP2_TP4_DP1_CP1_UP1_MBS1_MODULE.json:1:"));
    const calc_mindspeed_candidate *c = candidate("PP4_TP2_DP1_CP1_UP1_MBS2");
    ck_assert_double_eq_tol(
        c->peak_bytes / GIB,
        calc_mindspeed_regression_peak_bytes(&args.job, &c->config, 2.125) / GIB, 1e-9);
    ck_assert_int_eq(candidate("PP2_TP4_DP1_CP1_UP1_MBS1")->source, CALC_MINDSPEED_UNTIMED);
    ck_assert_int_eq(candidate("PP8_TP1_DP1_CP1_UP1_MBS1")->source, CALC_MINDSPEED_UNTIMED);
    ck_assert_uint_eq(ranking.measured, 0); /* 32 layers of 2.1 GiB: it does not fit */
    device.chip.mem1.capacity_bytes = 1000 * GIB;
    study.profiles = NULL;
    rank_with(NULL, NULL);
    double predicted_s = candidate("PP4_TP2_DP1_CP1_UP1_MBS2")->step_s;
    study.profiles = ".";
    rank_with(NULL, NULL);
    ck_assert_uint_eq(ranking.measured, 1);
    ck_assert_double_eq(candidate("PP8_TP1_DP1_CP1_UP1_MBS1")->step_s, 0.5);
    ck_assert_double_lt(candidate("PP4_TP2_DP1_CP1_UP1_MBS2")->step_s, predicted_s);
    scratch_leave(folder);
}

/* Activations that shrink with the micro-batch make a fit that is negative elsewhere. */
CALC_TEST(a_bad_fit_is_told)
{
    char folder[512], text[CALC_MINDSPEED_NAME], file[CALC_MINDSPEED_NAME + 16], json[64];
    study.generation = CALC_MINDSPEED_GEN1;
    study.profiles = ".";
    scratch_enter(folder, sizeof folder);
    rank_with(NULL, NULL);
    for (int i = 0; i < 5; i++) {
        const calc_mindspeed_config *c = &ranking.peak.probes.config[i];
        snprintf(file, sizeof file, "%s_MODULE.json",
                 calc_mindspeed_config_name(c, CALC_MINDSPEED_GEN1, text));
        snprintf(json, sizeof json, "{\"transformer_act_mem\": %.17g}",
                 5 - (double)c->mbs / (c->cp * c->up));
        put(file, json);
    }
    rank_with(NULL, NULL);
    ck_assert_int_eq(ranking.notes.count, 1);
    ck_assert_ptr_nonnull(strstr(ranking.notes.text[0],
                                 "the fit of activations is bad: it is below "
                                 "0 for "));
    scratch_leave(folder);
}

CALC_TEST(spaces_without_probes_and_without_anything)
{
    study.generation = CALC_MINDSPEED_GEN1;
    args.job.batch = 1;
    rank_with(NULL, NULL);
    ck_assert(!ranking.peak.regression);
    ck_assert_str_eq(ranking.notes.text[0], "no probes determine activations: memory is by the "
                                            "second generation's formulas");
    args.job.per_node = 4;
    args.job.batch = 256;
    rank_with(NULL, NULL);
    ck_assert_str_eq(ranking.notes.text[0], "the space has no probe of group 5: memory is by the "
                                            "second generation's formulas");
    args.job.heads = args.job.groups = 1;
    args.job.seq = args.job.layers = args.job.batch = 1;
    calc_mindspeed_rank_free(&ranking);
    ck_assert_int_eq(calc_mindspeed_rank(&study, NULL, NULL, &options, 0, &ranking, &errors),
                     CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text,
                     "no configuration divides 4 devices, 1 layers, 1 heads and 1 sequences");
}

/* Five multiplications in a folder below; a folder that is not there. */
CALC_TEST(a_folder)
{
    learn();
    calc_mindspeed_folder other;
    ck_assert_uint_eq(evidence.folder.kernels.count, 5);
    ck_assert_uint_eq(evidence.folder.comm.count, 0);
    ck_assert_int_eq(evidence.notes.count, 1);
    ck_assert_int_eq(calc_mindspeed_folder_read(&other, FOLDER "/none", &errors),
                     CALC_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "no such folder"));
    calc_mindspeed_folder_free(&other);
}

/* All five kernels took longer than calc says: so do steps, and the model's own share of the
 * uncertainty is gone. */
CALC_TEST(times_from_what_was_learnt)
{
    rank_with(NULL, NULL);
    const calc_mindspeed_candidate *c = candidate("PP4_TP1_DP2_CP1_UP1_MBS2_VP1_EP0");
    double model_s = c->step_s, width = c->p95_s / c->p5_s;
    learn();
    rank_with(&evidence, NULL);
    c = candidate("PP4_TP1_DP2_CP1_UP1_MBS2_VP1_EP0");
    ck_assert_double_gt(c->step_s, 1.02 * model_s);
    ck_assert_double_lt(c->step_s, 1.5 * model_s);
    ck_assert_double_lt(c->p95_s / c->p5_s, width);
    ck_assert_uint_eq(evidence.profiled, 0);
}

/* A profile of modules says what 256 micro-batches of 16 layers take; its crop has all in one
 * stage. Kernels, which are in it, change it no more. A damaged one gives no time. */
CALC_TEST(modules_count_where_they_were_profiled)
{
    learn();
    static const char text[] =
        "{\"step_time\": 9, \"forward_step_time\": 1, \"backward_step_time\": 2,"
        "\"embedding\": {\"time\": 0, \"memory\": 1, \"max_memory\": 1},"
        "\"0\": {\"time\": 1000, \"memory\": 1, \"max_memory\": 1},"
        "\"final_layernorm\": {\"time\": 0, \"memory\": 1, \"max_memory\": 1},"
        "\"output_layer\": {\"time\": 0, \"memory\": 1, \"max_memory\": 1},"
        "\"loss\": {\"time\": 0, \"memory\": 1, \"max_memory\": 1}}";
    char folder[512];
    scratch_enter(folder, sizeof folder);
    put("PP1_TP4_DP2_CP1_UP1_MBS1_VP1_EP0_MODULE.json", text);
    put("PP1_TP8_DP1_CP1_UP1_MBS1_VP1_EP0_MODULE.json", "{");
    study.profiles = ".";
    calc_mindspeed_evidence none = {0};
    rank_with(&none, NULL);
    double alone_s = candidate("PP2_TP4_DP1_CP1_UP1_MBS1_VP1_EP0")->step_s;
    rank_with(&evidence, NULL);
    ck_assert_double_eq(candidate("PP2_TP4_DP1_CP1_UP1_MBS1_VP1_EP0")->step_s, alone_s);
    ck_assert_double_gt(alone_s, 256 * 16 * 3);
    ck_assert_double_lt(candidate("PP2_TP4_DP1_CP1_UP1_MBS2_VP1_EP0")->step_s, 256 * 16 * 3);
    ck_assert_int_eq(candidate("PP1_TP8_DP1_CP1_UP1_MBS1_VP1_EP0")->source, CALC_MINDSPEED_UNTIMED);
    ck_assert_uint_gt(evidence.profiled, 0);
    calc_mindspeed_evidence_free(&none);
    scratch_leave(folder);
}

/* Truths of a machine that is slower or faster by a factor, with errors of tensor parallelism,
 * stages and micro-batches: no configuration comes twice, few are needed, and the best is found. */
CALC_TEST_LOOP(the_loop_from_outside, 0, 3)
{
    static const double bias[] = {1, 1.15, 0.87};
    double truth_s[64], best_s = INFINITY, found_s = INFINITY;
    calc_mindspeed_config config[64];
    calc_mindspeed_result runs[64];
    calc_mindspeed_results results = {runs, 0};
    rank_with(NULL, NULL);
    size_t fit = ranking.fit;
    for (size_t i = 0; i < fit; i++) {
        const calc_mindspeed_config *c = config + i;
        config[i] = ranking.item[i].config;
        double factor =
            (c->tp == 2 ? 0.05 : 0) - (c->pp == 4 ? 0.04 : 0) + (c->mbs == 1 ? 0.04 : 0);
        truth_s[i] = bias[_i] * ranking.item[i].step_s * exp(factor);
        best_s = fmin(best_s, truth_s[i]);
    }
    while (ranking.stop == CALC_MINDSPEED_GOES_ON) {
        ck_assert_uint_eq(ranking.trials, results.count);
        ck_assert_uint_lt(results.count, 40);
        ck_assert_ptr_null(calc_mindspeed_results_find(&results, &ranking.next));
        size_t i = 0;
        while (i < fit && memcmp(&config[i], &ranking.next, sizeof ranking.next) != 0) {
            i++;
        }
        calc_mindspeed_result *r = &runs[results.count++];
        *r = (calc_mindspeed_result){.config = ranking.next, .peak_bytes = NAN};
        r->end = i < fit ? CALC_TUNE_END_FINE : CALC_TUNE_END_OOM;
        r->step_s = i < fit ? truth_s[i] : NAN;
        found_s = i < fit ? fmin(found_s, truth_s[i]) : found_s;
        rank_with(NULL, &results);
    }
    ck_assert_int_eq(ranking.stop, CALC_MINDSPEED_CONCENTRATED);
    ck_assert_double_lt(ranking.chance, 0.05);
    ck_assert_double_le(found_s, 1.01 * best_s);
    ck_assert_uint_le(results.count, 20);
    options.stop = 0;
    calc_mindspeed_rank_free(&ranking);
    ck_assert_int_eq(
        calc_mindspeed_rank(&study, NULL, &results, &options, results.count, &ranking, &errors),
        CALC_OK);
    ck_assert_int_eq(ranking.stop, CALC_MINDSPEED_TRIALS);
}

/* One that lacks memory is no answer, nor is its twin, which needs more. */
CALC_TEST(a_run_that_lacked_memory)
{
    static const char *const twins[] = {"PP4_TP1_DP2_CP1_UP1_MBS2_VP1_EP0",
                                        "PP4_TP1_DP2_CP1_UP1_MBS2_VP4_EP0"};
    rank_with(NULL, NULL);
    ck_assert(candidate(twins[0])->fits && candidate(twins[1])->fits);
    ck_assert_double_lt(candidate(twins[0])->peak_bytes, candidate(twins[1])->peak_bytes);
    size_t before = ranking.fit;
    calc_mindspeed_result run = {
        .config = candidate(twins[0])->config, .end = CALC_TUNE_END_OOM, .peak_bytes = NAN};
    const calc_mindspeed_results results = {&run, 1};
    rank_with(NULL, &results);
    ck_assert(!candidate(twins[0])->fits && !candidate(twins[1])->fits);
    ck_assert_uint_gt(ranking.fit, 0);
    ck_assert_uint_lt(ranking.fit, before);
    ck_assert_uint_eq(ranking.trials, 1);
    ck_assert_uint_eq(ranking.measured, 0);
}
