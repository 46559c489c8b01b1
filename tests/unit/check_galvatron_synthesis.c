#include "galvatron/synthesis.h"

#include "frame.h"
#include "galvatron_case.h"
#include "scratch.h"
#include "shipped_case.h"

#include <math.h>
#include <stdlib.h>

const calc_test_frame calc_tests = {.timeout_s = 60};

typedef struct machine {
    calc_app app;
    calc_system system;
    calc_galvatron_request request;
    calc_galvatron_synthesis synthesis;
} machine_case;

static void open_machine(machine_case *m, const char *app, const char *system, int gpus)
{
    calc_errors errors = {0};
    load_shipped(CALC_KIND_APP, &m->app, "models", app);
    load_shipped(CALC_KIND_SYSTEM, &m->system, "systems", system);
    m->request = (calc_galvatron_request){.model = "m",
                                          .num_nodes = 1,
                                          .num_gpus_per_node = gpus,
                                          .mixed_precision = CALC_GALVATRON_BF16,
                                          .sequence_parallel = true,
                                          .async_grad_reduce = true,
                                          .max_bsz = 8,
                                          .max_tp_deg = -1,
                                          .max_sp_deg = -1,
                                          .max_pp_deg = -1,
                                          .debug_costmodel_coe = 1};
    calc_galvatron_layers_of_app(&m->app, &m->request);
    m->synthesis = (calc_galvatron_synthesis){&m->app, &m->system, &m->request};
    ck_assert_int_eq(calc_galvatron_synthesis_check(&m->synthesis, &errors), CALC_OK);
}

static json_t *written(const machine_case *m, calc_galvatron_file file)
{
    calc_text text = {0};
    calc_output *out;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_galvatron_synthesis_write(&m->synthesis, file, out);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    json_t *json = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(json);
    calc_text_free(&text);
    return json;
}

static double at(const json_t *json, const char *a, const char *b, const char *c, const char *d)
{
    const char *keys[] = {a, b, c, d};
    for (int i = 0; i < 4 && keys[i]; i++) {
        json = json_object_get(json, keys[i]);
        ck_assert_msg(json != NULL, "%s", keys[i]);
    }
    return json_number_value(json);
}

CALC_TEST(memory_is_that_of_the_models_own_numbers)
{
    machine_case m;
    open_machine(&m, "llama2-7B", "a100_sxm_80g", 8);
    json_t *json = written(&m, CALC_GALVATRON_FILE_MEMORY);
    const double mb = 1048576, hidden = 4096;
    double layer = 4 * hidden * hidden + 3 * hidden * 11008 + 2 * hidden, table = 32000 * hidden;
    ck_assert_double_eq(at(json, "layertype_0_sp", "4096", "parameter_size", NULL), layer * 4 / mb);
    ck_assert_double_eq(at(json, "layertype_0", "2048", "parameter_size", NULL), layer * 4 / mb);
    ck_assert_double_eq(at(json, "other_memory_pp_on_first_sp", "4096", "model_states", "1"),
                        table * 16 / mb);
    ck_assert_double_eq(at(json, "other_memory_pp_on_last_sp", "4096", "model_states", "1"),
                        (table + hidden) * 16 / mb);
    ck_assert_double_eq(at(json, "other_memory_pp_off_sp", "4096", "model_states", "1"),
                        (2 * table + hidden) * 16 / mb);
    /* A layer that is computed again keeps its input: two bytes a value, on every rank alike. */
    ck_assert_double_eq(
        at(json, "layertype_0_sp", "4096", "tp_activation_per_bsz_dict", "checkpoint"),
        2 * 4096 * hidden / mb);
    /* Sequence parallelism splits what tensor parallelism leaves whole. */
    double whole = at(json, "layertype_0", "4096", "tp_activation_per_bsz_dict", "8");
    double split = at(json, "layertype_0_sp", "4096", "tp_activation_per_bsz_dict", "8");
    ck_assert_double_lt(split, whole);
    ck_assert_double_eq(at(json, "layertype_0", "4096", "tp_activation_per_bsz_dict", "1"),
                        at(json, "layertype_0_sp", "4096", "tp_activation_per_bsz_dict", "1"));
    json_decref(json);
}

