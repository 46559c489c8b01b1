#include "balance/milp.h"

#include <math.h>
#include <string.h>

#include "balance_case.h"
#include "frame.h"

static calc_milp milp;

static void build(const calc_balance_problem *p)
{
    ck_assert_int_eq(calc_milp_build(p, NULL, &milp, NULL), CALC_OK);
}

/* ---- Refusals ---------------------------------------------------------------------------------*/

static void refused(const calc_balance_problem *p, calc_status status, const char *text)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_milp_build(p, NULL, &milp, &errors), status);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_ptr_null(milp.column);
    ck_assert_ptr_null(milp.row);
    ck_assert_ptr_null(milp.term);
}

CALC_TEST(other_schedules_are_refused_with_a_reason)
{
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    p.shape.kind = CALC_PIPELINE_SCHEDULE_ZB_H1;
    refused(&p, CALC_ERR_UNSUPPORTED, "there is no mixed-integer program of the schedule zb_h1");
    p.shape.kind = CALC_PIPELINE_SCHEDULE_GPIPE;
    p.shape.chunks = 2;
    refused(&p, CALC_ERR_UNSUPPORTED, "the schedule gpipe has one chunk per stage");
}

CALC_TEST(programs_beyond_a_million_columns_are_refused)
{
    const char *text = "the mixed-integer program is too large: at most 999999 rows and columns, "
                       "and 512 chunks of stages";
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    p.shape.microbatches = 999999 / 4 - 1;
    refused(&p, CALC_ERR_RANGE, text); /* a row more for each micro-batch and stage */
    p.shape.microbatches = INT64_MAX / 16;
    refused(&p, CALC_ERR_RANGE, text);
    p.shape = (calc_schedule_shape){CALC_PIPELINE_SCHEDULE_1F1B, 171, 3, 1};
    refused(&p, CALC_ERR_RANGE, text);
}

/* ---- Columns and rows -------------------------------------------------------------------------*/

static int count(calc_milp_what what)
{
    int found = 0;
    for (size_t i = 0; i < milp.columns; i++) {
        found += milp.column[i].what == what;
    }
    return found;
}

CALC_TEST(columns_are_there_where_something_can_be_chosen)
{
    calc_balance_problem p = balance_problem(&balance_cases[2]);
    p.may_full = false;
    build(&p);
    ck_assert_int_eq(count(CALC_MILP_LAYERS), 8);
    ck_assert_int_eq(count(CALC_MILP_REACHES), 3);
    ck_assert_int_eq(count(CALC_MILP_FULL) + count(CALC_MILP_SELECTIVE), 0);
    ck_assert_int_eq(count(CALC_MILP_SELECTS), 0);
    ck_assert_int_eq(count(CALC_MILP_FW_TIME), 4);
    ck_assert_int_eq(count(CALC_MILP_BW_START), 32);
    ck_assert_int_eq(count(CALC_MILP_FLIGHT), 4);
    ck_assert_int_eq(count(CALC_MILP_PERIOD), 0);
    calc_milp_free(&milp);
    p.may_full = p.may_select = p.alike_on_chip = true;
    p.layers[0] = 0;
    p.stage[1].limit_bytes = INFINITY;
    p.stage[2].working_bytes = 1;
    p.stage[1].working_bytes = 1;
    build(&p);
    ck_assert_int_eq(count(CALC_MILP_LAYERS), 4);
    ck_assert_int_eq(count(CALC_MILP_REACHES), 0);
    ck_assert_int_eq(count(CALC_MILP_FULL), 4);
    ck_assert_int_eq(count(CALC_MILP_SELECTIVE), 4);
    ck_assert_int_eq(count(CALC_MILP_SELECTS), 4);
    ck_assert_int_eq(count(CALC_MILP_FLIGHT), 3);
    ck_assert_int_eq(count(CALC_MILP_WORKS), 1);
    ck_assert_int_eq(count(CALC_MILP_CHIP_FULL), 1);
    ck_assert_int_eq(count(CALC_MILP_PARTLY), 4);
    calc_milp_free(&milp);
    p.may_mix = true;
    build(&p);
    ck_assert_int_eq(count(CALC_MILP_SELECTS), 0);
    calc_milp_free(&milp);
}

