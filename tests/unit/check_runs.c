/* Runs in CSV, by documents, options or fields, and what they are to the model. */
#include "validate/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "frame.h"
#include "io/space_load.h"
#include "validate/error_groups.h"
#include "validate/residuals.h"

static calc_runs runs;
static calc_errors errors;
static int loads; /* documents that were read */

static calc_status load(calc_kind kind, const char *name, void *object, calc_errors *found)
{
    static const char *const folders[] = {"models", "systems", "executions"};
    char path[512];
    loads++;
    bool own = strcmp(name, "mine") == 0;
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%s.json", folders[kind],
             own ? "h100_sxm" : name);
    return calc_load(kind, object, path, found);
}

/* A layout of the processors that are asked for, and nothing else. */
static calc_status load_arguments(const char *arguments, int64_t procs, bool whole, calc_app *app,
                                  calc_exec *exec, calc_errors *found)
{
    if (strcmp(arguments, "--bad") == 0) {
        return calc_errors_at(found, CALC_ERR_RANGE, NULL, 7, 7, NULL, "--bad: expected good");
    }
    calc_status app_status = load(CALC_KIND_APP, "llama2-7B", app, found);
    calc_status status = load(CALC_KIND_EXEC, "llama3-70B_512", exec, found);
    app->hidden = whole ? app->hidden : 0;
    app->seq_size = 2048;
    exec->num_procs = procs;
    return app_status == CALC_OK ? status : app_status;
}

/* Documents of the source tree. */
static calc_status find_software(void *context, calc_kind kind, const char *name, char *path,
                                 size_t size, calc_errors *found)
{
    (void)context;
    snprintf(path, size, CALC_DATA_DIR_SOURCE "/executions/%s.json", name);
    return kind == CALC_KIND_EXEC ? CALC_OK : calc_errors_no_memory(found);
}

static calc_status read_software(calc_exec *exec, calc_errors *found)
{
    return calc_software_read(exec, find_software, NULL, found);
}

static char ignored[64]; /* columns */

static void ignore(const char *file, const char *column)
{
    ck_assert_str_eq(file, "runs/spring.csv");
    strcat(strcat(ignored, column), " ");
}

static calc_runs_loader loader = {load, load_arguments, read_software, ignore, NULL};

static calc_status parse_by(const char *csv, const calc_runs_loader *by)
{
    errors = (calc_errors){0};
    loads = 0;
    ignored[0] = '\0';
    calc_runs_free(&runs);
    calc_text text = {.data = strdup(csv), .length = strlen(csv)};
    return calc_runs_parse(&runs, text, "runs/spring.csv", by, &errors);
}

static calc_status parse(const char *csv)
{
    return parse_by(csv, &loader);
}

static void leave(void)
{
    calc_runs_free(&runs);
    loader.machine = NULL;
}

const calc_test_frame calc_tests = {.teardown = leave};

static void fails(const char *csv, calc_status status, int line, int column, const char *text)
{
    ck_assert_int_eq(parse(csv), status);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_str_eq(errors.item[0].file, "runs/spring.csv");
    ck_assert_int_eq(errors.item[0].line, line);
    ck_assert_int_eq(errors.item[0].column, column);
}

/* ---- Documents ------------------------------------------------------------------------------- */

