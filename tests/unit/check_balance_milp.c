#include "balance/milp.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balance_case.h"
#include "frame.h"
#include "scratch.h"

static calc_milp milp;

static void build(const calc_balance_problem *p)
{
    ck_assert_int_eq(calc_milp_build(p, &milp, NULL), CALC_OK);
}

/* ---- Refusals ---------------------------------------------------------------------------------*/

static void refused(const calc_balance_problem *p, calc_status status, const char *text)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_milp_build(p, &milp, &errors), status);
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
        ck_assert(isfinite(milp.column[i].upper));
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

/* MPS texts, one to the byte; check_balance_examples.c has what others make of them. CALC_UPDATE=1
 * writes the text anew. */

static char written[1 << 20];
static size_t length;

static bool keep(void *context, const char *piece, size_t count)
{
    (void)context;
    ck_assert_uint_lt(length + count, sizeof written);
    memcpy(written + length, piece, count);
    length += count;
    written[length] = '\0';
    return true;
}

static void write_program(void)
{
    length = 0;
    ck_assert(calc_mps_program(&milp, keep, NULL));
}

static void write_names(void)
{
    length = 0;
    ck_assert(calc_mps_names(&milp, keep, NULL));
}

/* ---- Text -------------------------------------------------------------------------------------*/

static void expect_file(const char *name)
{
    static char expected[sizeof written];
    char path[512];
    snprintf(path, sizeof path, "%s/golden/pipeline_ilp/%s", CALC_TEST_DATA, name);
    if (getenv("CALC_UPDATE") != NULL) {
        scratch_write(path, written, length);
    }
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s is missing", path);
    expected[fread(expected, 1, sizeof expected - 1, in)] = '\0';
    fclose(in);
    ck_assert_str_eq(written, expected);
}

/* Both kinds of layers and of recomputation, two chips that recompute alike, working memory. */
CALC_TEST(program_and_names_are_these_texts)
{
    calc_balance_problem p = {
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 1},
        .layers = {1, 2},
        .chips = 2,
        .layer = {{{.fw_s = .5,
                    .agrad_s = .75,
                    .again_s = {0, .1, .5},
                    .held_bytes = 10,
                    .flight_bytes = {8, 5, 1}},
                   {.fw_s = 1. / 3,
                    .agrad_s = 1,
                    .wgrad_s = 1,
                    .again_s = {0, .2, 1. / 3},
                    .held_bytes = 20,
                    .flight_bytes = {9, 6, 2}}},
                  {{.fw_s = 2}, {.fw_s = 3}}},
        .stage = {{.limit_bytes = 1e2, .working_bytes = 3, .fixed_bytes = 1},
                  {.chip = 1, .limit_bytes = INFINITY}},
        .place = {{.flight_bytes = .25}, {.fw_s = .125}},
        .may_select = true,
        .may_full = true,
        .alike_on_chip = true,
        .most_layers = 2,
    };
    build(&p);
    write_program();
    expect_file("small.mps");
    write_names();
    expect_file("small.csv");
    calc_milp_free(&milp);
}

CALC_TEST(numbers_have_the_digits_that_fit)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {-1, "-1"},
        {0.5, ".5"},
        {-0.397, "-.397"},
        {1. / 3, ".33333333333"},
        {-1. / 3, "-.3333333333"},
        {1132.662249, "1132.662249"},
        {-1e-3 / 3, "-.0003333333"},
        {1e-5 / 3, "3.333333e-06"},
        {123456789012, "123456789012"},
        {-123456789012, "-1.23457e+11"},
        {1e300 / 3, "3.33333e+299"},
        {-1e-300 / 3, "-3.3333e-301"},
        {99999, "99999"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char number[CALC_MPS_NUMBER_SIZE];
        ck_assert_str_eq(calc_mps_number(cases[i].value, number), cases[i].text);
    }
}

/* ---- Names ------------------------------------------------------------------------------------*/

CALC_TEST_LOOP(every_column_has_a_name_and_a_meaning_of_its_own, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    build(&p);
    write_names();
    size_t lines = 0;
    const char *line = strchr(written, '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1, lines++) {
        char name[CALC_MILP_NAME_SIZE];
        char meaning[64];
        calc_milp_column_name(lines, name);
        ck_assert_int_eq(strncmp(line, name, strlen(name)), 0);
        /* ",variable,stage,chunk,microbatch\n" is nowhere else. */
        snprintf(meaning, sizeof meaning, "%.*s", (int)(strchr(line, '\n') + 1 - line - 7),
                 line + 7);
        ck_assert_ptr_eq(strstr(written, meaning), line + 7);
    }
    ck_assert_uint_eq(lines, milp.columns);
    /* All passes of all micro-batches are there. */
    for (int stage = 0; stage < c->stages; stage++) {
        for (int i = 0; i < c->chunks * c->microbatches; i++) {
            char pass[64];
            snprintf(pass, sizeof pass, ",forward_start,%d,%d,%d\n", stage, i / c->microbatches,
                     i % c->microbatches);
            ck_assert_ptr_nonnull(strstr(written, pass));
            snprintf(pass, sizeof pass, ",backward_start,%d,%d,%d\n", stage, i / c->microbatches,
                     i % c->microbatches);
            ck_assert_ptr_nonnull(strstr(written, pass));
        }
    }
    calc_milp_free(&milp);
}