/* Micro-batches in flight by chunk in the rows of a stage's limit: those rows have the bound. */
static size_t in_flight(int stage, double bound, int counts[][2])
{
    size_t found = 0;
    for (size_t row = 0; row < milp.rows; row++) {
        if (milp.row[row].bound != bound || milp.row[row].sense != CALC_MILP_LESS) {
            continue;
        }
        counts[found][0] = counts[found][1] = 0;
        for (size_t i = 0; i < milp.terms; i++) {
            const calc_milp_column *c = &milp.column[milp.term[i].column];
            if (milp.term[i].row == (int)row && c->what == CALC_MILP_FLIGHT) {
                ck_assert_int_eq(c->stage, stage);
                counts[found][c->chunk] = (int)milp.term[i].factor;
            }
        }
        found++;
    }
    return found;
}

CALC_TEST(a_stage_with_one_chunk_has_one_row_of_memory)
{
    calc_balance_problem p = balance_problem(&balance_cases[2]);
    int counts[16][2];
    for (p.shape.microbatches = 1; p.shape.microbatches < 7; p.shape.microbatches++) {
        for (int stage = 0; stage < 4; stage++) {
            p.stage[stage].limit_bytes = 1000 + stage;
        }
        build(&p);
        for (int stage = 0; stage < 4; stage++) {
            ck_assert_uint_eq(in_flight(stage, 1000 + stage, counts), 1);
            int live = 4 - stage;
            ck_assert_int_eq(counts[0][0],
                             live < p.shape.microbatches ? live : (int)p.shape.microbatches);
        }
        calc_milp_free(&milp);
    }
}

/* Two stages, two chunks, four micro-batches with less memory, by hand: the first stage starts with
 * 0 0 1, then takes 1 (2,2) -1, 0 (3,1) -1, 0 (4,0) -0, 1 (3,1) -0, 1 (2,2); the other with 0 0,
 * then 1 (2,1) -1, 1 (2,1) -1, 0 (3,0) -0, 0 (3,0) -0, 1 (2,1). */
CALC_TEST(a_stage_with_chunks_has_a_row_for_each_peak)
{
    static const int first[][2] = {{2, 2}, {3, 1}, {4, 0}};
    static const int second[][2] = {{2, 1}, {3, 0}};
    calc_balance_problem p = balance_problem(&balance_cases[3]);
    int counts[16][2];
    p.stage[0].limit_bytes = 1000;
    p.stage[1].limit_bytes = 1001;
    build(&p);
    ck_assert_uint_eq(in_flight(0, 1000, counts), 3);
    ck_assert_mem_eq(counts, first, sizeof first);
    ck_assert_uint_eq(in_flight(1, 1001, counts), 2);
    ck_assert_mem_eq(counts, second, sizeof second);
    calc_milp_free(&milp);
}

CALC_TEST_LOOP(no_row_has_a_column_twice_and_all_bounds_are_finite, 0, BALANCE_CASES)
{
    calc_balance_problem p = balance_problem(&balance_cases[_i]);
    p.alike_on_chip = true;
    p.may_select = true;
    p.stage[1].working_bytes = 10;
    build(&p);
    for (size_t i = 0; i < milp.terms; i++) {
        ck_assert(milp.term[i].factor != 0 && isfinite(milp.term[i].factor));
        for (size_t k = i + 1; k < milp.terms && milp.term[k].row == milp.term[i].row; k++) {
            ck_assert_int_ne(milp.term[i].column, milp.term[k].column);
        }
    }
    for (size_t i = 0; i < milp.columns; i++) {
        ck_assert(milp.column[i].lower == 0 && isfinite(milp.column[i].upper));
    }
    calc_milp_free(&milp);
}

/* ---- Shares
 * ------------------------------------------------------------------------------------*/

CALC_TEST(shares_are_the_nearest_whole_numbers)
{
    calc_balance_problem p = balance_problem(&balance_cases[9]);
    double value[64] = {0};
    calc_balance_share share[2];
    build(&p);
    ck_assert_uint_lt(milp.columns, 64);
    for (size_t i = 0; i < milp.columns; i++) {
        const calc_milp_column *c = &milp.column[i];
        value[i] = c->what == CALC_MILP_LAYERS      ? 3.9999996 + c->stage
                   : c->what == CALC_MILP_SELECTIVE ? 2.0000004 - c->stage
                   : c->what == CALC_MILP_FULL      ? 1e-9 + c->stage
                                                    : 77;
    }
    memset(share, 1, sizeof share);
    calc_milp_shares(&milp, value, share);
    for (int stage = 0; stage < 2; stage++) {
        ck_assert_int_eq(share[stage].layers[0], 0);
        ck_assert_int_eq(share[stage].layers[1], 4 + stage);
        ck_assert_int_eq(share[stage].selective[1], 2 - stage);
        ck_assert_int_eq(share[stage].full[1], stage);
        ck_assert_int_eq(share[stage].full[0] + share[stage].selective[0], 0);
    }
    calc_milp_free(&milp);
}
