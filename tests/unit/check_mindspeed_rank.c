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
    study = (calc_mindspeed_study){
        .arguments = &args, .system = &device, .generation = CALC_MINDSPEED_GEN2};
}

static void teardown(void)
{
    calc_mindspeed_rank_free(&ranking);
    calc_mindspeed_evidence_free(&evidence);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = teardown};

enum { SAMPLES = 50 };

static void learn(void)
{
    const calc_mindspeed_sampling sampling = {SAMPLES, 1, 0};
    study.profiles = FOLDER;
    ck_assert_int_eq(calc_mindspeed_evidence_start(&evidence, &study, &sampling, &errors), CALC_OK);
}

static void rank_with(calc_mindspeed_rank_timer timer, size_t samples)
{
    const calc_mindspeed_rank_times times = {.timer = timer, .samples = samples};
    calc_mindspeed_rank_free(&ranking);
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_mindspeed_rank(&study, &times, &ranking, &errors), CALC_OK);
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
    rank_with(NULL, 1);
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
    ck_assert_double_eq(ranking.item[0].best, 1);
    ck_assert(!ranking.spread);
}

/* Means of 100 + mbs less pp, and a spread of 3 in turn: of samples -3 and 3. */
static bool by_size(void *judge, const calc_mindspeed_config *config, double *samples_s,
                    size_t count)
{
    (void)judge;
    for (size_t i = 0; i < count; i++) {
        bool turned = (i + (size_t)config->tp / 8) % 2;
        samples_s[i] = 100 + config->mbs - config->pp + (turned ? 3 : -3);
    }
    return config->pp > 1;
}

CALC_TEST(by_a_judge)
{
    rank_with(by_size, 4);
    ck_assert(ranking.spread);
    ck_assert_int_eq(ranking.item[0].config.pp, 8);
    ck_assert_int_eq(ranking.item[0].config.mbs, 1);
    double shares = 0;
    for (size_t i = 0; i < ranking.count; i++) {
        const calc_mindspeed_candidate *c = &ranking.item[i];
        shares += c->best;
        if (c->config.pp == 1) {
            ck_assert_int_eq(c->source, CALC_MINDSPEED_UNTIMED);
            ck_assert(isinf(c->step_s) && !c->fits);
        } else if (c->source == CALC_MINDSPEED_MODELLED) {
            ck_assert_double_eq_tol(c->step_s, 100 + c->config.mbs - c->config.pp, 1e-12);
            ck_assert_double_eq_tol(c->sd_s, 3, 1e-12);
        }
    }
    ck_assert_double_eq_tol(shares, 1, 1e-12);
}

/* A model that is slower or faster by a factor is no other model: what was measured says by how
 * much, and the order stays. Of several measurements the median counts. */
CALC_TEST(predictions_are_on_the_scale_of_what_was_measured)
{
    static const double factors[] = {0.87, 1.15};
    rank_with(NULL, 1);
    ck_assert_double_eq(ranking.scale, 1);
    size_t count = ranking.fit;
    ck_assert_uint_gt(count, 4);
    calc_mindspeed_candidate *before = calloc(count, sizeof *before);
    memcpy(before, ranking.item, count * sizeof *before);
    for (size_t k = 0; k < 2; k++) {
        calc_mindspeed_result item[3];
        const double noise[] = {1, 0.5, 3};
        for (size_t i = 0; i < 3; i++) {
            item[i] = (calc_mindspeed_result){.config = before[i].config,
                                              .end = CALC_MINDSPEED_RAN,
                                              .step_s = factors[k] * noise[i] * before[i].step_s};
        }
        for (size_t n = 1; n <= 3; n += 2) {
            const calc_mindspeed_results results = {item, n};
            const calc_mindspeed_rank_times times = {.samples = 1, .results = &results};
            calc_mindspeed_rank_free(&ranking);
            ck_assert_int_eq(calc_mindspeed_rank(&study, &times, &ranking, &errors), CALC_OK);
            ck_assert_double_eq_tol(ranking.scale, factors[k], 1e-12);
            for (size_t i = 0; i < count && n == 1; i++) {
                ck_assert_double_eq_tol(ranking.item[i].step_s, factors[k] * before[i].step_s,
                                        1e-9);
                ck_assert_mem_eq(&ranking.item[i].config, &before[i].config,
                                 sizeof before[i].config);
            }
        }
    }
    free(before);
}