CALC_TEST(keys_are_upstreams)
{
    static const char *const allreduce[] = {
        "allreduce_size_4_consec_1", "allreduce_size_2_consec_1", "allreduce_size_2_consec_0"};
    machine_case m;
    const char *key;
    json_t *value;
    size_t i = 0;
    open_machine(&m, "llama2-7B", "a100_sxm_80g", 4);
    json_t *json = written(&m, CALC_GALVATRON_FILE_ALLREDUCE);
    ck_assert_uint_eq(json_object_size(json), 3);
    json_object_foreach (json, key, value) {
        ck_assert_str_eq(key, allreduce[i++]);
    }
    json_decref(json);
    json = written(&m, CALC_GALVATRON_FILE_P2P);
    ck_assert_uint_eq(json_object_size(json), 2);
    ck_assert_double_gt(at(json, "pp_size_4", NULL, NULL, NULL), 0);
    json_decref(json);
    json = written(&m, CALC_GALVATRON_FILE_OVERLAP);
    ck_assert_uint_eq(json_object_size(json), 1);
    ck_assert_double_ge(at(json, "overlap_coe", NULL, NULL, NULL), 1);
    json_decref(json);
    json = written(&m, CALC_GALVATRON_FILE_COLLECTIVES);
    ck_assert_uint_eq(json_object_size(json), 2 * 2 * 11);
    ck_assert_double_gt(at(json, "allreduce_size_4_1024MB_time", NULL, NULL, NULL),
                        at(json, "all2all_size_4_1024MB_time", NULL, NULL, NULL));
    json_decref(json);
    json = written(&m, CALC_GALVATRON_FILE_COMPUTATION);
    ck_assert_uint_eq(json_object_size(json), 2 * (12 + 4));
    /* Static mode takes the first row: one sample of the request's sequence. */
    ck_assert_str_eq(json_object_iter_key(json_object_iter(json)), "layertype_0_bsz1_seq4096");
    ck_assert_double_gt(at(json, "layertype_other_bsz12_seq4096", NULL, NULL, NULL), 0);
    json_decref(json);
}

CALC_TEST(bus_traffic_of_an_all_reduce_is_counted)
{
    machine_case m;
    open_machine(&m, "llama2-7B", "a100_sxm_80g", 8);
    /* Nearly what one rank sends: 2 * 7/8 of the message in the time of the longest of the table.
     */
    double ms = calc_galvatron_measure_collective_ms(&m.synthesis, true, 8, 512);
    double bandwidth = calc_galvatron_measure_allreduce(&m.synthesis, 8, true);
    ck_assert_double_eq_tol(bandwidth, 2 * 7.0 / 8 * 512 / ms, 1e-12 * bandwidth);
    m.request.num_nodes = 2;
    /* Half as many of the strided ranks are in a node. */
    ck_assert_double_lt(calc_galvatron_measure_allreduce(&m.synthesis, 2, false), bandwidth / 4);
    ck_assert_double_eq(calc_galvatron_measure_allreduce(&m.synthesis, 8, true), bandwidth);
}

CALC_TEST(messages_that_take_of_the_processor_slow_it_down)
{
    machine_case m;
    open_machine(&m, "llama2-7B", "a100_sxm_80g", 8);
    m.system.networks[0].processor_usage = 0.2;
    ck_assert_double_eq(calc_galvatron_measure_overlap(&m.synthesis), 1.25);
    m.system.networks[0].processor_usage = 0;
    ck_assert_double_eq(calc_galvatron_measure_overlap(&m.synthesis), 1);
}

/* A step of one GPU, as Galvatron's model has it from these profiles, is calc's but for a backward
 * pass of exactly twice the forward one, and the optimizer, which it leaves out. */
