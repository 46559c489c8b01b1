/* MindSpeed's own model of memory, beside sums made by hand. */
#include "mindspeed/memory.h"

#include <math.h>
#include <string.h>

#include "formats/import.h"
#include "formats/read.h"
#include "frame.h"
#include "gauss/process.h"
#include "io/text.h"
#include "mindspeed/arguments.h"
#include "mindspeed_jobs.h"
#include "scratch.h"
#include "small_case.h"

#define MIB 1048576.0
#define GIB 1073741824.0

/* 7 billion parameters, tp 8. A layer has 4 x 4096^2 of attention, 3 x 4096 x 11008 of feed-forward
 * and 4 x 4096 of norms, 202,391,552; 32 of them, 2 x 4096 of the last norm and twice
 * 32,000 x 4096 of embedding and head are 6,738,681,856, and an eighth of that is on each device.
 */
CALC_TEST(weights_of_a_dense_model)
{
    calc_mindspeed_job job = mindspeed_7b();
    const calc_mindspeed_config c = {1, 8, 1, 1, 1, 1, 1, 0};
    calc_mindspeed_memory m = calc_mindspeed_memory_of(&job, &c);
    assert_near(m.parameters, 6738681856.0 / 8);
    assert_near(m.weight_bytes, 2 * 842335232.0);
    assert_near(m.grad_bytes, 2 * 842335232.0);
    assert_near(m.optimizer_bytes, 16 * 842335232.0);
    /* Tokens 2048: a row of 2 x 2048 / 8 x 4096 bytes is 2 MiB. Two norms 4, QKV 6, attention 2,
     * projection 2, the last of the feed-forward 2: 16 MiB; its first 2 x 2048 x 22016 / 8 bytes,
     * and half of that after the gate. Over 32 layers of one micro-batch. */
    double layer = 16 * MIB + 1.5 * (2.0 * 2048 * 22016 / 8);
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer);
    assert_near(m.activation_bytes, 32 * layer);
    assert_near(m.peak_bytes, 20 * 842335232.0 + 32 * layer + 4.5 * GIB);
    job.untied = false; /* one table of 32,000 x 4096 less */
    assert_near(calc_mindspeed_memory_of(&job, &c).parameters, 6738681856.0 / 8 - 16384000);
    job.vocab = 0;
    assert_near(calc_mindspeed_memory_of(&job, &c).parameters, 6738681856.0 / 8 - 2 * 16384000);
}

/* Of four stages the first has 8 layers, the embedding, and a quarter of the last norm; chunks of 4
 * layers are kept 4 x 2 + 4 - 1 = 11 times, instead of 8 layers 4 times. */
CALC_TEST(stages_and_chunks)
{
    calc_mindspeed_job job = mindspeed_7b();
    const calc_mindspeed_config even = {4, 1, 2, 1, 1, 2, 1, 0};
    const calc_mindspeed_config chunks = {4, 1, 2, 1, 1, 2, 2, 0};
    calc_mindspeed_memory m = calc_mindspeed_memory_of(&job, &chunks);
    assert_near(m.parameters, 8 * 202391552.0 + 2048 + 131072000);
    double layer = calc_mindspeed_memory_layer_bytes(&job, &chunks);
    assert_near(layer, 256 * MIB + 1.5 * (2.0 * 2048 * 2 * 22016)); /* 2 sequences, tp 1 */
    assert_near(m.activation_bytes, 44 * layer);
    assert_near(calc_mindspeed_memory_of(&job, &even).activation_bytes, 32 * layer);
    job.full_recompute = true;
    ck_assert_double_eq(calc_mindspeed_memory_of(&job, &chunks).activation_bytes, 0);
}

