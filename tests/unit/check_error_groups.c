/* Groups, sets of tables and the comparison with a baseline, on results made from numbers. */
#include "run_case.h"

#include <math.h>
#include <string.h>

#include "frame.h"
#include "scratch.h"
#include "validate/error_groups.h"

enum { MAX = 4 };

static char folder[256];
static calc_runs_row row[MAX];
static calc_prediction prediction[MAX];
static calc_result item[MAX];
static calc_results results;
static calc_error_groups groups;
static calc_baseline baseline;
static calc_errors errors;

/* A run of a source with that error. */
static void add(const char *id, const char *source, const char *machine, double error)
{
    size_t i = results.count++;
    row[i] = plain_row();
    row[i].id = id;
    row[i].source = source;
    row[i].sys = machine;
    calc_run_map_row(&prediction[i].map, &row[i]);
    item[i] = (calc_result){.prediction = &prediction[i],
                            .measured = 1,
                            .predicted = 1 + error,
                            .error = error,
                            .remark = ""};
}

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    results = (calc_results){.prediction = prediction, .item = item};
    groups = (calc_error_groups){0};
    baseline = (calc_baseline){0};
    errors = (calc_errors){0};
    add("seqsel_tab5_1", "calculon_tab5", "a100_sxm_80g", 0.10);
    add("seqsel_tab5_2", "calculon_tab5", "a100_sxm_80g", -0.30);
    add("foundry_h100_1", "foundry_h100", "h100_sxm", 0.02);
}