CALC_TEST(documents_are_a_run)
{
    ck_assert_int_eq(parse("app,sys,exe,measured_s,measured_mem_gib\n"
                           "llama3-70B,mine,llama3-70B_512,15,40\n"
                           "llama3-70B,mine,llama3-70B_512,16,\n"),
                     CALC_OK);
    ck_assert_uint_eq(runs.count, 2);
    ck_assert_int_eq(loads, 3); /* once, as names repeat */
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(load(CALC_KIND_APP, "llama3-70B", &app, &errors), CALC_OK);
    ck_assert_int_eq(load(CALC_KIND_EXEC, "llama3-70B_512", &exec, &errors), CALC_OK);
    const calc_runs_row *row = &runs.row[0];
    calc_run_map map;
    calc_run_map_row(&map, row);
    ck_assert_ptr_null(map.reason);
    ck_assert(map.app.hidden == app.hidden && map.app.vocab_size == app.vocab_size);
    ck_assert(map.exec.num_procs == 512 && map.exec.batch_size == exec.batch_size);
    ck_assert(map.measured[CALC_QUANTITY_STEP_TIME] == 15 &&
              map.measured[CALC_QUANTITY_MEMORY] == 40 * 1073741824.0 && !map.search);
    ck_assert_str_eq(row->sys, "mine");
    ck_assert_str_eq(row->source, "spring");
    ck_assert_str_eq(row->id, "spring:2");
    ck_assert_str_eq(row->model, "llama3-70B");
    ck_assert_int_eq(row->line, 2);
}

CALC_TEST(columns_of_fields_change_the_documents)
{
    ck_assert_int_eq(parse("app,sys,exe,measured_s,hidden,tensor_par,exe.batch_size,date,name\n"
                           "llama3-70B,mine,llama3-70B_512,15,4096,2,64,monday,a\n"
                           "llama3-70B,mine,llama3-70B_512,15,,,,sunday,b\n"),
                     CALC_OK);
    ck_assert_str_eq(ignored, "date "); /* once */
    const calc_run_documents *own = runs.row[0].document;
    ck_assert(own->app.hidden == 4096 && own->exec.strategy.tensor_par == 2);
    ck_assert(own->exec.batch_size == 64 && !own->by_fields);
    own = runs.row[1].document; /* a row does not touch the next */
    ck_assert(own->app.hidden == 8192 && own->exec.strategy.tensor_par == 4);
    ck_assert_str_eq(runs.row[1].id, "b");
    /* procs is the number of processors. */
    ck_assert_int_eq(parse("app,sys,exe,procs,measured_s\nllama3-70B,mine,llama3-70B_512,64,15\n"),
                     CALC_OK);
    ck_assert_int_eq(runs.row[0].document->exec.num_procs, 64);
}

CALC_TEST(options_are_a_layout_and_a_model)
{
    ck_assert_int_eq(parse("app,sys,arguments,procs,measured_s\n"
                           "llama3-70B,mine,--x 1,16,15\n"
                           ",mine,--x 1,16,15\n"),
                     CALC_OK);
    ck_assert_int_eq(runs.row[0].document->app.hidden, 8192);
    ck_assert_int_eq(runs.row[0].document->exec.num_procs, 16);
    ck_assert_int_eq(runs.row[0].document->exec.seq_size, 2048);
    ck_assert_int_eq(runs.row[1].document->app.hidden, 4096);
    ck_assert_int_eq(runs.row[1].document->app.seq_size, 2048);
    ck_assert_str_eq(runs.row[1].model, "arguments");
    fails("app,sys,arguments,procs,measured_s\n,mine,--bad,16,15\n", CALC_ERR_RANGE, 2, 7,
          "--bad: expected good");
}

/* ---- Fields alone ---------------------------------------------------------------------------- */

#define FIELDS                                                                                     \
    "id,sys,procs,hidden,feedforward,attn_heads,attn_size,num_blocks,app.seq_size,vocab_size,"     \
    "tensor_par,pipeline_par,"                                                                     \
    "data_par,batch_size,microbatch_size,pipeline_interleaving,datatype,training,assumed,"         \
    "unpredicted,inter_node_gbit,memory_counting,measured_s,measured_tokens_per_s_per_gpu,"        \
    "measured_tflops_per_gpu,tflops_counting,measured_mem_gib\n"
#define SIZES "mine,16,4096,16384,32,128,32,2048,32000,2,2,4,64,"

static calc_run_map map;

static void map_row(const char *cells)
{
    char csv[2048];
    snprintf(csv, sizeof csv, FIELDS "x," SIZES "%s\n", cells);
    ck_assert_int_eq(parse_by(csv, NULL), CALC_OK);
    calc_run_map_row(&map, &runs.row[0]);
}

