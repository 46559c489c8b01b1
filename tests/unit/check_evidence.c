/* The runs of a calibration: which ones, their weights, and their folds. */
#include "calibrate/evidence.h"
#include "calibrate_case.h"

#include <stdlib.h>
#include <string.h>

static calc_results results;
static calc_evidence evidence;
static calc_errors errors;

static void enter(void)
{
    case_layouts();
    results = (calc_results){0};
    evidence = (calc_evidence){0};
    errors = (calc_errors){0};
}

static void leave(void)
{
    calc_evidence_free(&evidence);
    calc_results_free(&results);
}

static void make(size_t machines)
{
    ck_assert_int_eq(
        calc_results_make(&results, &case_runs, 1, &case_remarks, &case_systems, &errors), CALC_OK);
    ck_assert_int_eq(calc_evidence_make(&evidence, &results, case_machine, machines, &errors),
                     CALC_OK);
}

START_TEST(scored_times_on_the_machines_are_taken)
{
    case_row[2].confidence = "low";
    case_row[4].measured_memory_gib = 10;
    make(1);
    ck_assert_uint_eq(evidence.count, CASE_ROWS / 2 - 1);
    for (size_t i = 0; i < evidence.count; i++) {
        const calc_evidence_row *r = &evidence.row[i];
        ck_assert_ptr_eq(&results.item[r->index], r->result);
        ck_assert_int_eq(r->result->quantity, CALC_QUANTITY_STEP_TIME);
        ck_assert_uint_eq(r->machine, 0);
        ck_assert_double_eq_tol(r->log_measured, 2.3025850929940457, 1e-15); /* log 10 */
    }
}
END_TEST

START_TEST(a_width_is_in_one_fold_that_its_checksum_names)
{
    /* CRC-32 of "1024_0" and so on, modulo 6, by zlib. */
    static const struct {
        int64_t hidden;
        int fold;
    } known[] = {{1024, 0}, {2048, 4}, {4096, 2}, {8192, 5}};
    make(2);
    ck_assert_int_eq(evidence.width_folds, 6);
    for (size_t i = 0; i < evidence.count; i++) {
        const calc_evidence_row *r = &evidence.row[i];
        ck_assert_int_eq(r->result->prediction->map.app.hidden, known[r->index % 4].hidden);
        ck_assert_int_eq(r->width_fold, known[r->index % 4].fold);
    }
}
END_TEST

START_TEST(a_publisher_is_in_one_fold)
{
    make(2);
    ck_assert_int_eq(evidence.source_folds, 2);
    for (size_t i = 0; i < evidence.count; i++) {
        bool first = evidence.row[i].index % 3 == 0;
        ck_assert_int_eq(evidence.row[i].source_fold, first ? 0 : 1);
    }
}
END_TEST

START_TEST(a_single_source_is_dealt_by_depth_and_tensor_parallelism)
{
    for (int i = 0; i < CASE_ROWS; i++) {
        snprintf(case_id[i], sizeof case_id[i], "plain_%d", i);
        case_row[i].layers = 16 + 16 * (i / 24);
        case_row[i].tp = i % 3 == 0 ? 1 : 2;
    }
    make(2);
    ck_assert_int_eq(evidence.source_folds, 2);
    for (size_t i = 0; i < evidence.count; i++) {
        ck_assert_int_eq(evidence.row[i].source_fold, i % 3 == 0 ? 0 : 1);
    }
    bool same = true;
    for (size_t i = 0; i < 24; i++) {
        same = same && evidence.row[i].width_fold == evidence.row[i + 24].width_fold;
    }
    ck_assert(!same); /* "1024_16" and "1024_32" are different folds */
}
END_TEST

START_TEST(a_run_is_predicted_as_validation_does)
{
    make(2);
    for (size_t i = 0; i < evidence.count; i++) {
        const calc_evidence_row *r = &evidence.row[i];
        const calc_systems_entry *entry = calc_systems_get(&case_systems, case_machine[r->machine]);
        ck_assert(calc_evidence_predict_s(r, &entry->system) == r->result->predicted);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evidence");
    TCase *tests = tcase_create("evidence");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, scored_times_on_the_machines_are_taken);
    tcase_add_test(tests, a_width_is_in_one_fold_that_its_checksum_names);
    tcase_add_test(tests, a_publisher_is_in_one_fold);
    tcase_add_test(tests, a_single_source_is_dealt_by_depth_and_tensor_parallelism);
    tcase_add_test(tests, a_run_is_predicted_as_validation_does);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
