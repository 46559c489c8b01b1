/* A folder of measurements, what is learnt from it, and what to measure next. */
#include "mindspeed/loop.h"

#include <math.h>
#include <string.h>

#include "formats/read.h"
#include "frame.h"
#include "mindspeed/memory.h"
#include "scratch.h"

#define FOLDER CALC_TEST_DATA "/mindspeed/profiles"
#define FLAGS                                                                                      \
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 11008 --num-attention-heads 32 "         \
    "--seq-length 2048 --global-batch-size 256 --use-flash-attn --fp16 --swiglu --vocab-size "     \
    "32000 --normalization RMSNorm --position-embedding-type rope --disable-bias-linear "          \
    "--untie-embeddings-and-output-weights --nnodes 1 --nproc-per-node 8"

enum { SAMPLES = 50 };

static calc_mindspeed_arguments args;
static calc_system device;
static calc_mindspeed_study study;
static calc_mindspeed_evidence evidence;
static calc_errors errors;

static void setup(void)
{
    const calc_mindspeed_sampling sampling = {SAMPLES, 1, 0};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, FLAGS, strlen(FLAGS)), CALC_OK);
    ck_assert_int_eq(
        calc_mindspeed_arguments_read(&args, &settings, CALC_MINDSPEED_GEN2, NULL, &errors),
        CALC_OK);
    calc_settings_free(&settings);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &device,
                               CALC_DATA_DIR_SOURCE "/systems/ascend_910b.json", &errors),
                     CALC_OK);
    study = (calc_mindspeed_study){.arguments = &args,
                                   .system = &device,
                                   .generation = CALC_MINDSPEED_GEN2,
                                   .profiles = FOLDER};
    ck_assert_int_eq(calc_mindspeed_evidence_start(&evidence, &study, &sampling, &errors), CALC_OK);
}

static void teardown(void)
{
    calc_mindspeed_evidence_free(&evidence);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = teardown};

/* Five multiplications in a folder below; a folder that is not there. */
CALC_TEST(a_folder)
{
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
    calc_mindspeed_ranking ranking;
    ck_assert_int_eq(calc_mindspeed_rank(&study, &times, &ranking, &errors), CALC_OK);
    ck_assert(ranking.spread);
    calc_mindspeed_next next = calc_mindspeed_next_find(&ranking, results, &rules);
    calc_mindspeed_rank_free(&ranking);
    return next;
}

/* Measuring what is proposed until nothing is: no configuration comes twice, few are needed. */
CALC_TEST(the_loop_from_outside)
{
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
    calc_mindspeed_result run = {
        .config = {4, 1, 2, 1, 1, 2, 1, 0}, .end = CALC_MINDSPEED_OUT_OF_MEMORY, .peak_bytes = NAN};
    const calc_mindspeed_results results = {&run, 1};
    const calc_mindspeed_rank_times times = {NULL, NULL, 1, &results};
    calc_mindspeed_ranking ranking;
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
    calc_mindspeed_rank_free(&ranking);
}