/* ---- Failures ---------------------------------------------------------------------------------*/

static bool stop_after(void *context, const char *piece, size_t count)
{
    int *left = context;
    (void)piece;
    (void)count;
    return (*left)-- > 0;
}

CALC_TEST(text_that_is_not_taken_is_an_error)
{
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    build(&p);
    for (int lines = 0; lines < 20; lines++) {
        int left = lines;
        ck_assert(!calc_mps_program(&milp, stop_after, &left));
        ck_assert_int_eq(left, -1); /* nothing is written after that */
        left = lines;
        ck_assert(!calc_mps_names(&milp, stop_after, &left));
        ck_assert_int_eq(left, -1);
    }
    calc_milp_free(&milp);
}

const calc_test_frame calc_tests = {.needs = "glpsol"};

static calc_solver_result result;
static calc_errors errors;

static void build_example(int i)
{
    calc_balance_problem p = balance_problem(&balance_cases[i]);
    build(&p);
}

static void expect(calc_solver_outcome outcome, double objective_s)
{
    ck_assert_int_eq(result.outcome, outcome);
    if (isinf(objective_s)) {
        ck_assert(isinf(result.objective_s));
        ck_assert_ptr_null(result.value);
    } else {
        ck_assert_double_eq_tol(result.objective_s, objective_s, 1e-9 * objective_s);
        ck_assert_ptr_nonnull(result.value);
    }
}

static void done(void)
{
    calc_solver_free(&result);
    calc_milp_free(&milp);
    errors = (calc_errors){0};
}

/* ---- glpsol -----------------------------------------------------------------------------------*/

CALC_TEST(glpsol_heeds_the_time_limit)
{
    calc_balance_problem p = balance_large();
    p.shape.microbatches *= 8; /* it takes minutes */
    build(&p);
    ck_assert_int_eq(calc_solver_glpsol(&milp, .1, &result, NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    done();
}

/* All that is printed meanwhile. */
static calc_status quietly(void)
{
    char folder[256];
    struct stat said;
    scratch_enter(folder, sizeof folder);
    fflush(NULL);
    int out = dup(1);
    int err = dup(2);
    int file = open("said", O_CREAT | O_WRONLY, 0600);
    dup2(file, 1);
    dup2(file, 2);
    calc_status status = calc_solver_glpsol(&milp, 0, &result, &errors);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    close(file);
    ck_assert_int_eq(stat("said", &said), 0);
    ck_assert_int_eq(said.st_size, 0);
    scratch_leave(folder);
    return status;
}

CALC_TEST(glpsol_says_nothing)
{
    build_example(8);
    ck_assert_int_eq(quietly(), CALC_OK);
    expect(CALC_SOLVER_OPTIMAL, 103.02);
    done();
}

static void expect_error(const char *text)
{
    ck_assert_int_eq(quietly(), CALC_ERR_IO);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_ptr_null(result.value);
    done();
}

CALC_TEST(a_program_that_glpsol_refuses_is_an_error_with_its_last_words)
{
    build_example(0);
    milp.term[5].row = (int)milp.rows;
    expect_error("glpsol gave up: MPS file processing error");
}

CALC_TEST(without_glpsol_an_error_says_where_it_is)
{
    build_example(0);
    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
    expect_error("glpsol is not installed: apt-get install glpk-utils");
}

/* ---- Like the search --------------------------------------------------------------------------*/

static calc_balance_solution solution;

CALC_TEST_LOOP(a_solver_divides_layers_as_the_search_does, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, NULL), CALC_OK);
    ck_assert(solution.proven);
    ck_assert_int_eq(solution.feasible, !isinf(c->optimum));
    ck_assert_int_eq(solution.stage, -1);
    if (solution.feasible) {
        ck_assert(solution.answer.fits);
        ck_assert_double_eq_tol(solution.answer.step_s, c->optimum, c->optimum * 1e-9);
        ck_assert_double_eq_tol(solution.bound_s, c->optimum, c->optimum * 1e-9);
        ck_assert_int_eq(solution.share[0].layers[1] > 0, 1);
    } else {
        ck_assert_double_eq(solution.bound_s, INFINITY);
    }
}

/* Three times a tenth is more than three tenths. */
CALC_TEST(what_a_solver_tolerates_does_not_fit)
{
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    p.layer[0][1].held_bytes = .1;
    p.layer[0][1].flight_bytes[CALC_BALANCE_NONE] = 0;
    p.may_full = false;
    p.stage[0].limit_bytes = .3;
    p.stage[1].limit_bytes = .4;
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, NULL), CALC_OK);
    ck_assert(solution.feasible && solution.answer.fits && !solution.proven);
    ck_assert_int_eq(solution.share[0].layers[1], 2);
    ck_assert_int_eq(solution.share[1].layers[1], 4);
    ck_assert_double_eq_tol(solution.bound_s, 63, 1e-9); /* of 3 and 3 */
    p.stage[1].limit_bytes = .3;
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, NULL), CALC_OK);
    ck_assert(!solution.feasible && !solution.proven);
}

CALC_TEST(schedules_without_a_program_are_refused)
{
    calc_balance_problem p = balance_problem(&balance_cases[8]);
    p.shape.kind = CALC_PIPELINE_SCHEDULE_ZB_H2;
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, &errors), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, 1);
}