CALC_TEST(memory_by_calc)
{
    study.calc_memory = true;
    rank_with(NULL, 1);
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
    rank_with(NULL, 1);
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
    rank_with(NULL, 1);
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
    rank_with(NULL, 1);
    ck_assert_uint_eq(ranking.measured, 1);
    ck_assert_double_eq(candidate("PP8_TP1_DP1_CP1_UP1_MBS1")->step_s, 0.5);
    ck_assert_double_lt(ranking.scale, 1); /* and so are predictions of others */
    scratch_leave(folder);
}

/* Activations that shrink with the micro-batch make a fit that is negative elsewhere. */
CALC_TEST(a_bad_fit_is_told)
{
    char folder[512], text[CALC_MINDSPEED_NAME], file[CALC_MINDSPEED_NAME + 16], json[64];
    study.generation = CALC_MINDSPEED_GEN1;
    study.profiles = ".";
    scratch_enter(folder, sizeof folder);
    rank_with(NULL, 1);
    for (int i = 0; i < 5; i++) {
        const calc_mindspeed_config *c = &ranking.peak.probes.config[i];
        snprintf(file, sizeof file, "%s_MODULE.json",
                 calc_mindspeed_config_name(c, CALC_MINDSPEED_GEN1, text));
        snprintf(json, sizeof json, "{\"transformer_act_mem\": %.17g}",
                 5 - (double)c->mbs / (c->cp * c->up));
        put(file, json);
    }
    rank_with(NULL, 1);
    ck_assert_int_eq(ranking.notes.count, 1);
    ck_assert_ptr_nonnull(strstr(ranking.notes.text[0],
                                 "the fit of activations is bad: it is below "
                                 "0 for "));
    scratch_leave(folder);
}

CALC_TEST(spaces_without_probes_and_without_anything)
{
    const calc_mindspeed_rank_times times = {.samples = 1};
    study.generation = CALC_MINDSPEED_GEN1;
    args.job.batch = 1;
    rank_with(NULL, 1);
    ck_assert(!ranking.peak.regression);
    ck_assert_str_eq(ranking.notes.text[0], "no probes determine activations: memory is by the "
                                            "second generation's formulas");
    args.job.per_node = 4;
    args.job.batch = 256;
    rank_with(NULL, 1);
    ck_assert_str_eq(ranking.notes.text[0], "the space has no probe of group 5: memory is by the "
                                            "second generation's formulas");
    args.job.heads = args.job.groups = 1;
    args.job.seq = args.job.layers = args.job.batch = 1;
    calc_mindspeed_rank_free(&ranking);
    ck_assert_int_eq(calc_mindspeed_rank(&study, &times, &ranking, &errors), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text,
                     "no configuration divides 4 devices, 1 layers, 1 heads and 1 sequences");
}

/* Five multiplications in a folder below; a folder that is not there. */
CALC_TEST(a_folder)
{
    learn();
    calc_mindspeed_folder other;
    ck_assert_uint_eq(evidence.folder.details, 1);
    ck_assert_uint_eq(evidence.folder.kernels.count, 5);
    ck_assert_uint_eq(evidence.folder.comm.count, 0);
    ck_assert_int_eq(evidence.notes.count, 1);
    ck_assert_int_eq(calc_mindspeed_folder_read(&other, FOLDER "/none", &errors),
                     CALC_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "no such folder"));
    calc_mindspeed_folder_free(&other);
}

/* All five kernels took longer than calc says: so do steps, and they spread. */
CALC_TEST(samples_of_what_was_learnt)
{
    learn();
    const calc_mindspeed_config c = {4, 1, 2, 1, 1, 2, 1, 0};
    calc_mindspeed_modelled m;
    double first[SAMPLES], again[SAMPLES];
    ck_assert(calc_mindspeed_evidence_time(&evidence, &c, first, SAMPLES));
    ck_assert(calc_mindspeed_evidence_time(&evidence, &c, again, SAMPLES));
    ck_assert_mem_eq(first, again, sizeof first); /* of one draw */
    m = calc_mindspeed_modelled_of(&args.plan, &device, &c);
    double mean = 0, most = first[0], least = first[0];
    for (int i = 0; i < SAMPLES; i++) {
        mean += first[i] / SAMPLES;
        most = fmax(most, first[i]);
        least = fmin(least, first[i]);
    }
    ck_assert_double_gt(mean, m.step_s);
    ck_assert_double_lt(mean, 1.5 * m.step_s);
    ck_assert_double_gt(most, least);
}

