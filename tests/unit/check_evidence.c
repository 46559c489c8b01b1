/* The runs of a calibration: which ones, their weights, and their folds. */
#include "calibrate/fit.h"
#include "calibrate_case.h"

#include <stdlib.h>

#include "frame.h"

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

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void make(size_t machines)
{
    ck_assert_int_eq(case_results(&results, &errors), CALC_OK);
    evidence = calc_evidence_of(&results, case_machine, machines);
}

CALC_TEST(scored_times_on_the_machines_are_taken)
{
    case_row[2].confidence = "low";
    case_row[4].measured_mem_gib = 10;
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

CALC_TEST(a_width_is_in_one_fold_that_its_checksum_names)
{
    /* CRC-32 of "1024_0" and so on, modulo 6, by zlib. */
    static const struct {
        int64_t hidden;
        int fold;
    } known[] = {{1024, 0}, {2048, 4}, {4096, 2}, {8192, 5}};
    make(2);
    for (size_t i = 0; i < evidence.count; i++) {
        const calc_evidence_row *r = &evidence.row[i];
        ck_assert_int_eq(r->result->prediction->map.app.hidden, known[r->index % 4].hidden);
        ck_assert_int_eq(r->width_fold, known[r->index % 4].fold);
    }
}

CALC_TEST(a_publisher_is_in_one_fold)
{
    make(2);
    ck_assert_int_eq(evidence.source_folds, 2);
    for (size_t i = 0; i < evidence.count; i++) {
        bool first = evidence.row[i].index % 3 == 0;
        ck_assert_int_eq(evidence.row[i].source_fold, first ? 0 : 1);
    }
}

CALC_TEST(a_single_source_is_dealt_by_tensor_parallelism_and_a_single_width_by_depth)
{
    for (int i = 0; i < CASE_ROWS; i++) {
        calc_app *app = &case_row[i].document->app;
        case_row[i].source = case_row[i].publisher = "other";
        app->num_blocks = 16 + 16 * (i / 24);
        app->hidden = 1024;
        app->attn_heads = app->kv_heads = 8;
        case_row[i].document->exec.strategy.tensor_par = i % 3 == 0 ? 1 : 2;
        case_row[i].document->exec.strategy.data_par = i % 3 == 0 ? 8 : 4;
    }
    make(2);
    ck_assert_int_eq(evidence.source_folds, 2);
    for (size_t i = 0; i < evidence.count; i++) {
        ck_assert_int_eq(evidence.row[i].source_fold, i % 3 == 0 ? 0 : 1);
    }
    for (size_t i = 0; i < 24; i++) { /* "1024_16" and "1024_32" are different folds */
        ck_assert_int_ne(evidence.row[i].width_fold, evidence.row[i + 24].width_fold);
    }
}

CALC_TEST(a_single_source_of_several_widths_is_dealt_by_width)
{
    for (int i = 0; i < CASE_ROWS; i++) {
        case_row[i].source = case_row[i].publisher = "other";
        case_row[i].document->app.num_blocks = 16 + 16 * (i / 24);
    }
    make(2);
    for (size_t i = 0; i < 24; i++) {
        ck_assert_int_eq(evidence.row[i].width_fold, evidence.row[i + 24].width_fold);
    }
}

/* Foundry is a publisher of its own; NVIDIA's tables are one. */
CALC_TEST(tables_of_one_publisher_are_in_one_fold_and_have_its_name)
{
    static const char *const sources[] = {"mbridge", "nemo_2407", "foundry_h100", "dgxc"};
    static const char *const nvidia[] = {"nvidia", NULL}, *const nemo[] = {"nemo", NULL};
    for (int i = 0; i < CASE_ROWS; i++) {
        case_row[i].source = sources[i % 4];
        case_row[i].publisher = i % 4 == 2 ? "foundry" : "nvidia";
    }
    make(2);
    ck_assert_int_eq(evidence.source_folds, 2);
    for (size_t i = 0; i < evidence.count; i++) {
        const calc_evidence_row *r = &evidence.row[i];
        bool foundry = r->index % 4 == 2;
        ck_assert_int_eq(r->source_fold, foundry ? 1 : 0);
        ck_assert_str_eq(calc_evidence_publisher(r->result), foundry ? "foundry" : "nvidia");
        ck_assert(calc_evidence_is_of(r->result, nvidia) == !foundry);
        ck_assert(calc_evidence_is_of(r->result, nemo) == (r->index % 4 == 1));
    }
}

CALC_TEST(a_run_is_predicted_as_validation_does)
{
    make(2);
    for (size_t i = 0; i < evidence.count; i++) {
        const calc_evidence_row *r = &evidence.row[i];
        const calc_document *entry = calc_documents_get(&case_systems, case_machine[r->machine]);
        ck_assert(calc_evidence_predict_s(r, &entry->system) == r->result->predicted);
    }
}