static void leave(void)
{
    calc_error_groups_free(&groups);
    calc_baseline_free(&baseline);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static const calc_error_group *group_of(const char *by, const char *name)
{
    for (size_t i = 0; i < groups.count; i++) {
        if (strcmp(groups.item[i].by, by) == 0 && strcmp(groups.item[i].name, name) == 0) {
            return &groups.item[i];
        }
    }
    return NULL;
}

static calc_run_set set_rows[] = {{"Calculon table 5 (A100)", "calculon_tab5", "", ""},
                                  {"SimuMax B200", "simumax_b200", "", ""},
                                  {"all high confidence", "", "", "high"}};
static const calc_run_sets sets = {.item = set_rows, .count = 3};

static void group(void)
{
    ck_assert_int_eq(calc_error_groups_make(&groups, &results, &sets, baseline.error, &errors),
                     CALC_OK);
}

CALC_TEST(every_dimension_has_its_groups)
{
    group();
    ck_assert_uint_eq(group_of("source", "calculon_tab5")->spread.count, 2);
    ck_assert_double_eq_tol(group_of("source", "calculon_tab5")->spread.mean_abs, 0.2, 1e-12);
    ck_assert_double_eq_tol(group_of("source", "calculon_tab5")->spread.bias, -0.1, 1e-12);
    ck_assert_uint_eq(group_of("machine", "h100_sxm")->spread.count, 1);
    ck_assert_uint_eq(group_of("model", "some-model")->spread.count, 3);
    ck_assert_uint_eq(group_of("kind", "dense")->spread.count, 3);
    ck_assert_ptr_null(group_of("kind", "MoE"));
    ck_assert_uint_eq(group_of("confidence", "high")->spread.count, 3);
    ck_assert_uint_eq(group_of("set", "Calculon table 5 (A100)")->spread.count, 2);
    ck_assert_uint_eq(group_of("set", "all high confidence")->spread.count, 3);
    ck_assert_ptr_null(group_of("set", "SimuMax B200"));
}

CALC_TEST(what_is_not_scored_is_in_no_group)
{
    item[0].use = CALC_USE_UNSCORED;
    item[2].use = CALC_USE_UNPREDICTED;
    group();
    ck_assert_uint_eq(group_of("kind", "dense")->spread.count, 1);
    ck_assert_ptr_null(group_of("machine", "h100_sxm"));
}

CALC_TEST(quantities_do_not_mix)
{
    item[0].quantity = CALC_QUANTITY_MEMORY;
    group();
    const calc_error_group *time = group_of("source", "calculon_tab5");
    ck_assert_int_eq(time->quantity, CALC_QUANTITY_STEP_TIME);
    ck_assert_uint_eq(time->spread.count, 1);
    ck_assert_double_eq_tol(time->spread.worst_abs, 0.3, 1e-12);
}

CALC_TEST(a_set_may_leave_a_source_out)
{
    const calc_run_set all = {"all but one", "!vtrain_single", "", ""};
    const calc_run_set both = {"both", "vtrain_single vtrain_multi", "", ""};
    const calc_run_set longer = {"longer", "vtrain_single2 single", "", ""};
    ck_assert(calc_run_set_has(&all, &item[0]));
    add("vtrain_single_0000", "vtrain_single", "vtrain_a100", 0.5);
    ck_assert(!calc_run_set_has(&all, &item[3]));
    ck_assert(calc_run_set_has(&both, &item[3]));
    ck_assert(!calc_run_set_has(&both, &item[0]));
    ck_assert(!calc_run_set_has(&longer, &item[3]));
}

static calc_status read_baseline(const char *csv)
{
    scratch_write("b.csv", csv, strlen(csv));
    return calc_baseline_read(&baseline, "b.csv", &results, &errors);
}

CALC_TEST(a_group_is_worse_beyond_the_tolerance)
{
    ck_assert_int_eq(read_baseline("x,error,id,quantity,status\n"
                                   "1,-0.05,seqsel_tab5_1,step_time,scored\n"
                                   "1,0.30,seqsel_tab5_2,step_time,scored\n"
                                   "1,9,foundry_h100_1,memory,scored\n"
                                   "1,,foundry_h100_1,step_time,unpredicted\n"
                                   "1,9,gone,step_time,scored\n"),
                     CALC_OK);
    ck_assert_uint_eq(baseline.missing, 0);
    group();
    const calc_error_group *g = group_of("source", "calculon_tab5");
    ck_assert_uint_eq(g->shared, 2);
    ck_assert_double_eq_tol(g->mean_abs_now, 0.2, 1e-12);
    ck_assert_double_eq_tol(g->mean_abs_then, 0.175, 1e-12);
    ck_assert_double_eq_tol(g->mean_abs_now - g->mean_abs_then, 0.025, 1e-9);
    ck_assert_uint_eq(group_of("machine", "h100_sxm")->shared, 0);
}

CALC_TEST(what_is_no_longer_predicted_is_missing)
{
    item[1].use = CALC_USE_UNPREDICTED;
    ck_assert_int_eq(read_baseline("id,quantity,status,error\n"
                                   "seqsel_tab5_2,step_time,scored,0.1\n"),
                     CALC_OK);
    ck_assert_uint_eq(baseline.missing, 1);
}

CALC_TEST(a_broken_baseline_is_an_error_in_its_line)
{
    ck_assert_int_eq(read_baseline("id,quantity,status\n"), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "column \"error\" is missing");
    calc_baseline_free(&baseline);
    errors = (calc_errors){0};
    ck_assert_int_eq(read_baseline("id,quantity,status,error\na,b,scored,0.1x\n"), CALC_ERR_TYPE);
    ck_assert_int_eq(errors.item[0].line, 2);
    calc_baseline_free(&baseline);
    errors = (calc_errors){0};
    ck_assert_int_eq(read_baseline("id,quantity,status,error\na,b\n"), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.item[0].line, 2);
    calc_baseline_free(&baseline);
    errors = (calc_errors){0};
    ck_assert_int_eq(read_baseline("id,quantity,status,error\na,memory,unscored,\n"
                                   "a,memory,scored,\n"),
                     CALC_ERR_TYPE);
    ck_assert_int_eq(errors.item[0].line, 3);
    ck_assert_str_eq(errors.item[0].text, "a scored row has an error, this one has none");
}

CALC_TEST(errors_of_five_runs)
{
    double error[] = {0.10, -0.20, 0.05, -0.01, 0.40};
    calc_spread s = calc_spread_of(error, 5);
    ck_assert_uint_eq(s.count, 5);
    ck_assert_double_eq_tol(s.bias, 0.34 / 5, 1e-12);
    ck_assert_double_eq_tol(s.mean_abs, 0.76 / 5, 1e-12);
    ck_assert_double_eq_tol(s.median_abs, 0.10, 1e-12);
    ck_assert_double_eq_tol(s.p90_abs, 0.20 + 0.6 * 0.20, 1e-12); /* at place 3.6 of 0 to 4 */
    ck_assert_double_eq_tol(s.worst_abs, 0.40, 1e-12);
}

CALC_TEST(an_even_number_has_its_median_between_two)
{
    double error[] = {0.3, -0.1};
    calc_spread s = calc_spread_of(error, 2);
    ck_assert_double_eq_tol(s.median_abs, 0.2, 1e-12);
    ck_assert_double_eq_tol(s.bias, 0.1, 1e-12);
    ck_assert_double_eq_tol(s.p90_abs, 0.28, 1e-12);
}

CALC_TEST(one_run_is_all_of_them)
{
    double error[] = {-0.07};
    calc_spread s = calc_spread_of(error, 1);
    ck_assert(s.bias == -0.07 && s.mean_abs == 0.07 && s.median_abs == 0.07);
    ck_assert(s.p90_abs == 0.07 && s.worst_abs == 0.07);
}

CALC_TEST(no_run_has_no_error)
{
    calc_spread s = calc_spread_of(NULL, 0);
    ck_assert_uint_eq(s.count, 0);
    ck_assert(isnan(s.bias) && isnan(s.mean_abs) && isnan(s.median_abs) && isnan(s.worst_abs));
}

CALC_TEST(large_tables_count_for_less_than_their_size)
{
    ck_assert(calc_spread_weight(1) == 1);
    ck_assert_double_eq_tol(calc_spread_weight(32), 0.25, 1e-12);        /* 32^-0.4 = 2^-2 */
    ck_assert_double_eq_tol(1024 * calc_spread_weight(1024), 64, 1e-10); /* 1024^0.6 = 2^6 */
}