CALC_TEST(fields_say_all_where_no_document_is_named)
{
    map_row("4,1,float16,true,a | b; c | a,,100,allocated,2.5,,,,3");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(loads, 0);
    ck_assert(map.row->document->by_fields && !map.search);
    ck_assert(map.app.hidden == 4096 && map.app.num_blocks == 32 && map.app.seq_size == 2048);
    ck_assert_int_eq(map.exec.seq_size, 0);
    ck_assert_int_eq(map.exec.num_procs, 16);
    ck_assert_int_eq(map.exec.microbatch_size, 4);
    ck_assert_int_eq(map.exec.strategy.datatype, CALC_DATATYPE_FLOAT16);
    ck_assert_int_eq(map.exec.strategy.expert_par_net, -1); /* as an absent key */
    ck_assert(map.exec.training && !map.exec.strategy.weight_offload);
    ck_assert(map.measured[CALC_QUANTITY_STEP_TIME] == 2.5 &&
              map.measured[CALC_QUANTITY_MEMORY] == 3 * 1073741824.0);
    ck_assert_int_eq(map.assumed.count, 2);
    ck_assert_str_eq(map.assumed.text[0], "a");
    ck_assert_str_eq(map.assumed.text[1], "b; c");
    ck_assert(calc_run_map_counts(&map, "allocated") && !calc_run_map_counts(&map, "reserved"));
    /* Another rate of the outermost network, where there are two. */
    static calc_system system, own;
    ck_assert_int_eq(load(CALC_KIND_SYSTEM, "mine", &system, &errors), CALC_OK);
    ck_assert_double_eq(
        calc_run_map_system(&map, &system, &own)->networks[system.networks_count - 1].bytes_per_s,
        12.5e9);
    system.networks_count = 1;
    ck_assert_ptr_eq(calc_run_map_system(&map, &system, &own), &system);
}

CALC_TEST(a_micro_batch_that_is_not_known_is_to_be_found)
{
    map_row(",,bfloat16,true,,,,,2.5,,,,");
    ck_assert(map.search && map.exec.microbatch_size == 1 && map.exec.pipeline_interleaving == 1);
}

CALC_TEST(rates_are_turned_into_times)
{
    map_row("1,1,bfloat16,true,,,,,,512,,,");
    ck_assert_double_eq(map.measured[CALC_QUANTITY_STEP_TIME], 64 * 2048 / (512.0 * 16));
    /* Two matrices of 4 widths and attention's four, the square whole, the head: 6 a token. */
    const double h = 4096, tokens = 64 * 2048.0;
    const double model = 6 * tokens * (32 * (12 * h * h + 2 * 2048 * h) + 32000 * h);
    map_row("1,1,bfloat16,true,,,,,,,100,model,");
    ck_assert_double_eq_tol(map.measured[CALC_QUANTITY_STEP_TIME], model / (100e12 * 16),
                            1e-12 * map.measured[CALC_QUANTITY_STEP_TIME]);
    ck_assert_str_eq(map.assumed.text[0], "FLOP of matrices and of the square of attention");
    map_row("1,1,bfloat16,true,,,,,,,100,,");
    ck_assert_str_eq(map.reason, "FLOP/s are printed, but not how they are counted");
    map_row("1,1,bfloat16,true,,,,,,,100,,3");
    ck_assert_ptr_null(map.reason); /* memory is left */
    map_row("1,1,bfloat16,true,,,,,,,,,");
    ck_assert_str_eq(map.reason, "no measured time or memory");
}

CALC_TEST(a_row_may_say_why_it_is_not_predicted)
{
    ck_assert_int_eq(parse(FIELDS "x,,,,,,,,,,,,,,,,,,,a hybrid,,,3,,,,2\n"), CALC_OK);
    calc_run_map_row(&map, &runs.row[0]);
    ck_assert_str_eq(map.reason, "a hybrid");
    ck_assert(map.measured[CALC_QUANTITY_STEP_TIME] == 3 &&
              map.measured[CALC_QUANTITY_MEMORY] == 2 * 1073741824.0);
}