CALC_TEST_LOOP(a_step_from_them_is_that_of_the_model, 0, 3)
{
    static const calc_galvatron_time_mode modes[] = {
        CALC_GALVATRON_TIME_STATIC, CALC_GALVATRON_TIME_BATCH, CALC_GALVATRON_TIME_SEQUENCE};
    machine_case m;
    calc_errors errors = {0};
    calc_exec exec;
    calc_stats stats;
    static calc_galvatron_profiles profiles;
    const calc_galvatron_strategy alone = {1, 1, 1, 1, 1, CALC_GALVATRON_DDP, false};
    open_machine(&m, "llama2-7B", "a100_sxm_80g", 1);
    m.request.time_profile_mode = modes[_i];
    ck_assert_int_eq(
        calc_galvatron_profiles_of_model(&m.app, &m.system, &m.request, &profiles, &errors),
        CALC_OK);
    const calc_galvatron_case c = {
        .request = &m.request, .profiles = &profiles, .gbsz = 4, .chunks = 4};
    const calc_galvatron_layer_cost layer = calc_galvatron_layer_cost_of(&c, &alone, 0);
    double layers = (double)calc_galvatron_layer_count(&m.request);
    double sync_s = layers * layer.sync_s;
    double nosync_s = layers * layer.nosync_s + calc_galvatron_ends_cost_of(&c, &alone, 0).nosync_s;
    double step_s = calc_galvatron_pipeline_s(1, c.chunks, &sync_s, &nosync_s);
    load_shipped(CALC_KIND_EXEC, &exec, "executions", "llama3-8B_8");
    exec.num_procs = 1;
    exec.batch_size = 4;
    exec.microbatch_size = 1;
    exec.seq_size = 4096;
    exec.strategy.tensor_par = exec.strategy.data_par = exec.pipeline_par = 1;
    exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIHEAD;
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    exec.strategy.seq_par_ag_redo = exec.strategy.optimizer_sharding = false;
    exec.strategy.zero_stage = exec.strategy.context_par = 0;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    exec.strategy.data_par_overlap = false;
    ck_assert_msg(calc_check(&m.app, &m.system, &exec, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    calc_run(&m.app, &m.system, &exec, CALC_COMPAT_NONE, &stats);
    double model_s = stats.total_time - stats.optim_step_time;
    ck_assert_msg(fabs(step_s / model_s - 1) < 0.05, "%g beside %g", step_s, model_s);
}

CALC_TEST_LOOP(files_read_back_are_the_same_profiles, 0, 2)
{
    static calc_galvatron_profiles direct, read;
    static const calc_galvatron_paths paths = {{".", ".", ".", ".", ".", "."}};
    machine_case m;
    char folder[256];
    calc_errors errors = {0};
    open_machine(&m, "llama3-8B", "h100_sxm", 8);
    m.request.num_nodes = 2;
    m.request.time_profile_mode = _i ? CALC_GALVATRON_TIME_SEQUENCE : CALC_GALVATRON_TIME_BATCH;
    m.request.memory_profile_mode =
        _i ? CALC_GALVATRON_MEMORY_SEQUENCE : CALC_GALVATRON_MEMORY_STATIC;
    scratch_enter(folder, sizeof folder);
    for (int file = 0; file < CALC_GALVATRON_FILE_COUNT; file++) {
        char name[256];
        calc_output *out;
        calc_galvatron_file_name(&m.request, (calc_galvatron_file)file, name, sizeof name);
        ck_assert_int_eq(calc_output_open(&out, name, &errors), CALC_OK);
        calc_galvatron_synthesis_write(&m.synthesis, (calc_galvatron_file)file, out);
        ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    }
    ck_assert_int_eq(scratch_count(), 6);
    ck_assert_msg(calc_galvatron_profiles_load(&read, &m.request, &paths, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    ck_assert_int_eq(
        calc_galvatron_profiles_of_model(&m.app, &m.system, &m.request, &direct, &errors), CALC_OK);
    ck_assert_int_eq(read.notes.count, 0);
    ck_assert_double_eq(read.layer[0].line.slope, direct.layer[0].line.slope);
    ck_assert_double_eq(read.layer[0].line.offset, direct.layer[0].line.offset);
    ck_assert_double_eq(read.other.line.offset, direct.other.line.offset);
    ck_assert_double_eq(read.overlap, direct.overlap);
    ck_assert_mem_eq(&read.memory[0], &direct.memory[0], sizeof read.memory[0]);
    ck_assert_mem_eq(read.other_memory, direct.other_memory, sizeof read.other_memory);
    ck_assert_mem_eq(read.consecutive, direct.consecutive, sizeof read.consecutive);
    ck_assert_mem_eq(read.strided, direct.strided, sizeof read.strided);
    ck_assert_mem_eq(read.p2p, direct.p2p, sizeof read.p2p);
    ck_assert_mem_eq(read.all_gather[4].ms, direct.all_gather[4].ms, sizeof read.all_gather[4].ms);
    ck_assert_double_gt(read.p2p[4], 0);
    ck_assert_int_eq(read.all_to_all[4].count, 11);
    scratch_leave(folder);
}

CALC_TEST(experts_are_said_to_be_a_mean)
{
    machine_case m;
    calc_errors errors = {0};
    static calc_galvatron_profiles profiles;
    open_machine(&m, "mixtral-8x7B", "h100_sxm", 8);
    ck_assert_int_eq(
        calc_galvatron_profiles_of_model(&m.app, &m.system, &m.request, &profiles, &errors),
        CALC_OK);
    ck_assert_int_eq(profiles.notes.count, 1);
    ck_assert_ptr_nonnull(strstr(profiles.notes.text[0], "the mean of both"));
}

CALC_TEST(degrees_beyond_the_heads_are_halves)
{
    machine_case m;
    calc_galvatron_measured out;
    open_machine(&m, "llama3-8B", "h100_sxm", 64); /* 32 heads */
    calc_galvatron_run run = {.tensor_par = 32, .batch = 1, .sequence = 8192, .sequence_par = true};
    ck_assert(calc_galvatron_measure(&m.synthesis, &run, &out));
    run.tensor_par = 64;
    ck_assert(!calc_galvatron_measure(&m.synthesis, &run, &out));
    json_t *json = written(&m, CALC_GALVATRON_FILE_MEMORY);
    ck_assert_double_eq(at(json, "layertype_0_sp", "8192", "tp_activation_per_bsz_dict", "64"),
                        at(json, "layertype_0_sp", "8192", "tp_activation_per_bsz_dict", "32") / 2);
    json_decref(json);
}

CALC_TEST(what_cannot_be_profiled_is_said)
{
    machine_case m;
    calc_errors errors = {0};
    open_machine(&m, "llama2-7B", "a100_sxm_80g", 8);
    m.request.num_nodes = 3;
    ck_assert_int_eq(calc_galvatron_synthesis_check(&m.synthesis, &errors), CALC_ERR_RANGE);
    m.request.num_nodes = 1;
    m.request.types = 2;
    ck_assert_int_eq(calc_galvatron_synthesis_check(&m.synthesis, &errors), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[1].text,
                     "2 types of layers, expected 1: models of calc have no more");
}
