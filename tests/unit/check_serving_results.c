/* Runs of serving paired with predictions: quantities, uses, shapes, groups, the order of layouts.
 */
#include "serving_run_case.h"
#include "validate/error_groups.h"
#include "validate/results.h"

#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "frame.h"

enum { MAX = 4 };

static calc_serving_row row[MAX];
static calc_serving_rows rows;
static calc_documents apps;
static calc_documents systems;
static calc_remark remark;
static calc_remarks remarks;
static calc_results results;
static calc_error_groups groups;
static calc_errors errors;

/* Models that have a block that drafts, which is then no question of its cost. */
static calc_status load_drafting(calc_kind kind, const char *name, void *out, calc_errors *errors_)
{
    calc_status status = load_document(kind, name, out, errors_);
    calc_app *app = out;
    app->mtp_blocks = 1;
    return status;
}

static void enter(void)
{
    for (int i = 0; i < MAX; i++) {
        row[i] = serving_row();
    }
    rows = (calc_serving_rows){.row = row, .count = 1};
    apps = (calc_documents){CALC_KIND_APP, .load = load_drafting};
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load_document};
    remarks = (calc_remarks){0};
    results = (calc_results){0};
    groups = (calc_error_groups){0};
    errors = (calc_errors){0};
}

static void leave(void)
{
    calc_error_groups_free(&groups);
    calc_results_free(&results);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void make(void)
{
    calc_results_free(&results);
    ck_assert_int_eq(calc_results_make(&results,
                                       &(const calc_measured_runs){.files = 1,
                                                                   .remarks = &remarks,
                                                                   .systems = &systems,
                                                                   .serving = &rows,
                                                                   .apps = &apps,
                                                                   .engines = shipped_engines()},
                                       &errors),
                     CALC_OK);
}

static const calc_result *find(const char *id, calc_quantity quantity)
{
    for (size_t i = 0; i < results.count; i++) {
        const calc_result *r = &results.item[i];
        if (r->quantity == quantity && strcmp(calc_result_id(r), id) == 0) {
            return r;
        }
    }
    return NULL;
}

CALC_TEST(a_result_for_each_quantity)
{
    row[0].output_tokens_per_s_total = 1000;
    make();
    ck_assert_uint_eq(results.count, 3);
    const calc_result *r = find("plain", CALC_QUANTITY_TPOT);
    ck_assert(r->use == CALC_USE_SCORED && r->measured == 0.012);
    ck_assert(r->predicted == r->serving->predicted[CALC_QUANTITY_TPOT] &&
              r->error == r->predicted / 0.012 - 1);
    ck_assert_ptr_nonnull(find("plain", CALC_QUANTITY_TTFT));
    ck_assert(find("plain", CALC_QUANTITY_OUTPUT_RATE)->measured == 1000);
    ck_assert_str_eq(calc_result_engine(r), "vllm-0.11");
    ck_assert_str_eq(calc_result_machine(r), "h200");
    ck_assert_str_eq(calc_result_model(r), "llama3-70B");
    ck_assert_str_eq(calc_result_source(r), "somebody");
    ck_assert_str_eq(calc_result_kind(r), "closed loop");
    ck_assert_str_eq(calc_result_regime(r), "5 to 64 sequences");
    ck_assert_str_eq(calc_result_period(r), "2025 and later");
}

CALC_TEST(uses_and_their_reasons)
{
    rows.count = 4;
    row[0].id = "low";
    row[0].confidence = "low";
    row[1].id = "full";
    row[1].num_gpus = row[1].tp = 1;
    row[1].sys = "h100_sxm"; /* which does not hold the weights */
    row[1].weight_dtype = "bf16";
    row[1].metric_kind = "static batch";
    row[2].id = "draft";
    row[2].unpredicted = "a setting is not published";
    row[3].id = "odd";
    remark = (calc_remark){"od?", "ttft", "unscored", "a typing error"};
    remarks = (calc_remarks){.item = &remark, .count = 1};
    make();
    ck_assert_int_eq(find("low", CALC_QUANTITY_TPOT)->use, CALC_USE_UNSCORED);
    ck_assert_int_eq(find("full", CALC_QUANTITY_TPOT)->use, CALC_USE_REFUSED);
    ck_assert_ptr_nonnull(strstr(find("full", CALC_QUANTITY_TPOT)->remark, "does not fit"));
    ck_assert_int_eq(find("draft", CALC_QUANTITY_TPOT)->use, CALC_USE_UNPREDICTED);
    ck_assert(find("draft", CALC_QUANTITY_TPOT)->measured == 0.012);
    ck_assert_int_eq(find("odd", CALC_QUANTITY_TPOT)->use, CALC_USE_SCORED);
    ck_assert_int_eq(find("odd", CALC_QUANTITY_TTFT)->use, CALC_USE_UNSCORED);
    ck_assert_str_eq(find("odd", CALC_QUANTITY_TTFT)->remark, "a typing error");
}

CALC_TEST(a_run_that_measured_nothing_has_one_result)
{
    row[0].tpot_or_itl_ms = row[0].ttft_ms = (double)NAN;
    make();
    ck_assert_uint_eq(results.count, 1);
    ck_assert_int_eq(results.item[0].use, CALC_USE_UNPREDICTED);
    ck_assert(isnan(results.item[0].measured) && isnan(results.item[0].error));
}

/* The tpot of each point of a sweep over that of its lowest concurrency. */
CALC_TEST(shapes_are_relative_to_the_fewest_requests)
{
    static const char *const ids[] = {"c16", "c64", "c4", "other"};
    static const double requests[] = {16, 64, 4, 64}, tpot_ms[] = {12, 30, 8, 30};
    rows.count = 4;
    for (int i = 0; i < 4; i++) {
        row[i].id = ids[i];
        row[i].concurrency_or_batch = requests[i];
        row[i].tpot_or_itl_ms = tpot_ms[i];
    }
    row[3].isl = 2000;
    make();
    const calc_result *least = find("c4", CALC_QUANTITY_TPOT);
    const calc_result *middle = find("c16", CALC_QUANTITY_TPOT_SHAPE);
    const calc_result *most = find("c64", CALC_QUANTITY_TPOT_SHAPE);
    ck_assert_ptr_null(find("c4", CALC_QUANTITY_TPOT_SHAPE));
    ck_assert_ptr_null(find("other", CALC_QUANTITY_TPOT_SHAPE));
    ck_assert_double_eq_tol(middle->measured, 1.5, 1e-12);
    ck_assert_double_eq_tol(most->measured, 3.75, 1e-12);
    ck_assert_double_eq_tol(most->predicted,
                            find("c64", CALC_QUANTITY_TPOT)->predicted / least->predicted, 1e-12);
    ck_assert_ptr_eq(&results.item[most->grown], find("c64", CALC_QUANTITY_TPOT));
    ck_assert_ptr_eq(&results.item[most->grown_from], least);
}

/* Of SGLang with drafts, and without. */
static void draft(int which)
{
    row[which].software = "sglang 0.5.3";
    row[which].drafts = 2;
}

CALC_TEST(a_sweep_drafts_or_does_not)
{
    static const char *const ids[] = {"c4", "c16", "c64"};
    rows.count = 3;
    for (int i = 0; i < 3; i++) {
        row[i].id = ids[i];
        row[i].concurrency_or_batch = 4 << 2 * i;
        row[i].tpot_or_itl_ms = 8 + 8 * i;
        draft(i);
    }
    row[0].drafts = 0;
    make();
    ck_assert_ptr_nonnull(find("c16", CALC_QUANTITY_TPOT));
    ck_assert_ptr_null(find("c16", CALC_QUANTITY_TPOT_SHAPE)); /* over c4 without drafts: no */
    ck_assert_double_eq_tol(find("c64", CALC_QUANTITY_TPOT_SHAPE)->measured, 1.5, 1e-12);
}

static const calc_error_group *group_of(const char *by, const char *name, calc_quantity quantity)
{
    for (size_t i = 0; i < groups.count; i++) {
        const calc_error_group *g = &groups.item[i];
        if (strcmp(g->by, by) == 0 && strcmp(g->name, name) == 0 && g->quantity == quantity) {
            return g;
        }
    }
    return NULL;
}

CALC_TEST(groups_are_by_engine_regime_and_year_too)
{
    rows.count = 3;
    row[1].software = "sglang 0.5.3";
    row[2].software = "vLLM 0.5.1";
    row[2].published = "2024-07";
    row[2].concurrency_or_batch = 1;
    make();
    calc_error_groups_make(&groups, &results, NULL, NULL);
    ck_assert_uint_eq(group_of("engine", "vllm-0.11", CALC_QUANTITY_TPOT)->spread.count, 1);
    ck_assert_uint_eq(group_of("engine", "sglang-0.5", CALC_QUANTITY_TTFT)->spread.count, 1);
    ck_assert_uint_eq(group_of("regime", "5 to 64 sequences", CALC_QUANTITY_TPOT)->spread.count, 2);
    ck_assert_uint_eq(group_of("regime", "1 to 4 sequences", CALC_QUANTITY_TPOT)->spread.count, 1);
    ck_assert_uint_eq(group_of("period", "before 2025", CALC_QUANTITY_TPOT)->spread.count, 1);
    ck_assert_uint_eq(group_of("kind", "closed loop", CALC_QUANTITY_TPOT)->spread.count, 3);
    ck_assert_uint_eq(group_of("set", "h200", CALC_QUANTITY_TPOT)->spread.count, 3);
}

static calc_ranking rank(calc_quantity quantity)
{
    const calc_result *member[MAX * 4];
    size_t count = 0;
    for (size_t i = 0; i < results.count; i++) {
        if (results.item[i].quantity == quantity) {
            member[count++] = &results.item[i];
        }
    }
    return calc_ranking_of(member, count);
}

/* More GPUs decode faster, and each of them gives less: in the prediction, and here measured so. */
CALC_TEST(layouts_measured_side_by_side_are_ranked)
{
    rows.count = 3;
    for (int i = 0; i < 3; i++) {
        row[i].num_gpus = row[i].tp = 2 << i;
        row[i].tpot_or_itl_ms = 20 - 5 * i;
        row[i].output_tokens_per_s_total = 1000 + 200 * i;
    }
    make();
    ck_assert(rank(CALC_QUANTITY_TPOT).pairs == 3 && rank(CALC_QUANTITY_TPOT).tau == 1);
    ck_assert(rank(CALC_QUANTITY_TPOT).regret_mean == 0);
    ck_assert(rank(CALC_QUANTITY_OUTPUT_RATE).pairs == 3);
    ck_assert(rank(CALC_QUANTITY_OUTPUT_RATE).tau == 1);
    ck_assert_uint_eq(rank(CALC_QUANTITY_TTFT).pairs, 0);
    /* The measured order of rates per GPU the other way: two GPUs give 100 each, eight 500. */
    row[0].output_tokens_per_s_total = 200;
    row[1].output_tokens_per_s_total = 1200;
    row[2].output_tokens_per_s_total = 4000;
    make();
    ck_assert(rank(CALC_QUANTITY_OUTPUT_RATE).tau == -1);
    ck_assert_double_eq_tol(rank(CALC_QUANTITY_OUTPUT_RATE).regret_mean, 4, 1e-12);
    for (int i = 0; i < 3; i++) {
        draft(i);
    }
    make();
    ck_assert_uint_eq(rank(CALC_QUANTITY_TPOT).pairs, 3);
    row[0].drafts = 0; /* with drafts and without are two questions */
    make();
    ck_assert_uint_eq(rank(CALC_QUANTITY_TPOT).pairs, 1);
    row[0].drafts = 2;
    row[1].concurrency_or_batch = 8; /* another load is another question */
    row[2].published = "2026-01-01"; /* another day is none */
    make();
    ck_assert_uint_eq(rank(CALC_QUANTITY_TPOT).pairs, 1);
}
