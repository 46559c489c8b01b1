/* Runs with their predictions, and remarks on them. */
#include "base/error.h"
#include "run_case.h"
#include "scratch.h"
#include "validate/errors_svg.h"
#include "validate/parity_svg.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

static char folder[256];
static calc_runs_row row[3];
static calc_runs runs;
static calc_remarks remarks;
static calc_systems systems;
static calc_results results;
static calc_errors errors;
static int loaded;
static calc_status broken; /* of reading any other machine, if it is not CALC_OK */

static calc_status load(const char *name, calc_system *out, calc_errors *sink)
{
    loaded++;
    if (strcmp(name, "a100_sxm_80g") == 0) {
        return calc_load(CALC_KIND_SYSTEM, out, CALC_DATA_DIR_SOURCE "/systems/a100_sxm_80g.json",
                         sink);
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
    systems = (calc_systems){.load = load};
    results = (calc_results){0};
    errors = (calc_errors){0};
    loaded = 0;
    broken = CALC_OK;
}

static void leave(void)
{
    calc_results_free(&results);
    calc_remarks_free(&remarks);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void make(void)
{
    ck_assert_int_eq(calc_results_make(&results, &runs, 1, &remarks, &systems, &errors), CALC_OK);
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
    ck_assert_uint_eq(results.count, 4);
    const calc_result *r = results.item;
    ck_assert(r[0].quantity == CALC_QUANTITY_STEP_TIME && r[1].quantity == CALC_QUANTITY_MEMORY);
    ck_assert(r[0].measured == 10 && r[1].measured == 40.0 * 1024 * 1024 * 1024);
    ck_assert_double_eq_tol(r[0].error, r[0].predicted / 10 - 1, 1e-12);
    ck_assert(r[2].quantity == CALC_QUANTITY_MEMORY && r[2].predicted == r[1].predicted);
    ck_assert_int_eq(r[3].use, CALC_USE_UNPREDICTED);
    ck_assert_str_eq(r[3].remark, "no tpu");
    ck_assert_uint_eq(calc_results_count(&results, CALC_USE_SCORED), 3);
}

CALC_TEST(a_prediction_is_that_of_the_model)
{
    make();
    calc_system system;
    calc_stats stats;
    const calc_run_map *map = &results.prediction[0].map;
    ck_assert_int_eq(load("a100_sxm_80g", &system, &errors), CALC_OK);
    calc_run(&map->app, &system, &map->exec, CALC_COMPAT_NONE, &stats);
    ck_assert(results.item[0].predicted == stats.total_time);
}

CALC_TEST(a_machine_is_read_once)
{
    make();
    ck_assert_int_eq(loaded, 1);
    row[1].sys = row[2].sys = "h100_sxm";
    calc_results_free(&results);
    systems = (calc_systems){.load = load};
    loaded = 0;
    make();
    ck_assert_int_eq(loaded, 2);
    ck_assert_str_eq(results.item[2].remark, "no h100_sxm");
}

CALC_TEST(a_machine_that_could_not_be_read_ends_it)
{
    static const calc_status failure[] = {CALC_ERR_NOMEM, CALC_ERR_IO};
    row[1].sys = "h100_sxm";
    for (size_t i = 0; i < 2; i++) {
        broken = failure[i];
        ck_assert_int_eq(calc_results_make(&results, &runs, 1, &remarks, &systems, &errors),
                         failure[i]);
        ck_assert_int_eq(calc_errors_first(&errors), failure[i]);
        calc_results_free(&results);
        systems = (calc_systems){.load = load};
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
    ck_assert(results.item[0].predicted <= results.item[1].predicted);
    ck_assert(results.item[0].predicted <= results.item[2].predicted);
    const calc_exec *e = &results.prediction[0].map.exec;
    ck_assert_int_eq(e->batch_size % (e->strategy.data_par * e->microbatch_size), 0);
    ck_assert(results.item[1].predicted != results.item[2].predicted);
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
    ck_assert_int_eq(results.item[0].use, CALC_USE_UNSCORED);
    ck_assert_int_eq(results.item[1].use, CALC_USE_UNSCORED);
    ck_assert_str_eq(results.item[1].remark, "slow, odd");
    ck_assert_int_eq(results.item[2].use, CALC_USE_SCORED);
    ck_assert_str_eq(results.item[2].remark, "strange");
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
    ck_assert_uint_eq(serving.count, 6973);
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

CALC_TEST(a_picture_has_a_point_per_scored_time)
{
    row[1].id = "a<b&c";
    row[2].sys = "tpu";
    make();
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "p.svg", &errors), CALC_OK);
    calc_parity_svg_write(out, &results);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    static char text[16384];
    FILE *file = fopen("p.svg", "rb");
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    size_t points = 0;
    for (const char *at = text; (at = strstr(at, "<title>")); at++) {
        points++;
    }
    ck_assert_uint_eq(points, 2);
    ck_assert_ptr_nonnull(strstr(text, "<title>a&lt;b&amp;c: "));
    ck_assert_ptr_nonnull(strstr(text, "a100_sxm_80g (2)"));
    /* The legend is right of the square of 560 that begins at 70, 30. */
    ck_assert_ptr_nonnull(strstr(text, "<circle cx=\"654\" cy=\"40\" r=\"5\""));
    ck_assert_str_eq(text + length - 7, "</svg>\n");
}

/* Where a circle is [pixels]: the number after `which` in the tag before `title`. */
static double place(const char *text, const char *title, const char *which)
{
    const char *at = strstr(text, title);
    ck_assert_ptr_nonnull(at);
    while (strncmp(at, "<circle", 7) != 0) {
        at--;
    }
    at = strstr(at, which);
    ck_assert_ptr_nonnull(at);
    return strtod(at + strlen(which), NULL);
}

/* A row of points per table; sums of tables are not drawn, errors beyond 40 % are at the edge. */
CALC_TEST(a_picture_of_errors_has_a_row_per_table)
{
    row[0].id = "simumax_b200_a<b";
    row[0].source = "simumax_b200";
    row[1].id = "foundry_a100_80_1";
    row[2].id = "foundry_a100_80_2";
    row[1].source = row[2].source = "foundry_a100_80";
    make();
    row[1].measured_s = results.item[1].predicted / 1.2;
    row[2].measured_s = results.item[2].predicted / 3;
    calc_results_free(&results);
    make();
    calc_error_groups groups = {0};
    ck_assert_int_eq(calc_error_groups_make(&groups, &results, NULL, &errors), CALC_OK);
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "e.svg", &errors), CALC_OK);
    calc_errors_svg_write(out, &results, &groups);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    calc_error_groups_free(&groups);
    static char text[16384];
    FILE *file = fopen("e.svg", "rb");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, ">SimuMax B200 (1)</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">llm-foundry FSDP, A100 (2)</text>"));
    ck_assert_ptr_null(strstr(text, "all high confidence"));
    ck_assert_ptr_nonnull(strstr(text, "<title>simumax_b200_a&lt;b: "));
    /* 560 pixels are -40 to +40 %, zero in the middle */
    double zero = 300 + 280;
    ck_assert_double_eq_tol(place(text, "<title>foundry_a100_80_1: +20.0 %", "cx=\""), zero + 140,
                            0.06);
    ck_assert_double_eq(place(text, "<title>foundry_a100_80_2: +200.0 %", "cx=\""), zero + 280);
    ck_assert_ptr_nonnull(strstr(text, ">110.0</text>")); /* the mean of both */
}
