/* MPS texts: one to the byte, and what the readers of others make of all of them. CALC_UPDATE=1
 * writes the text anew. */
#include "balance/mps.h"

#include <glpk.h>
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

/* ---- Readers ----------------------------------------------------------------------------------*/

static bool near_enough(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Row by row what was written. */
static void compare(glp_prob *problem)
{
    int index[1000];
    double factor[1000];
    size_t terms = 0;
    for (size_t row = 0; row < milp.rows; row++) {
        char name[CALC_MILP_NAME_SIZE];
        const calc_milp_row *r = &milp.row[row];
        int at = glp_find_row(problem, calc_milp_row_name(row, name));
        ck_assert_int_gt(at, 0);
        int type = glp_get_row_type(problem, at);
        ck_assert_int_eq(type, r->sense == CALC_MILP_LESS   ? GLP_UP
                               : r->sense == CALC_MILP_MORE ? GLP_LO
                                                            : GLP_FX);
        ck_assert(near_enough(
            type == GLP_UP ? glp_get_row_ub(problem, at) : glp_get_row_lb(problem, at), r->bound));
        int count = glp_get_mat_row(problem, at, index, factor);
        for (; terms < milp.terms && milp.term[terms].row == (int)row; terms++, count--) {
            int column =
                glp_find_col(problem, calc_milp_column_name((size_t)milp.term[terms].column, name));
            int k = 1;
            for (; index[k] != column; k++) {
                ck_assert_int_lt(k, 1000);
            }
            ck_assert(near_enough(factor[k], milp.term[terms].factor));
        }
        ck_assert_int_eq(count, 0);
    }
    ck_assert_uint_eq(terms, milp.terms);
    for (size_t column = 0; column < milp.columns; column++) {
        char name[CALC_MILP_NAME_SIZE];
        const calc_milp_column *c = &milp.column[column];
        int at = glp_find_col(problem, calc_milp_column_name(column, name));
        ck_assert_int_gt(at, 0);
        ck_assert_int_eq(glp_get_col_kind(problem, at) != GLP_CV, c->integer);
        ck_assert(near_enough(glp_get_col_lb(problem, at), c->lower));
        ck_assert(near_enough(glp_get_col_ub(problem, at), c->upper));
        ck_assert(near_enough(glp_get_obj_coef(problem, at), c->cost));
    }
}

/* `command` writes to the file `out`; the number after `words` in it. @return false: none */
static bool ask(const char *command, const char *words, double *number)
{
    char out[8192];
    ck_assert_int_eq(system(command), 0);
    FILE *in = fopen("out", "r");
    ck_assert_ptr_nonnull(in);
    out[fread(out, 1, sizeof out - 1, in)] = '\0';
    fclose(in);
    const char *at = strstr(out, words);
    if (at) {
        *number = strtod(at + strlen(words), NULL);
    }
    return at != NULL;
}

static bool installed(const char *command)
{
    char line[64];
    snprintf(line, sizeof line, "command -v %s > log", command);
    bool there = system(line) == 0;
    if (!there) {
        printf("%s is not installed: not asked\n", command);
    }
    return there;
}

/* The optimum that the solvers of others, or the first one, find in the file model.mps. */
static void expect_of_others(const char *name, double optimum, bool all)
{
    static const struct {
        const char *program, *command, *solved, *number;
    } solvers[] = {
        {"cbc", "cbc model.mps solve solution out > log", "Optimal", "objective value "},
        {"glpsol", "glpsol --mps model.mps -o out > log", "INTEGER OPTIMAL", "OBJ = "},
    };
    bool asked = false;
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0] && (all || !asked); i++) {
        double found = NAN;
        if (!installed(solvers[i].program)) {
            continue;
        }
        asked = true;
        bool solved = ask(solvers[i].command, solvers[i].solved, &found);
        ck_assert_msg(solved == !isinf(optimum), "%s: %s", solvers[i].program, name);
        if (solved) {
            ck_assert(ask("true", solvers[i].number, &found));
            ck_assert_msg(fabs(found - optimum) <= 1e-6, "%s: %s is %.10g, not %.10g",
                          solvers[i].program, name, found, optimum);
        }
    }
}

static void check_with_others(const calc_balance_problem *p, const char *name, double optimum,
                              bool all)
{
    char folder[256];
    build(p);
    write_program();
    scratch_enter(folder, sizeof folder);
    scratch_write("model.mps", text, length);
    glp_term_out(GLP_OFF);
    glp_prob *problem = glp_create_prob();
    ck_assert_int_eq(glp_read_mps(problem, GLP_MPS_DECK, NULL, "model.mps"), 0);
    glp_create_index(problem);
    compare(problem);
    glp_delete_prob(problem);
    glp_free_env();
    expect_of_others(name, optimum, all);
    scratch_leave(folder);
    calc_milp_free(&milp);
}

CALC_TEST_LOOP(others_read_the_examples_as_they_are, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    check_with_others(&p, c->name, c->optimum, true);
}

/* Twelve characters are enough for 1e-9 of the objective. Solvers take seconds: one of them. */
CALC_TEST(others_find_the_published_optimum_of_a_large_program)
{
    calc_balance_problem p = balance_large();
    check_with_others(&p, "large", 1132.662249, false);
}

/* Costs without a last digit, in seconds and bytes. */
CALC_TEST(others_read_uneven_numbers_to_nine_digits)
{
    calc_balance_problem p = balance_problem(&balance_cases[8]);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        calc_balance_layer *l = &p.layer[0][kind];
        l->fw_s *= 0.0031415926535897932;
        l->agrad_s *= 0.0031415926535897932;
        l->again_s[CALC_BALANCE_FULL] *= 0.0031415926535897932;
        l->held_bytes *= 1048575.9;
        l->flight_bytes[CALC_BALANCE_NONE] *= 1048575.9;
        l->flight_bytes[CALC_BALANCE_FULL] *= 1048575.9;
    }
    for (int stage = 0; stage < 4; stage++) {
        p.stage[stage].limit_bytes *= 1048575.9;
    }
    p.place[3].fw_s *= 0.0031415926535897932;
    p.place[3].agrad_s *= 0.0031415926535897932;
    check_with_others(&p, "uneven", 103.02 * 3.1415926535897932, true);
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
