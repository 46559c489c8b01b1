/* Programs of pipelines whose optima are known, solved by programs of others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/evaluate.h"
#include "balance/milp.h"
#include "balance_case.h"
#include "frame.h"
#include "scratch.h"

const calc_test_frame calc_tests = {.needs = "glpsol"};

static calc_milp milp;
static calc_solver_result result;

static void solve(void)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_solver_glpsol(&milp, 0, &result, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

static void done(void)
{
    calc_solver_free(&result);
    calc_milp_free(&milp);
}

static void expect(const char *name, double optimum)
{
    solve();
    if (isinf(optimum)) {
        ck_assert_int_eq(result.outcome, CALC_SOLVER_INFEASIBLE);
        ck_assert_ptr_null(result.value);
        return;
    }
    ck_assert_msg(result.outcome == CALC_SOLVER_OPTIMAL, "%s: outcome %d", name, result.outcome);
    ck_assert_msg(fabs(result.objective_s - optimum) < 1e-9 * optimum, "%s: %.12g, not %.12g", name,
                  result.objective_s, optimum);
    ck_assert_double_eq(result.bound_s, result.objective_s);
}

/* What the values stand for takes as long when it is simulated, and fits. */
static void expect_shares(const calc_balance_problem *p, double optimum)
{
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_balance_answer answer;
    calc_milp_shares(&milp, result.value, share);
    ck_assert_int_eq(calc_balance_evaluate(p, share, &answer), CALC_OK);
    ck_assert(answer.fits);
    ck_assert_double_eq_tol(answer.step_s, optimum, 1e-9 * optimum);
}

CALC_TEST_LOOP(programs_of_the_examples_have_their_optima, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    ck_assert_int_eq(calc_milp_build(&p, &milp, NULL), CALC_OK);
    expect(c->name, c->optimum);
    if (result.value) {
        expect_shares(&p, c->optimum);
    }
    done();
}

/* Seconds. */
CALC_TEST(the_large_program_has_the_published_optimum)
{
    calc_balance_problem p = balance_large();
    ck_assert_int_eq(calc_milp_build(&p, &milp, NULL), CALC_OK);
    expect("large", 1132.662249);
    expect_shares(&p, 1132.662249);
    done();
}

static void build(const calc_balance_problem *p)
{
    ck_assert_int_eq(calc_milp_build(p, &milp, NULL), CALC_OK);
}

static double optimum(void)
{
    solve();
    ck_assert_int_eq(result.outcome, CALC_SOLVER_OPTIMAL);
    return result.objective_s;
}

/* ---- Units ------------------------------------------------------------------------------------*/

CALC_TEST(units_keep_numbers_near_one_and_move_no_optimum)
{
    const balance_case *c = &balance_cases[8];
    calc_balance_problem p = balance_problem(c);
    const double s = 1e-5;
    const double bytes = 1 << 22;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        calc_balance_layer *l = &p.layer[0][kind];
        l->fw_s *= s;
        l->wgrad_s = l->agrad_s * s / 4;
        l->agrad_s *= s * 3 / 4;
        l->held_bytes *= bytes;
        for (int i = 0; i < CALC_BALANCE_RECOMPUTES; i++) {
            l->again_s[i] *= s;
            l->flight_bytes[i] *= bytes;
        }
    }
    for (int stage = 0; stage < c->stages; stage++) {
        p.stage[stage].fixed_bytes = 1e9;
        p.stage[stage].limit_bytes = p.stage[stage].limit_bytes * bytes + 1e9;
    }
    p.place[3].fw_s *= s;
    p.place[3].agrad_s *= s / 2;
    p.place[3].wgrad_s = p.place[3].agrad_s;
    build(&p);
    ck_assert_double_eq_tol(milp.unit_s, 1e-6, 1e-18);
    ck_assert_double_eq(milp.unit_bytes, 1 << 20);
    ck_assert_double_eq_tol(optimum(), c->optimum * s, c->optimum * s * 1e-9);
    done();
}

CALC_TEST(problems_that_cost_nothing_have_a_program)
{
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    memset(p.layer, 0, sizeof p.layer);
    memset(p.place, 0, sizeof p.place);
    build(&p);
    ck_assert_double_eq(optimum(), 0);
    done();
}

/* ---- Rules ------------------------------------------------------------------------------------*/

/* E6 takes 65 since 2 of 3 layers of stage 0 must recompute. If 2 of stage 1 do so, too, each of
 * its 4 passes, on which the other stage waits, takes 2 more. */
CALC_TEST(stages_on_a_chip_recompute_alike)
{
    calc_balance_problem p = balance_problem(&balance_cases[5]);
    calc_balance_share share[2];
    p.alike_on_chip = true;
    build(&p);
    solve();
    calc_milp_shares(&milp, result.value, share);
    ck_assert_int_eq(share[0].full[1], share[1].full[1]);
    ck_assert_double_eq_tol(result.objective_s, 73, 1e-9);
    done();
    /* On chips of their own they need not. */
    p.chips = 2;
    memcpy(p.layer[1], p.layer[0], sizeof p.layer[0]);
    p.stage[1].chip = 1;
    build(&p);
    ck_assert_double_eq_tol(optimum(), 65, 1e-9);
    done();
}

/* E6's stage 0 needs 10,800 of 12,000; its third layer may recompute, too, which takes 1 more. */
CALC_TEST(working_memory_counts_once_a_layer_recomputes)
{
    calc_balance_problem p = balance_problem(&balance_cases[5]);
    p.stage[0].working_bytes = 1200;
    build(&p);
    ck_assert_double_eq_tol(optimum(), 65, 1e-9);
    done();
    p.stage[0].working_bytes = 1201;
    build(&p);
    ck_assert_double_eq_tol(optimum(), 66, 1e-9);
    done();
    p = balance_problem(&balance_cases[0]); /* nothing recomputes */
    p.stage[0].working_bytes = 1e9;
    p.stage[1].working_bytes = 1e9;
    build(&p);
    ck_assert_double_eq_tol(optimum(), 57, 1e-9);
    done();
}