#define OUTCOME "app,sys,exe,outcome,measured_s\nllama3-70B,mine,llama3-70B_512,"

CALC_TEST(a_run_out_of_memory_needs_no_measurement_and_is_not_scored)
{
    static calc_documents systems;
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
    calc_remarks remarks = {0};
    calc_results results = {0};
    ck_assert_int_eq(parse(OUTCOME "oom,\n"), CALC_OK);
    ck_assert(calc_runs_is_oom(&runs.row[0]));
    ck_assert_int_eq(
        calc_results_make(&results,
                          &(const calc_measured_runs){
                              .runs = &runs, .files = 1, .remarks = &remarks, .systems = &systems},
                          &errors),
        CALC_OK);
    ck_assert_int_eq(results.item[0].use, CALC_USE_UNSCORED);
    ck_assert_str_eq(results.item[0].remark, "ran out of memory");
    ck_assert(results.prediction[0].need_bytes > 0x1p30);
    calc_results_free(&results);
    ck_assert_int_eq(parse(OUTCOME "ok,15\n"), CALC_OK);
    ck_assert(!calc_runs_is_oom(&runs.row[0]));
    fails(OUTCOME "crashed,15\n", CALC_ERR_FIELD, 2, 32, "outcome: expected ok or oom, or nothing");
}

CALC_TEST(a_default_machine_is_that_of_rows_without_one)
{
    loader.machine = "mine";
    ck_assert_int_eq(parse("app,exe,measured_s\nllama3-70B,llama3-70B_512,1\n"), CALC_OK);
    ck_assert_str_eq(runs.row[0].sys, "mine");
    ck_assert_int_eq(parse("app,sys,exe,measured_s\nllama3-70B,h100_sxm,llama3-70B_512,1\n"),
                     CALC_OK);
    ck_assert_str_eq(runs.row[0].sys, "h100_sxm");
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The names of the sets of times, with their members. */
static void has_sets(const char *csv, const char *expected)
{
    static calc_documents systems;
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
    calc_remarks remarks = {0};
    calc_results results = {0};
    calc_error_groups groups = {0};
    char found[512] = "";
    ck_assert_int_eq(parse(csv), CALC_OK);
    ck_assert_int_eq(
        calc_results_make(&results,
                          &(const calc_measured_runs){
                              .runs = &runs, .files = 1, .remarks = &remarks, .systems = &systems},
                          &errors),
        CALC_OK);
    calc_error_groups_make(&groups, &results, NULL, NULL);
    for (size_t i = 0; i < groups.count; i++) {
        if (strcmp(groups.item[i].by, "set") == 0) {
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s %zu;",
                     groups.item[i].name, groups.item[i].spread.count);
        }
    }
    ck_assert_str_eq(found, expected);
    calc_error_groups_free(&groups);
    calc_results_free(&results);
}

#define GROUPS "app,sys,exe,measured_s,source\n"
#define ON(machine, source) "llama3-70B," machine ",llama3-70B_512,15," source "\n"

CALC_TEST(groups_are_machines_and_sources_but_no_set_twice)
{
    has_sets(GROUPS ON("mine", "") ON("mine", ""), "mine 2;");
    has_sets(GROUPS ON("mine", "") ON("h100_sxm", ""), "mine 1;h100_sxm 1;spring 2;");
    has_sets(GROUPS ON("mine", "a") ON("mine", "b"), "mine 2;a 1;b 1;");
    has_sets(GROUPS ON("mine", "a") ON("mine", "b") ON("h100_sxm", "b"),
             "mine 2;h100_sxm 1;a 1;b 2;all 3;");
}