/* The table, in bytes of a parameter on one of two replicas. */
CALC_TEST(the_state_of_a_parameter)
{
    static const struct {
        bool fp16, reuse, sharded;
        double weight, grad, optimizer;
    } rows[] = {{true, true, true, 2, 2, 4 + 8 / 2},  {true, false, true, 2, 2, 8 + 8 / 2},
                {true, true, false, 2, 2, 12},        {true, false, false, 2, 2, 16},
                {false, true, true, 0, 4, 4 + 8 / 2}, {false, false, true, 2, 4, 4 + 8 / 2},
                {false, true, false, 0, 4, 12},       {false, false, false, 2, 4, 12}};
    const calc_mindspeed_config c = {1, 4, 2, 1, 1, 1, 1, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        calc_mindspeed_job job = mindspeed_7b();
        job.fp16 = rows[i].fp16;
        job.reuse_fp32 = rows[i].reuse;
        job.distributed_optimizer = rows[i].sharded;
        calc_mindspeed_memory m = calc_mindspeed_memory_of(&job, &c);
        assert_near(m.weight_bytes, rows[i].weight * m.parameters);
        assert_near(m.grad_bytes, rows[i].grad * m.parameters);
        assert_near(m.optimizer_bytes, rows[i].optimizer * m.parameters);
    }
}

/* 8192 tokens over a ring of 2 and Ulysses of 2 are 2048; tp 2: a row is 8 MiB, a head-wise one of
 * 16 of 32 heads 8 MiB, of 4 of 8 groups 2 MiB. Two norms 16; QKV 8 + 2 x 2; attention 8, and 4
 * times that for Ulysses; the ring's mask 4; projection 8. Of two experts a token, ep 1: 4096
 * tokens meet weights of 2 x 14336 / 2, half of it after the gate, and leave 16 MiB; sent and
 * received 4096 rows of 8192 bytes, 32 MiB each. */
CALC_TEST(split_sequences_and_experts)
{
    calc_mindspeed_job job = mindspeed_experts();
    job.seq = 8192;
    const calc_mindspeed_config c = {2, 2, 1, 2, 2, 1, 1, 1};
    double attention = (12 + 40 + 4 + 8) * MIB;
    double wide = 2.0 * 4096 * 14336;
    double experts = 1.5 * wide + 16 * MIB + 64 * MIB;
    double layer = 16 * MIB + attention + experts;
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer);
    job.swap_attention = true;
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer - attention);
    job.recompute_activation_function = true;
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer - attention - wide / 2);
    job.swiglu = false; /* one matrix in, half as wide; nothing kept behind the function */
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c),
                layer - attention - experts + wide / 2 + 80 * MIB);
    job.recompute_activation_function = false; /* kept behind it, as wide as before it */
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c),
                layer - attention - experts + wide + 80 * MIB);
}

/* A layer: 2 x 4096^2 x (1 + 8/32) of attention, 8 experts of 3 x 4096 x 14336, norms. Experts over
 * four ranks have a quarter each, all else is whole; then ep times the tokens meet 1/ep of them. */
CALC_TEST(experts_over_ranks)
{
    calc_mindspeed_job job = mindspeed_experts();
    const calc_mindspeed_config one = {1, 2, 8, 1, 1, 1, 1, 1};
    const calc_mindspeed_config four = {1, 2, 8, 1, 1, 1, 1, 4};
    double rest = 32 * (2 * 16777216 * 1.25 + 16384) + 8192 + 2 * 131072000.0;
    double experts = 32 * 8 * 3 * 4096 * 14336.0;
    assert_near(calc_mindspeed_memory_of(&job, &one).parameters, (rest + experts) / 2);
    assert_near(calc_mindspeed_memory_of(&job, &four).parameters, rest / 2 + experts / 8);
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &four),
                calc_mindspeed_memory_layer_bytes(&job, &one));
}

/* Files of what MindSpeed's planner measured. */

