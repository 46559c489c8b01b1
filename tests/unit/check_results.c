/* Runs with their predictions, and remarks on them. */
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "run_case.h"
#include "scratch.h"

static char folder[256];
static calc_runs_row row[3];
static calc_runs runs;
static calc_remarks remarks;
static calc_documents systems;
static calc_results the_results;
static calc_errors errors;
static int loaded;
static calc_status broken; /* of reading any other machine, if it is not CALC_OK */

static calc_status load(calc_kind kind, const char *name, void *out, calc_errors *sink)
{
    loaded++;
    if (strcmp(name, "a100_sxm_80g") == 0) {
        return calc_load(kind, out, CALC_DATA_DIR_SOURCE "/systems/a100_sxm_80g.json", sink);
    }
    return calc_errors_add(sink, broken ? broken : CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL, NULL,
                           "no %s", name);
}

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    for (int i = 0; i < 3; i++) {
        row[i] = plain_row();
    }
    runs = (calc_runs){.row = row, .count = 3};
    remarks = (calc_remarks){0};
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
    the_results = (calc_results){0};
    errors = (calc_errors){0};
    loaded = 0;
    broken = CALC_OK;
}

static void leave(void)
{
    calc_results_free(&the_results);
    calc_remarks_free(&remarks);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void make(void)
{
    ck_assert_int_eq(
        calc_results_make(&the_results,
                          &(const calc_measured_runs){
                              .runs = &runs, .files = 1, .remarks = &remarks, .systems = &systems},
                          &errors),
        CALC_OK);
}

static calc_status read_remarks(const char *csv)
{
    scratch_write("m.csv", csv, strlen(csv));
    return calc_remarks_read(&remarks, "m.csv", &errors);
}

CALC_TEST(time_and_memory_of_a_run_are_two_results)
{
    row[0].measured_mem_gib = 40;
    row[1].measured_s = (double)NAN;
    row[1].measured_mem_gib = 2;
    row[2].sys = "tpu";
    make();
    ck_assert_uint_eq(the_results.count, 4);
    const calc_result *r = the_results.item;
    ck_assert(r[0].quantity == CALC_QUANTITY_STEP_TIME && r[1].quantity == CALC_QUANTITY_MEMORY);
    ck_assert(r[0].measured == 10 && r[1].measured == 40.0 * 1024 * 1024 * 1024);
    ck_assert_double_eq_tol(r[0].error, r[0].predicted / 10 - 1, 1e-12);
    ck_assert(r[2].quantity == CALC_QUANTITY_MEMORY && r[2].predicted == r[1].predicted);
    ck_assert_int_eq(r[3].use, CALC_USE_UNPREDICTED);
    ck_assert_str_eq(r[3].remark, "no tpu");
    ck_assert_uint_eq(calc_results_count(&the_results, CALC_USE_SCORED), 3);
}

CALC_TEST(a_prediction_is_that_of_the_model)
{
    make();
    calc_system system;
    calc_stats stats;
    const calc_run_map *map = &the_results.prediction[0].map;
    ck_assert_int_eq(load(CALC_KIND_SYSTEM, "a100_sxm_80g", &system, &errors), CALC_OK);
    calc_run(&map->app, &system, &map->exec, CALC_COMPAT_NONE, &stats);
    ck_assert(the_results.item[0].predicted == stats.total_time);
}

CALC_TEST(a_machine_is_read_once)
{
    make();
    ck_assert_int_eq(loaded, 1);
    row[1].sys = row[2].sys = "h100_sxm";
    calc_results_free(&the_results);
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
    loaded = 0;
    make();
    ck_assert_int_eq(loaded, 2);
    ck_assert_str_eq(the_results.item[2].remark, "no h100_sxm");
}

CALC_TEST(a_machine_that_could_not_be_read_ends_it)
{
    static const calc_status failure[] = {CALC_ERR_NOMEM, CALC_ERR_IO};
    row[1].sys = "h100_sxm";
    for (size_t i = 0; i < 2; i++) {
        broken = failure[i];
        ck_assert_int_eq(calc_results_make(&the_results,
                                           &(const calc_measured_runs){.runs = &runs,
                                                                       .files = 1,
                                                                       .remarks = &remarks,
                                                                       .systems = &systems},
                                           &errors),
                         failure[i]);
        ck_assert_int_eq(calc_errors_first(&errors), failure[i]);
        calc_results_free(&the_results);
        systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
        errors = (calc_errors){0};
    }
}

CALC_TEST(an_unpublished_micro_batch_is_the_fastest)
{
    for (int i = 0; i < 3; i++) {
        calc_exec *e = &row[i].document->exec;
        e->pipeline_par = 1;
        e->strategy.data_par = 8;
        e->microbatch_size = i; /* 0: not known */
        row[i].document->app.seq_size = 1024;
    }
    make();
    ck_assert(the_results.item[0].predicted <= the_results.item[1].predicted);
    ck_assert(the_results.item[0].predicted <= the_results.item[2].predicted);
    const calc_exec *e = &the_results.prediction[0].map.exec;
    ck_assert_int_eq(e->batch_size % (e->strategy.data_par * e->microbatch_size), 0);
    ck_assert(the_results.item[1].predicted != the_results.item[2].predicted);
}

CALC_TEST(low_confidence_and_remarks_leave_results_out)
{
    ck_assert_int_eq(read_remarks("id,quantity,use,remark\n"
                                  "bad_*,step_time,unscored,\"slow, odd\"\n"
                                  "odd,any,suspect,strange\n"),
                     CALC_OK);
    row[0].confidence = "low";
    row[1].id = "bad_1";
    row[2].id = "odd";
    make();
    ck_assert_int_eq(the_results.item[0].use, CALC_USE_UNSCORED);
    ck_assert_int_eq(the_results.item[1].use, CALC_USE_UNSCORED);
    ck_assert_str_eq(the_results.item[1].remark, "slow, odd");
    ck_assert_int_eq(the_results.item[2].use, CALC_USE_SCORED);
    ck_assert_str_eq(the_results.item[2].remark, "strange");
    ck_assert_ptr_null(calc_remarks_find(&remarks, "bad_1", "memory"));
    ck_assert_ptr_nonnull(calc_remarks_find(&remarks, "odd", "memory"));
}

CALC_TEST(a_broken_remark_is_an_error_in_its_line)
{
    static const struct {
        const char *row, *text;
        calc_status status;
    } bad[] = {
        {"a,any,scored,b\n", "use: expected unscored or suspect, found \"scored\"", CALC_ERR_TYPE},
        {"a,time,suspect,b\n",
         "quantity: expected step_time, memory, tpot, ttft, e2e, output_tokens_per_s, "
         "tpot_shape or any, found \"time\"",
         CALC_ERR_TYPE},
        {"a,any,suspect\n", "the row has 3 cells, \"remark\" is the 4. column", CALC_ERR_FIELD},
        {"a,any,suspect,b,c\n", "the row has 5 cells, the first has 4", CALC_ERR_FIELD}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char csv[128];
        snprintf(csv, sizeof csv, "id,quantity,use,remark\n%s", bad[i].row);
        errors = (calc_errors){0};
        ck_assert_int_eq(read_remarks(csv), bad[i].status);
        ck_assert_str_eq(errors.item[0].text, bad[i].text);
        ck_assert_int_eq(errors.item[0].line, 2);
        calc_remarks_free(&remarks);
    }
    errors = (calc_errors){0};
    ck_assert_int_eq(read_remarks("a,any,suspect,b\n"), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "column \"id\" is missing");
}

CALC_TEST(the_shipped_remarks_are_about_shipped_runs)
{
    calc_runs shipped, small, unfitted;
    ck_assert_int_eq(calc_runs_read(&shipped, CALC_TEST_DATA "/measured/runs.csv", NULL, &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_runs_read(&small, CALC_TEST_DATA "/measured/runs_megatron_small.csv.gz",
                                    NULL, &errors),
                     CALC_OK);
    ck_assert_uint_eq(small.count, 566);
    ck_assert_int_eq(
        calc_runs_read(&unfitted, CALC_TEST_DATA "/measured/unfitted_runs.csv.gz", NULL, &errors),
        CALC_OK);
    ck_assert_uint_eq(unfitted.count, 473);
    calc_text text = {0};
    calc_serving_rows serving;
    ck_assert_int_eq(calc_text_read(&text, CALC_TEST_DATA "/measured/serving_runs.csv.gz", &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_serving_rows_parse(&serving, text, "serving", &errors), CALC_OK);
    ck_assert_uint_eq(serving.count, 7173);
    ck_assert_int_eq(calc_remarks_read(&remarks, CALC_TEST_DATA "/measured/remarks.csv", &errors),
                     CALC_OK);
    ck_assert_uint_gt(remarks.count, 20);
    for (size_t i = 0; i < remarks.count; i++) {
        calc_remarks one = {.item = &remarks.item[i], .count = 1};
        size_t matches = 0;
        for (size_t k = 0; k < shipped.count; k++) {
            matches += calc_remarks_find(&one, shipped.row[k].id, remarks.item[i].quantity) != NULL;
        }
        for (size_t k = 0; k < small.count; k++) {
            matches += calc_remarks_find(&one, small.row[k].id, remarks.item[i].quantity) != NULL;
        }
        for (size_t k = 0; k < unfitted.count; k++) {
            matches +=
                calc_remarks_find(&one, unfitted.row[k].id, remarks.item[i].quantity) != NULL;
        }
        for (size_t k = 0; k < serving.count; k++) {
            matches += calc_remarks_find(&one, serving.row[k].id, remarks.item[i].quantity) != NULL;
        }
        ck_assert_msg(matches > 0, "no run %s", remarks.item[i].id);
    }
    calc_serving_rows_free(&serving);
    calc_runs_free(&unfitted);
    calc_runs_free(&small);
    calc_runs_free(&shipped);
}