/* More than the machine has: it ran, so that the prediction of memory is what is wrong. */
CALC_TEST(a_run_that_does_not_fit_says_so)
{
    static calc_documents systems;
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
    ck_assert_int_eq(parse("app,sys,exe,measured_s,microbatch_size\n"
                           "llama3-70B,mine,llama3-70B_512,15,8\n"
                           "llama3-70B,mine,llama3-70B_512,15,\n"),
                     CALC_OK);
    static calc_prediction p;
    calc_predict(&p, &runs.row[0], &systems);
    ck_assert(p.predicted[CALC_QUANTITY_STEP_TIME] > 0);
    char expected[80];
    double there_gib = systems.entry[0].system.chip.mem1.capacity_bytes / 1073741824.0;
    ck_assert(p.predicted[CALC_QUANTITY_MEMORY] / 1073741824.0 > there_gib);
    snprintf(expected, sizeof expected, "does not fit: %.4g of %.4g GiB",
             p.predicted[CALC_QUANTITY_MEMORY] / 1073741824.0, there_gib);
    ck_assert_str_eq(p.misfit, expected);
    calc_predict(&p, &runs.row[1], &systems);
    ck_assert(p.predicted[CALC_QUANTITY_STEP_TIME] > 0);
    ck_assert_str_eq(p.misfit, "");
}

/* ---- Shipped tables -------------------------------------------------------------------------- */

CALC_TEST(a_month_has_its_shape)
{
    ck_assert(calc_is_month("2025-07"));
    ck_assert_int_eq(calc_month_number("2026-01") - calc_month_number("2025-11"), 2);
    static const char *const others[] = {"",        "2025",    "2025-7", "2025-07-01",
                                         "2025_07", "mbridge", "x025-07"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_msg(!calc_is_month(others[i]), "%s", others[i]);
    }
}

static const char *const shipped[] = {CALC_TEST_DATA "/measured/runs.csv",
                                      CALC_TEST_DATA "/measured/runs_vtrain_single.csv.gz",
                                      CALC_TEST_DATA "/measured/runs_megatron_small.csv.gz",
                                      CALC_TEST_DATA "/measured/unfitted_runs.csv.gz"};

/* That a fit may leave out what came later. Tests of functions are not scored in time. */
CALC_TEST(every_shipped_run_that_is_fitted_to_has_a_month)
{
    for (size_t f = 0; f < 2; f++) {
        ck_assert_int_eq(calc_runs_read(&runs, shipped[f], NULL, &errors), CALC_OK);
        for (size_t i = 0; i < runs.count; i++) {
            const calc_runs_row *r = &runs.row[i];
            bool scored = !*r->unpredicted && strcmp(r->confidence, "low") != 0 &&
                          strcmp(r->source, "mcore_ci") != 0;
            ck_assert_msg(!scored || calc_is_month(r->published), "%s", r->id);
        }
        calc_runs_free(&runs);
    }
}

/* Nothing that a prediction depends on is told by what things are called. */
CALC_TEST(names_change_no_prediction)
{
    static calc_documents systems;
    static calc_prediction as_named, renamed;
    size_t predicted = 0;
    for (size_t f = 0; f < sizeof shipped / sizeof *shipped; f++) {
        systems = (calc_documents){CALC_KIND_SYSTEM, .load = load}; /* it borrows names */
        ck_assert_int_eq(calc_runs_read(&runs, shipped[f], NULL, &errors), CALC_OK);
        for (size_t i = 0; i < runs.count; i += f == 1 ? 16 : 1) {
            calc_predict(&as_named, &runs.row[i], &systems);
            calc_runs_row row = runs.row[i];
            row.id = "nemotron-340b_foundry_x";
            row.source = row.publisher = row.family = row.release = "another";
            row.model = "gpt-oss-mixtral";
            row.published = "2030-01";
            row.confidence = "low";
            calc_predict(&renamed, &row, &systems);
            ck_assert_str_eq(as_named.reason, renamed.reason);
            ck_assert_mem_eq(as_named.predicted, renamed.predicted, sizeof as_named.predicted);
            predicted += !*as_named.reason;
        }
        calc_runs_free(&runs);
    }
    ck_assert_uint_gt(predicted, 1900);
}
