/* Runs of one's own: short tables and machines that no publication names, as rows like others. */
#include "validate/own_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "frame.h"
#include "validate/error_groups.h"

static calc_runs runs;
static calc_errors errors;
static int loads; /* documents that were read */

static calc_status load(calc_kind kind, const char *name, void *object, calc_errors *found)
{
    static const char *const folders[] = {"models", "systems", "executions"};
    char path[512];
    loads++;
    if (strcmp(name, "nothing") == 0) {
        return calc_errors_add(found, CALC_ERR_NOT_FOUND, kind, NULL, "did you mean \"something\"?",
                               "no \"nothing\"");
    }
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

static bool is_machine(const char *name)
{
    return strcmp(name, "mine") == 0;
}

static char ignored[64]; /* columns */

static void ignore(const char *file, const char *column)
{
    ck_assert_str_eq(file, "runs/spring.csv");
    strcat(strcat(ignored, column), " ");
}

static calc_own_loader loader = {load, load_arguments, is_machine, ignore, NULL};

static calc_status parse(const char *csv)
{
    errors = (calc_errors){0};
    loads = 0;
    ignored[0] = '\0';
    calc_runs_free(&runs);
    calc_text text = {.data = strdup(csv), .length = strlen(csv)};
    return calc_own_runs_parse(&runs, text, "runs/spring.csv", &loader, &errors);
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
    ck_assert(map.step_s == 15 && map.memory_bytes == 40 * 1073741824.0);
    ck_assert_str_eq(map.machine->system, "mine");
    ck_assert_str_eq(map.machine->family, "");
    ck_assert_str_eq(map.source->name, "spring");
    ck_assert_str_eq(row->id, "spring:2");
    ck_assert_str_eq(row->model, "llama3-70B");
    ck_assert(row->num_gpus == 512 && row->global_batch == (double)exec.batch_size);
    /* Rows of one machine and file have one group, told by its address, too. */
    ck_assert_ptr_eq(runs.row[1].own->machine, row->own->machine);
    ck_assert_ptr_eq(runs.row[1].own->source, row->own->source);
    ck_assert(calc_own_runs_has(row));
}

CALC_TEST(columns_of_fields_change_the_documents)
{
    ck_assert_int_eq(parse("app,sys,exe,measured_s,hidden,tensor_par,exe.batch_size,date,name\n"
                           "llama3-70B,mine,llama3-70B_512,15,4096,2,64,monday,a\n"
                           "llama3-70B,mine,llama3-70B_512,15,,,,sunday,b\n"),
                     CALC_OK);
    ck_assert_str_eq(ignored, "date "); /* once */
    const calc_own_run *own = runs.row[0].own;
    ck_assert(own->app.hidden == 4096 && own->exec.strategy.tensor_par == 2);
    ck_assert(own->exec.batch_size == 64 && runs.row[0].global_batch == 64);
    ck_assert_int_eq(runs.row[1].own->app.hidden, 8192); /* a row does not touch the next */
    ck_assert_int_eq(runs.row[1].own->exec.strategy.tensor_par, 4);
    ck_assert_str_eq(runs.row[1].id, "b");
    /* procs is the number of processors. */
    ck_assert_int_eq(parse("app,sys,exe,procs,measured_s\nllama3-70B,mine,llama3-70B_512,64,15\n"),
                     CALC_OK);
    ck_assert_int_eq(runs.row[0].own->exec.num_procs, 64);
}

CALC_TEST(options_are_a_layout_and_a_model)
{
    ck_assert_int_eq(parse("app,sys,arguments,procs,measured_s\n"
                           "llama3-70B,mine,--x 1,16,15\n"
                           ",mine,--x 1,16,15\n"),
                     CALC_OK);
    ck_assert_int_eq(runs.row[0].own->app.hidden, 8192);
    ck_assert_int_eq(runs.row[0].own->exec.num_procs, 16);
    ck_assert_int_eq(runs.row[0].own->exec.seq_size, 2048);
    ck_assert_int_eq(runs.row[1].own->app.hidden, 4096);
    ck_assert_int_eq(runs.row[1].own->app.seq_size, 2048);
    fails("app,sys,arguments,procs,measured_s\n,mine,--bad,16,15\n", CALC_ERR_RANGE, 2, 7,
          "--bad: expected good");
}

CALC_TEST(what_a_table_lacks_is_said_once)
{
    fails("sys,exe,measured_s\nmine,x,1\nmine,y,1\n", CALC_ERR_FIELD, 1, 0,
          "column \"app\" is missing");
    fails("app,exe,measured_s\nx,x,1\n", CALC_ERR_FIELD, 1, 0, "column \"sys\" is missing");
    fails("app,sys,measured_s\nx,x,1\n", CALC_ERR_FIELD, 1, 0, "column \"exe\" is missing");
    fails("app,sys,exe\nx,x,1\n", CALC_ERR_FIELD, 1, 0, "column \"measured_s\" is missing");
    ck_assert_str_eq(errors.item[0].hint, "calc validate --template prints an example");
    fails("a,b\n1,2\n3,4\n", CALC_ERR_FIELD, 1, 0,
          "none of the columns is known: the first row names them");
}

#define HEAD "app,sys,exe,arguments,measured_s,tensor_par,sys.mem1.GiB,tensor_parr\n"

CALC_TEST(what_a_row_lacks_or_contradicts_has_its_place)
{
    fails(HEAD "llama3-70B,,llama3-70B_512,,1\n", CALC_ERR_FIELD, 2, 12,
          "sys: the row names no machine");
    fails(HEAD ",mine,llama3-70B_512,,1\n", CALC_ERR_FIELD, 2, 1, "app: the row names no model");
    fails(HEAD "-,mine,llama3-70B_512,,1\n", CALC_ERR_FIELD, 2, 1, "app: the row names no model");
    fails(HEAD "llama3-70B,mine,,,1\n", CALC_ERR_FIELD, 2, 17, "exe: the row names no layout");
    fails(HEAD "llama3-70B,mine,llama3-70B_512,--x,1\n", CALC_ERR_FIELD, 2, 17,
          "exe and arguments: one of them is the layout");
    fails(HEAD "llama3-70B,mine,nothing,,1\n", CALC_ERR_NOT_FOUND, 2, 17, "no \"nothing\"");
    ck_assert_str_eq(errors.item[0].hint, "did you mean \"something\"?");
    fails(HEAD "llama3-70B,mine,llama3-70B_512,,1,four\n", CALC_ERR_TYPE, 2, 35,
          "tensor_par: expected an integer, found string \"four\"");
    fails(HEAD "llama3-70B,mine,llama3-70B_512,,1,0\n", CALC_ERR_RANGE, 2, 35,
          "tensor_par: 0 is out of range, expected at least 1");
    fails(HEAD "llama3-70B,mine,llama3-70B_512,,1,,80\n", CALC_ERR_FIELD, 2, 36,
          "fields of app and exe may be columns, a machine's may not");
    fails(HEAD "llama3-70B,mine,llama3-70B_512,,1,,,4\n", CALC_ERR_FIELD, 2, 37,
          "unknown field \"tensor_parr\"");
    ck_assert_str_eq(errors.item[0].hint, "did you mean \"tensor_par\"?");
    /* A column of published tables would be missed. */
    fails("app,sys,exe,measured_s,mla\nllama3-70B,mine,llama3-70B_512,1,1\n", CALC_ERR_FIELD, 2, 34,
          "unknown field \"mla\"");
    ck_assert_str_eq(errors.item[0].hint, "calc fields has the names of all");
    fails(HEAD "llama3-70B,mine,llama3-70B_512,,soon\n", CALC_ERR_TYPE, 2, 33,
          "measured_s: expected a number from 1e-06 to 1e9, found \"soon\"");
}

CALC_TEST(a_default_machine_is_that_of_rows_without_one)
{
    loader.machine = "mine";
    ck_assert_int_eq(parse("app,exe,measured_s\nllama3-70B,llama3-70B_512,1\n"), CALC_OK);
    ck_assert_str_eq(runs.row[0].own->machine->system, "mine");
    ck_assert_int_eq(parse("app,sys,exe,measured_s\nllama3-70B,h100_sxm,llama3-70B_512,1\n"),
                     CALC_OK);
    ck_assert_str_eq(runs.row[0].own->machine->system, "h100_sxm");
    ck_assert_str_eq(runs.row[0].own->machine->family, "H100");
    ck_assert_int_eq(parse("id,hardware\nfoundry_h100_1,\n"), CALC_OK);
    ck_assert_str_eq(runs.row[0].own->machine->system, "mine");
}

static const calc_run_machine *machine_of(size_t row)
{
    return calc_run_machine_of(&runs.row[row], calc_run_source_of(&runs.row[row]));
}

CALC_TEST(published_columns_may_name_a_machine_of_ones_own)
{
    ck_assert_int_eq(parse("id,hardware,zero_stage_fsdp,num_experts,source\n"
                           "a,mine,,,\nb,H100 SXM,,,\nc,abacus,,,\nfoundry_h100_1,H100,,,\n"
                           "d,mine,FSDP,,lab\n"),
                     CALC_OK);
    ck_assert_uint_eq(runs.count, 5);
    ck_assert_str_eq(machine_of(0)->system, "mine");
    ck_assert_str_eq(machine_of(1)->system, "h100_sxm");
    ck_assert_ptr_null(machine_of(2));
    ck_assert_ptr_eq(machine_of(4), machine_of(0));
    ck_assert_str_eq(calc_run_source_of(&runs.row[0])->name, "spring");
    ck_assert_str_eq(calc_run_source_of(&runs.row[4])->name, "lab");
    ck_assert(calc_run_source_of(&runs.row[4])->traits & CALC_RUN_TRAIT_PORTABLE_ATTENTION);
    ck_assert(!(calc_run_source_of(&runs.row[0])->traits & CALC_RUN_TRAIT_PORTABLE_ATTENTION));
    /* A row of a published table is what it was. */
    ck_assert_ptr_null(runs.row[3].own);
    ck_assert_str_eq(calc_run_source_of(&runs.row[3])->name, "foundry_h100");
    ck_assert(!calc_own_runs_has(&runs.row[3]) && calc_own_runs_has(&runs.row[1]));
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static calc_status load_system(const char *name, calc_system *out, calc_errors *found)
{
    return load(CALC_KIND_SYSTEM, name, out, found);
}

/* The names of the sets of times, with their members. */
static void has_sets(const char *csv, const char *expected)
{
    static calc_systems systems;
    systems = (calc_systems){.load = load_system};
    calc_remarks remarks = {0};
    calc_results results = {0};
    calc_error_groups groups = {0};
    char found[512] = "";
    ck_assert_int_eq(parse(csv), CALC_OK);
    ck_assert_int_eq(calc_results_make(&results, &runs, 1, &remarks, &systems, &errors), CALC_OK);
    ck_assert_int_eq(calc_error_groups_make(&groups, &results, NULL, &errors), CALC_OK);
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
    static calc_systems systems;
    systems = (calc_systems){.load = load_system};
    ck_assert_int_eq(parse("app,sys,exe,measured_s,microbatch_size\n"
                           "llama3-70B,mine,llama3-70B_512,15,8\n"
                           "llama3-70B,mine,llama3-70B_512,15,\n"),
                     CALC_OK);
    static calc_prediction p;
    calc_predict(&p, &runs.row[0], &systems);
    ck_assert(p.step_s > 0);
    char expected[80];
    double there_gib = systems.entry[0].system.chip.mem1.capacity_bytes / 1073741824.0;
    ck_assert(p.memory_bytes / 1073741824.0 > there_gib);
    snprintf(expected, sizeof expected, "does not fit: %.4g of %.4g GiB",
             p.memory_bytes / 1073741824.0, there_gib);
    ck_assert_str_eq(p.misfit, expected);
    calc_predict(&p, &runs.row[1], &systems);
    ck_assert(p.step_s > 0);
    ck_assert_str_eq(p.misfit, "");
}
