/* MPS texts, one to the byte; check_balance_examples.c has what others make of them. CALC_UPDATE=1
 * writes the text anew. */
#include "balance/milp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance_case.h"
#include "frame.h"
#include "scratch.h"

static calc_milp milp;
static char text[1 << 20];
static size_t length;

static bool keep(void *context, const char *piece, size_t count)
{
    (void)context;
    ck_assert_uint_lt(length + count, sizeof text);
    memcpy(text + length, piece, count);
    length += count;
    text[length] = '\0';
    return true;
}

static void build(const calc_balance_problem *p)
{
    ck_assert_int_eq(calc_milp_build(p, NULL, &milp, NULL), CALC_OK);
}

static void write_program(void)
{
    length = 0;
    ck_assert_int_eq(calc_mps_program(&milp, keep, NULL), CALC_OK);
}

static void write_names(void)
{
    length = 0;
    ck_assert_int_eq(calc_mps_names(&milp, keep, NULL), CALC_OK);
}

/* ---- Text -------------------------------------------------------------------------------------*/

static void expect_file(const char *name)
{
    static char expected[sizeof text];
    char path[512];
    snprintf(path, sizeof path, "%s/golden/pipeline_ilp/%s", CALC_TEST_DATA, name);
    if (getenv("CALC_UPDATE") != NULL) {
        scratch_write(path, text, length);
    }
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s is missing", path);
    expected[fread(expected, 1, sizeof expected - 1, in)] = '\0';
    fclose(in);
    ck_assert_str_eq(text, expected);
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
    const char *line = strchr(text, '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1, lines++) {
        char name[CALC_MILP_NAME_SIZE];
        char meaning[64];
        calc_milp_column_name(lines, name);
        ck_assert_int_eq(strncmp(line, name, strlen(name)), 0);
        /* ",variable,stage,chunk,microbatch\n" is nowhere else. */
        snprintf(meaning, sizeof meaning, "%.*s", (int)(strchr(line, '\n') + 1 - line - 7),
                 line + 7);
        ck_assert_ptr_eq(strstr(text, meaning), line + 7);
    }
    ck_assert_uint_eq(lines, milp.columns);
    /* All passes of all micro-batches are there. */
    for (int stage = 0; stage < c->stages; stage++) {
        for (int i = 0; i < c->chunks * c->microbatches; i++) {
            char pass[64];
            snprintf(pass, sizeof pass, ",forward_start,%d,%d,%d\n", stage, i / c->microbatches,
                     i % c->microbatches);
            ck_assert_ptr_nonnull(strstr(text, pass));
            snprintf(pass, sizeof pass, ",backward_start,%d,%d,%d\n", stage, i / c->microbatches,
                     i % c->microbatches);
            ck_assert_ptr_nonnull(strstr(text, pass));
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
        ck_assert_int_eq(calc_mps_program(&milp, stop_after, &left), CALC_ERR_IO);
        ck_assert_int_eq(left, -1); /* nothing is written after that */
        left = lines;
        ck_assert_int_eq(calc_mps_names(&milp, stop_after, &left), CALC_ERR_IO);
        ck_assert_int_eq(left, -1);
    }
    calc_milp_free(&milp);
}