#define MODULE(key, time) "\"" key "\": {\"time\": " time ", \"memory\": 0.5, \"max_memory\": 2}"
#define SECOND                                                                                     \
    "{" MODULE("embedding", "1") ", " MODULE("0", "20") ", " MODULE(                               \
        "final_layernorm", "0.5") ", " MODULE("output_layer",                                      \
                                              "8") ", " MODULE("loss",                             \
                                                               "3") ", \"step_time\": 400, "       \
                                                                    "\"forward_step_time\": 120, " \
                                                                    "\"backward_step_time\": "     \
                                                                    "240, \"1\": {\"time\": 9}}"

static calc_mindspeed_profile profile;
static calc_errors the_errors;

static calc_status parse(calc_mindspeed_generation generation, const char *text)
{
    the_errors = (calc_errors){0};
    return calc_mindspeed_modules_parse(&profile, generation, text, strlen(text), "a.json",
                                        &the_errors);
}

static void refuses(calc_mindspeed_generation generation, const char *text, const char *expected)
{
    char line[1024];
    ck_assert_int_ne(parse(generation, text), CALC_OK);
    ck_assert_int_gt(the_errors.count, 0);
    calc_error_print(&the_errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, expected);
}

CALC_TEST(the_first_generation)
{
    ck_assert_int_eq(parse(CALC_MINDSPEED_GEN1, "{\"step_time\": 2.5, \"transformer_act_mem\": "
                                                "0.25, \"more\": [1]}"),
                     CALC_OK);
    ck_assert_double_eq(profile.step_s, 2.5);
    ck_assert_double_eq(profile.layer_gib, 0.25);
    ck_assert_int_eq(parse(CALC_MINDSPEED_GEN1, "{\"transformer_act_mem\": 0.25}"), CALC_OK);
    ck_assert(isnan(profile.step_s));
    refuses(CALC_MINDSPEED_GEN1, "{}",
            "a.json: neither step_time nor transformer_act_mem is there");
}

CALC_TEST(the_second_generation)
{
    static const double time_ms[] = {1, 20, 0.5, 8, 3};
    ck_assert_int_eq(parse(CALC_MINDSPEED_GEN2, SECOND), CALC_OK);
    ck_assert_double_eq(profile.step_s, 0.4);
    ck_assert_double_eq(profile.forward_s, 0.12);
    ck_assert_double_eq(profile.backward_s, 0.24);
    for (int i = 0; i < CALC_MINDSPEED_MODULES; i++) {
        ck_assert_double_eq(profile.time_s[i], time_ms[i] * 1e-3);
        ck_assert_double_eq(profile.memory_gib[i], 0.5);
        ck_assert_double_eq(profile.most_gib[i], 2);
    }
    ck_assert(isnan(profile.layer_gib));
}

CALC_TEST(damaged_files)
{
    refuses(CALC_MINDSPEED_GEN2, "{\"step_time\": 400}", "a.json: missing forward_step_time");
    refuses(CALC_MINDSPEED_GEN2,
            "{\"step_time\": 1, \"forward_step_time\": 1, \"backward_step_time\": 1, "
            "\"embedding\": {\"time\": 1}}",
            "a.json: missing 0/time");
    refuses(CALC_MINDSPEED_GEN1, "{\"step_time\": \"inf\"}",
            "a.json:1:15: /step_time: expected a number, found string \"inf\"");
    refuses(CALC_MINDSPEED_GEN1, "{\"step_time\": 1",
            "a.json:1:15: the text ends too early\n  hint: the \"{\" of line 1 is not closed");
    ck_assert_int_ne(parse(CALC_MINDSPEED_GEN1, "{\"step_time\": -1}"), CALC_OK);
    ck_assert_int_ne(parse(CALC_MINDSPEED_GEN2, "{\"0\": 3}"), CALC_OK);
}

static calc_status from_folder(calc_mindspeed_generation generation,
                               const calc_mindspeed_config *config)
{
    const calc_mindspeed_job job = mindspeed_65b();
    the_errors = (calc_errors){0};
    return calc_mindspeed_modules_read(&profile, ".", &job, generation, config, &the_errors);
}