/* A profile of modules says what 256 micro-batches of 16 layers take; its crop has all in one
 * stage. 32 heads on three ranks cannot be laid out. */
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
    const calc_mindspeed_config profiled = {2, 4, 1, 1, 1, 1, 1, 0}, not = {1, 8, 1, 1, 1, 1, 1, 0},
                                none = {1, 3, 1, 1, 1, 1, 1, 0};
    char folder[512];
    double s[SAMPLES];
    scratch_enter(folder, sizeof folder);
    scratch_write("PP1_TP4_DP2_CP1_UP1_MBS1_VP1_EP0_MODULE.json", text, strlen(text));
    study.profiles = ".";
    ck_assert(calc_mindspeed_evidence_time(&evidence, &profiled, s, SAMPLES));
    ck_assert_double_gt(s[0], 256 * 16 * 3);
    ck_assert_double_eq(s[0], s[SAMPLES - 1]);
    ck_assert(calc_mindspeed_evidence_time(&evidence, &not, s, SAMPLES));
    ck_assert_double_lt(s[0], 256 * 16 * 3);
    ck_assert(!calc_mindspeed_evidence_time(&evidence, &none, s, SAMPLES));
    ck_assert_uint_eq(evidence.profiled, 1);
    scratch_leave(folder);
}

static calc_mindspeed_next next_of(const calc_mindspeed_results *results, double threshold)
{
    const calc_mindspeed_rank_times times = {calc_mindspeed_evidence_time, &evidence, SAMPLES,
                                             results};
    const calc_mindspeed_loop_rules rules = {
        .samples = SAMPLES, .top_k = 3, .stop_threshold = threshold, .seed = 1};
    calc_mindspeed_rank_free(&ranking);
    ck_assert_int_eq(calc_mindspeed_rank(&study, &times, &ranking, &errors), CALC_OK);
    ck_assert(ranking.spread);
    calc_mindspeed_next next = calc_mindspeed_next_find(&ranking, results, &rules);
    return next;
}

/* Measuring what is proposed until nothing is: no configuration comes twice, few are needed. */
CALC_TEST(the_loop_from_outside)
{
    learn();
    calc_mindspeed_result runs[40];
    calc_mindspeed_results results = {runs, 0};
    calc_mindspeed_next next = next_of(&results, 0.05);
    ck_assert_double_eq(next.unmeasured, 1);
    while (next.stop == CALC_MINDSPEED_GOES_ON) {
        ck_assert_uint_eq(next.trials, results.count);
        ck_assert_uint_lt(results.count, 36);
        ck_assert_ptr_null(calc_mindspeed_results_find(&results, &next.config));
        ck_assert_double_gt(next.chance, 0);
        runs[results.count++] = (calc_mindspeed_result){
            .config = next.config, .end = CALC_MINDSPEED_RAN, .step_s = 16, .peak_bytes = NAN};
        next = next_of(&results, 0.05);
    }
    ck_assert_int_eq(next.stop, CALC_MINDSPEED_CONCENTRATED);
    ck_assert_double_le(next.unmeasured, 0.05);
    ck_assert_uint_le(results.count, 12);
}

/* One that lacks memory, and all that need as much, is no answer. */
CALC_TEST(a_run_that_lacked_memory)
{
    learn();
    calc_mindspeed_result run = {
        .config = {4, 1, 2, 1, 1, 2, 1, 0}, .end = CALC_MINDSPEED_OUT_OF_MEMORY, .peak_bytes = NAN};
    const calc_mindspeed_results results = {&run, 1};
    const calc_mindspeed_rank_times times = {NULL, NULL, 1, &results};
    calc_mindspeed_rank_free(&ranking);
    ck_assert_int_eq(calc_mindspeed_rank(&study, &times, &ranking, &errors), CALC_OK);
    double limit = 0;
    for (size_t i = 0; i < ranking.count; i++) {
        const calc_mindspeed_config *c = &ranking.item[i].config;
        if (c->pp == 4 && c->tp == 1 && c->dp == 2 && c->mbs == 2 && c->vpp == 1) {
            ck_assert(!ranking.item[i].fits);
            limit = ranking.item[i].peak_bytes;
        }
    }
    ck_assert_double_gt(limit, 0);
    ck_assert_uint_gt(ranking.fit, 0);
    for (size_t i = 0; i < ranking.fit; i++) {
        ck_assert(ranking.item[i].fits);
        ck_assert_double_lt(ranking.item[i].peak_bytes, limit);
    }
}