/* E1 has 4 and 2 layers. */
CALC_TEST(layers_of_a_place_are_bounded)
{
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    p.most_layers = 3;
    build(&p);
    ck_assert_double_eq_tol(optimum(), 63, 1e-9); /* 3 and 3, as E2 */
    done();
    p.most_layers = 0;
    p.least_layers = 3;
    build(&p);
    ck_assert_double_eq_tol(optimum(), 63, 1e-9);
    done();
}

/* ---- Readers of the text
 * ----------------------------------------------------------------------------------*/

static bool near_enough(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void expect_name(const char *line, char kind, char *(*name)(size_t, char *))
{
    char read[16], expected[CALC_MILP_NAME_SIZE], form[] = "n ? %zu %15s";
    size_t at;
    form[2] = kind;
    if (sscanf(line, form, &at, read) == 2) {
        ck_assert_str_eq(read, name(at - 1, expected));
    }
}

static const calc_milp_term *term_at(size_t row, size_t column)
{
    for (size_t i = 0; i < milp.terms; i++) {
        if (milp.term[i].row == (int)row && milp.term[i].column == (int)column) {
            return &milp.term[i];
        }
    }
    ck_abort_msg("no term in row %zu and column %zu", row, column);
}

/* What glpsol has read, as it writes it itself: indices begin with 1, row 0 is the objective; rows
 * are "s 0", and columns are 0 or 1, unless said otherwise:
 *     i 2 u 5        j 3 i d 0 7        a 2 3 -1        n j 3 C000002 */
static void compare(const char *path)
{
    char line[256], kind, type;
    double lower, upper;
    size_t at, row, terms = 0, names = 0;
    int read;
    calc_milp_row *rows = calloc(milp.rows, sizeof *rows);
    calc_milp_column *columns = calloc(milp.columns, sizeof *columns);
    FILE *in = fopen(path, "r");
    ck_assert(in && rows && columns);
    for (size_t i = 0; i < milp.rows; i++) {
        rows[i].sense = CALC_MILP_EQUAL;
    }
    for (size_t i = 0; i < milp.columns; i++) {
        columns[i] = (calc_milp_column){.integer = true, .upper = 1};
    }
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "i %zu %c %lf", &at, &type, &lower) == 3) {
            rows[at - 1] = (calc_milp_row){type == 'u'   ? CALC_MILP_LESS
                                           : type == 'l' ? CALC_MILP_MORE
                                                         : CALC_MILP_EQUAL,
                                           lower};
        } else if ((read = sscanf(line, "j %zu %c %c %lf %lf", &at, &kind, &type, &lower, &upper)) >
                   3) {
            calc_milp_column *c = &columns[at - 1];
            c->integer = kind == 'i';
            ck_assert_double_eq(lower, 0);
            c->upper = read == 5 ? upper : type == 's' ? lower : INFINITY;
        } else if (sscanf(line, "a %zu %zu %lf", &row, &at, &lower) == 3) {
            if (row == 0) {
                columns[at - 1].cost = lower;
            } else {
                ck_assert(near_enough(lower, term_at(row - 1, at - 1)->factor));
                terms++;
            }
        }
        expect_name(line, 'i', calc_milp_row_name);
        expect_name(line, 'j', calc_milp_column_name);
        names += strncmp(line, "n i ", 4) == 0 || strncmp(line, "n j ", 4) == 0;
    }
    fclose(in);
    ck_assert_uint_eq(terms, milp.terms);
    ck_assert_uint_eq(names, milp.rows + milp.columns);
    for (size_t i = 0; i < milp.rows; i++) {
        ck_assert_int_eq(rows[i].sense, milp.row[i].sense);
        ck_assert(near_enough(rows[i].bound, milp.row[i].bound));
    }
    for (size_t i = 0; i < milp.columns; i++) {
        ck_assert_int_eq(columns[i].integer, milp.column[i].integer);
        ck_assert(near_enough(columns[i].upper, milp.column[i].upper));
        ck_assert(near_enough(columns[i].cost, milp.column[i].cost));
    }
    free(rows);
    free(columns);
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

static bool write_text(void *file, const char *piece, size_t length)
{
    return fwrite(piece, 1, length, file) == length;
}

static void check_with_others(const calc_balance_problem *p, const char *name, double optimum,
                              bool all)
{
    char folder[256];
    build(p);
    scratch_enter(folder, sizeof folder);
    FILE *out = fopen("model.mps", "w");
    ck_assert_ptr_nonnull(out);
    ck_assert(calc_mps_program(&milp, write_text, out));
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_int_eq(system("glpsol --mps model.mps --check --wglp read > log"), 0);
    compare("read");
    expect_of_others(name, optimum, all);
    scratch_leave(folder);
    done();
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

CALC_TEST_LOOP(programs_made_by_others_have_the_same_optima, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    char command[1024], folder[256];
    double found = NAN;
    snprintf(command, sizeof command,
             "glpsol --freemps '%s/golden/pipeline_ilp/%s.mps' -o out > log", CALC_TEST_DATA,
             c->name);
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(ask(command, "INTEGER OPTIMAL", &found), !isinf(c->optimum));
    if (!isinf(c->optimum)) {
        ck_assert(ask("true", "OBJ = ", &found));
        ck_assert_double_eq_tol(found, c->optimum, 1e-9 * c->optimum);
    }
    scratch_leave(folder);
}