static void put(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}

/* Of itself before its crop, with and without the node's number. */
CALC_TEST(which_file_is_read)
{
    char folder[512];
    const calc_mindspeed_config c = {4, 2, 2, 2, 1, 1, 4, 0};
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN2, &c), CALC_ERR_NOT_FOUND);
    ck_assert_int_eq(the_errors.count, 0);
    ck_assert(isnan(profile.step_s));
    put("PP1_TP2_DP8_CP2_UP1_MBS1_VP1_EP0_MODULE.json", SECOND);
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN2, &c), CALC_OK);
    put("PP4_TP2_DP2_CP2_UP1_MBS1_VP4_EP0_node0_MODULE.json", "{");
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN2, &c), CALC_ERR_SYNTAX);
    ck_assert_int_eq(the_errors.count, 1);
    put("PP4_TP2_DP2_CP2_UP1_MBS1_MODULE.json", "{\"step_time\": 7}");
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN1, &c), CALC_OK);
    ck_assert_double_eq(profile.step_s, 7);
    scratch_leave(folder);
}

/* Four nodes at hand: 32 devices, of which a stage without a pipeline has all. */
CALC_TEST(what_is_run)
{
    const calc_mindspeed_config c = {4, 2, 2, 2, 1, 1, 4, 0};
    calc_mindspeed_job job = mindspeed_65b();
    calc_mindspeed_config crop = calc_mindspeed_modules_crop(&job, CALC_MINDSPEED_GEN2, &c);
    ck_assert_int_eq(crop.pp, 1);
    ck_assert_int_eq(crop.vpp, 1);
    ck_assert_int_eq(crop.dp, 8);
    job.nodes = 1; /* small for large */
    crop = calc_mindspeed_modules_crop(&job, CALC_MINDSPEED_GEN2, &c);
    ck_assert_int_eq(crop.dp, 2);
    ck_assert_int_eq(calc_mindspeed_modules_crop(&job, CALC_MINDSPEED_GEN1, &c).pp, 4);
}

/* Which configurations are measured. */

static calc_mindspeed_space space;

static calc_mindspeed_probes choose(const calc_mindspeed_job *job)
{
    calc_mindspeed_probes probes;
    calc_mindspeed_space_list(job, CALC_MINDSPEED_GEN1, &space);
    calc_mindspeed_probes_choose(&space, &probes);
    calc_mindspeed_space_free(&space);
    return probes;
}

/* Largest eigenvalue of the normal matrix by powers of it, and least by powers of its inverse. */
static double condition(const calc_mindspeed_probes *p)
{
    double a[16] = {0}, term[4], x[4] = {1, 0.7, 0.5, 0.3}, y[4] = {1, -0.7, 0.5, -0.3};
    double largest = 0, inverse = 0;
    for (int i = 0; i < p->count; i++) {
        calc_mindspeed_regression_terms(&p->config[i], term);
        for (int j = 0; j < 16; j++) {
            a[j] += term[j / 4] * term[j % 4];
        }
    }
    for (int step = 0; step < 2000; step++) {
        double next[4] = {0};
        largest = 0;
        for (int j = 0; j < 16; j++) {
            next[j / 4] += a[j] * x[j % 4];
        }
        for (int j = 0; j < 4; j++) {
            largest = fmax(largest, fabs(next[j]));
        }
        for (int j = 0; j < 4; j++) {
            x[j] = next[j] / largest;
        }
    }
    ck_assert(calc_gauss_factor(a, 4));
    for (int step = 0; step < 2000; step++) {
        calc_gauss_solve(a, 4, y);
        inverse = 0;
        for (int j = 0; j < 4; j++) {
            inverse = fmax(inverse, fabs(y[j]));
        }
        for (int j = 0; j < 4; j++) {
            y[j] /= inverse;
        }
    }
    return largest * inverse;
}

CALC_TEST(one_of_each_group)
{
    calc_mindspeed_job job = mindspeed_7b();
    calc_mindspeed_probes p = choose(&job);
    const calc_mindspeed_config *c = p.config;
    ck_assert_int_eq(p.count, 5);
    ck_assert_int_eq(p.empty, 0);
    ck_assert(c[0].cp == 1 && c[0].up == 1 && c[0].tp == 8);
    ck_assert(c[1].tp == 1 && c[1].up == 1 && c[1].pp > 1 && c[1].cp > 1);
    ck_assert(c[2].tp == 1 && c[2].cp == 1 && c[2].pp > 1 && c[2].up > 1);
    ck_assert(c[3].tp == 1 && c[3].cp > 1 && c[3].up > 1);
    ck_assert(c[4].tp > 1 && c[4].cp > 1 && c[4].up > 1);
    int differ = 0;
    for (int i = 0; i < 5; i++) {
        ck_assert_int_lt(c[i].mbs, 8);
        differ += c[i].mbs != c[0].mbs;
    }
    ck_assert_int_gt(differ, 0);
    ck_assert_double_lt(p.condition, 100); /* the first that is good enough */
    ck_assert_double_eq_tol(p.condition / condition(&p), 1, 1e-9);
}

CALC_TEST(of_many_nodes)
{
    calc_mindspeed_job job = mindspeed_65b();
    calc_mindspeed_probes p = choose(&job);
    ck_assert_int_eq(p.count, 5);
    ck_assert_double_eq_tol(p.condition / condition(&p), 1, 1e-9);
}

/* With four devices none has all three. */
CALC_TEST(a_group_without_any)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.per_node = 4;
    calc_mindspeed_probes p = choose(&job);
    ck_assert_int_eq(p.count, 0);
    ck_assert_int_eq(p.empty, 5);
}

/* A batch of 1 has one micro-batch only. */
CALC_TEST(micro_batches_must_differ)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.batch = 1;
    calc_mindspeed_probes p = choose(&job);
    ck_assert_int_eq(p.count, 0);
    ck_assert_int_eq(p.empty, 0);
    ck_assert(isinf(p.condition));
}

/* Configurations as executions, and what calc's model says of them. */

#define SCRIPT CALC_TEST_DATA "/mindspeed/llama_7b.launch"

static calc_mindspeed_arguments args;
static calc_system device;

static void setup(void)
{
    calc_errors errors = {0};
    calc_text text = {0};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_text_read(&text, SCRIPT, &errors), CALC_OK);
    ck_assert_int_eq(calc_settings_from_script(&settings, text.data, text.length, NULL), CALC_OK);
    ck_assert_int_eq(
        calc_mindspeed_arguments_read(&args, &settings, CALC_MINDSPEED_GEN2, NULL, &errors),
        CALC_OK);
    calc_settings_free(&settings);
    calc_text_free(&text);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &device,
                               CALC_DATA_DIR_SOURCE "/systems/ascend_910b.json", &errors),
                     CALC_OK);
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_exec exec_of(calc_mindspeed_config config)
{
    calc_errors errors = {0};
    calc_app app;
    calc_exec exec;
    calc_status status = calc_mindspeed_exec_of(&args.plan, &config, &app, &exec, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
    ck_assert_int_eq(app.num_blocks, 32);
    return exec;
}

/* The script has pp 8 and micro-batches of 4: neither is left. */
CALC_TEST(sizes_are_those_of_the_configuration)
{
    calc_exec e = exec_of((calc_mindspeed_config){4, 2, 1, 1, 1, 2, 8, 0});
    ck_assert_int_eq(e.num_procs, 8);
    ck_assert_int_eq(e.pipeline_par, 4);
    ck_assert_int_eq(e.pipeline_interleaving, 8);
    ck_assert_int_eq(e.strategy.tensor_par, 2);
    ck_assert_int_eq(e.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    ck_assert_int_eq(e.strategy.data_par, 1);
    ck_assert_int_eq(e.strategy.context_par, 0);
    ck_assert_int_eq(e.microbatch_size, 2);
    ck_assert_int_eq(e.batch_size, 256);
    ck_assert_int_eq(e.strategy.datatype, CALC_DATATYPE_FLOAT16);
}

CALC_TEST(split_sequences)
{
    calc_exec ring = exec_of((calc_mindspeed_config){1, 1, 4, 2, 1, 1, 1, 0});
    ck_assert_int_eq(ring.strategy.context_par, 2);
    ck_assert_int_eq(ring.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_RING);
    calc_exec heads = exec_of((calc_mindspeed_config){1, 1, 4, 1, 2, 1, 1, 0});
    ck_assert_int_eq(heads.strategy.context_par, 2);
    ck_assert_int_eq(heads.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_ULYSSES);
    calc_exec both = exec_of((calc_mindspeed_config){1, 1, 1, 2, 4, 1, 1, 0});
    ck_assert_int_eq(both.strategy.context_par, 8);
    ck_assert_int_eq(both.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_HIERARCHICAL);
    ck_assert_int_eq(both.strategy.context_par_inner, 4);
}

/* What scripts say of stages is dropped: with it, no other number of them would be possible. */
CALC_TEST(stages_of_the_script)
{
    const char *const words[] = {"--decoder-first-pipeline-num-layers", "3", "--num-layers", "32"};
    calc_settings settings = {0};
    calc_errors errors = {0};
    calc_plan plan;
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(calc_settings_from_words(&settings, words, 4), CALC_OK);
    const calc_import import = {.framework = &calc_framework_mindspeed, .settings = &settings};
    ck_assert_int_eq(calc_import_plan(&import, &plan, &errors), CALC_OK);
    calc_settings_free(&settings);
    const calc_mindspeed_config config = {4, 1, 2, 1, 1, 1, 1, 0};
    ck_assert_int_eq(calc_mindspeed_exec_of(&plan, &config, &app, &exec, &errors), CALC_OK);
    ck_assert_int_eq(exec.first_stage_blocks, 0);
}

/* calc_run() of the same execution, and what one layer of it keeps. */
CALC_TEST(by_the_model)
{
    const calc_mindspeed_config config = {1, 8, 1, 1, 1, 1, 1, 0};
    calc_errors errors = {0};
    calc_app app;
    calc_exec exec;
    calc_stats stats;
    calc_mindspeed_modelled m = calc_mindspeed_modelled_of(&args.plan, &device, &config);
    ck_assert_int_eq(calc_mindspeed_exec_of(&args.plan, &config, &app, &exec, &errors), CALC_OK);
    ck_assert_int_eq(calc_check(&app, &device, &exec, &errors), CALC_OK);
    calc_run(&app, &device, &exec, CALC_COMPAT_NONE, &stats);
    ck_assert_str_eq(m.why, "");
    ck_assert_double_eq(m.peak_bytes, stats.proc_mem_tier1_cap_req);
    ck_assert_double_eq(m.layer_bytes, stats.block_act_storage_space);
    ck_assert_double_gt(m.peak_bytes, 0);
}

/* One that does not fit has a peak; one that cannot be laid out has a reason. */
CALC_TEST(what_cannot_be_run)
{
    const calc_mindspeed_config whole = {1, 1, 8, 1, 1, 8, 1, 0};
    calc_mindspeed_modelled m = calc_mindspeed_modelled_of(&args.plan, &device, &whole);
    ck_assert(isfinite(m.peak_bytes));
    ck_assert_double_gt(m.peak_bytes, device.chip.mem1.capacity_bytes);
    const calc_mindspeed_config odd = {1, 3, 1, 1, 1, 1, 1, 0};
    m = calc_mindspeed_modelled_of(&args.plan, &device, &odd);
    ck_assert(isinf(m.peak_bytes));
    ck_assert_str_ne(m.why, "");
}
