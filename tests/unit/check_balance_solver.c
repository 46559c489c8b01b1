#include "balance/solver.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balance/mps.h"
#include "balance_case.h"
#include "frame.h"
#include "scratch.h"

static calc_milp milp;
static calc_solver_result result;
static calc_errors errors;

static void build(const calc_balance_problem *p)
{
    ck_assert_int_eq(calc_milp_build(p, NULL, &milp, NULL), CALC_OK);
}

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

/* ---- GLPK -------------------------------------------------------------------------------------*/

static bool stop_after(void *context)
{
    int *left = context;
    return (*left)-- <= 0;
}

CALC_TEST(glpk_stops_when_it_is_told)
{
    calc_balance_problem p = balance_large();
    int left = 0;
    calc_solver_options options = {.stop = stop_after, .context = &left};
    build(&p);
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    ck_assert(isinf(result.gap));
    calc_solver_free(&result);
    left = 20;
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    ck_assert_double_gt(result.bound_s, 900); /* of the relaxation */
    ck_assert_double_lt(result.bound_s, 1132.67);
    done();
}

CALC_TEST(glpk_heeds_the_time_limit)
{
    calc_balance_problem p = balance_large();
    calc_solver_options options = {.time_limit_s = 1e-3}; /* it takes seconds */
    build(&p);
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    ck_assert_int_ne(result.outcome, CALC_SOLVER_OPTIMAL);
    ck_assert_int_ne(result.outcome, CALC_SOLVER_INFEASIBLE);
    done();
}

CALC_TEST(glpk_stops_within_the_gap)
{
    const balance_case *c = &balance_cases[8];
    calc_solver_options options = {.gap = .5};
    build_example(8);
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    ck_assert_int_eq(result.outcome, CALC_SOLVER_OPTIMAL);
    ck_assert_double_gt(result.objective_s, c->optimum + .1); /* it would have found better */
    ck_assert_double_le(result.bound_s, c->optimum);
    ck_assert_double_gt(result.gap, 0);
    ck_assert_double_le(result.gap, .5);
    ck_assert_double_eq_tol(result.gap, 1 - result.bound_s / result.objective_s, 1e-12);
    done();
}

/* All that is printed meanwhile. */
static calc_status quietly(calc_solver_solve *solve)
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
    calc_status status = solve(&milp, NULL, &result, &errors);
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

CALC_TEST(glpk_says_nothing)
{
    build_example(8);
    ck_assert_int_eq(quietly(calc_solver_glpk), CALC_OK);
    expect(CALC_SOLVER_OPTIMAL, 103.02);
    done();
}

/* GLPK would end the program. */
CALC_TEST(a_program_that_glpk_refuses_is_an_error_and_no_end)
{
    for (int i = 0; i < 3; i++) {
        build_example(0);
        milp.term[5].column = (int)milp.columns;
        ck_assert_int_eq(quietly(calc_solver_glpk), CALC_ERR_RULE);
        ck_assert_int_eq(errors.count, 1);
        ck_assert_msg(strncmp(errors.item[0].text, "GLPK gave up: ", 14) == 0 &&
                          strlen(errors.item[0].text) > 40,
                      "%s", errors.item[0].text);
        ck_assert_ptr_null(result.value);
        done();
        build_example(0); /* and it still works */
        ck_assert_int_eq(calc_solver_glpk(&milp, NULL, &result, NULL), CALC_OK);
        expect(CALC_SOLVER_OPTIMAL, 57);
        done();
    }
    build_example(0);
    milp.column[0].lower = 1.5; /* of an integer */
    ck_assert_int_eq(quietly(calc_solver_glpk), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text,
                     "GLPK gave up: no reason given (code 4)"); /* GLP_EBOUND */
    done();
}

CALC_TEST(glpk_has_a_version)
{
    ck_assert_int_ge(calc_solver_glpk_library()[0], '4');
    ck_assert_ptr_nonnull(strchr(calc_solver_glpk_library(), '.'));
}

/* ---- HiGHS ------------------------------------------------------------------------------------*/

static char folder[256];
static char *path; /* of commands */

/* A folder with a command `highs` that keeps what it is given, and says what is in `solution` and
 * `printed`; and no files of calc's own. */
static void pretend(const char *solution, const char *printed)
{
    static const char command[] =
        "#!/bin/sh\n"
        "[ \"$1 $3\" = '--options_file --model_file' ] || exit 3\n"
        "cp \"$2\" ../options; cp \"$4\" ../model\n"
        "cat ../printed\n"
        "[ -s ../solution ] && cp ../solution \"$(sed -n 's/^solution_file = //p' \"$2\")\"\n"
        "exit 1\n";
    char bin[512];
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(mkdir("bin", 0700), 0);
    ck_assert_int_eq(mkdir("temporary", 0700), 0);
    scratch_write("solution", solution, strlen(solution));
    scratch_write("printed", printed, strlen(printed));
    scratch_write("bin/highs", command, strlen(command));
    ck_assert_int_eq(chmod("bin/highs", 0700), 0);
    ck_assert_int_eq(chdir("temporary"), 0);
    path = strdup(getenv("PATH"));
    snprintf(bin, sizeof bin, "%s/bin:%s", folder, path);
    ck_assert_int_eq(setenv("PATH", bin, 1), 0);
    snprintf(bin, sizeof bin, "%s/temporary", folder);
    ck_assert_int_eq(setenv("TMPDIR", bin, 1), 0);
}

static void end_pretending(void)
{
    ck_assert_int_eq(scratch_count(), 0); /* nothing is left behind */
    setenv("PATH", path, 1);
    unsetenv("TMPDIR");
    free(path);
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(remove("bin/highs"), 0);
    scratch_leave(folder);
    done();
}

/* The solution of E1 as HiGHS writes one: GLPK's values. */
static const char *solution_of(const char *status, const char *feasible, size_t columns)
{
    static char text[8192];
    static char name[CALC_MILP_NAME_SIZE];
    calc_solver_result known;
    ck_assert_int_eq(calc_solver_glpk(&milp, NULL, &known, NULL), CALC_OK);
    int used = snprintf(text, sizeof text,
                        "Model status\n%s\n\n# Primal solution values\n%s\nObjective 57.00\n"
                        "# Columns %zu\n",
                        status, feasible, columns);
    for (size_t i = 0; i < columns; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %.15g\n",
                         calc_milp_column_name(i, name), known.value[i]);
    }
    snprintf(text + used, sizeof text - (size_t)used,
             "# Rows 2\nR000000 6\nR000001 4\n\n# Dual solution values\nNone\n\n# Basis\nHiGHS v1\n"
             "None\n");
    calc_solver_free(&known);
    return text;
}

static calc_status ask(const calc_solver_options *options)
{
    return calc_solver_highs(&milp, options, &result, &errors);
}

CALC_TEST(without_highs_an_error_says_so)
{
    build_example(0);
    pretend("", "");
    setenv("PATH", folder, 1);
    ck_assert_int_eq(ask(NULL), CALC_ERR_NOT_FOUND);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, "there is no command \"highs\" in the folders of PATH");
    ck_assert_str_eq(errors.item[0].hint, "install HiGHS, or take the solver glpk");
    end_pretending();
}

static bool put_file(void *context, const char *text, size_t length)
{
    return fwrite(text, 1, length, context) == length;
}

CALC_TEST(highs_is_given_the_program_and_its_solution_is_read)
{
    calc_balance_share share[2];
    build_example(0);
    pretend(solution_of("Optimal", "Feasible", milp.columns),
            "  Primal bound      57\n  Dual bound        56.5\n  Gap               0.9%\n");
    calc_solver_options options = {.time_limit_s = 2.5, .gap = .125};
    ck_assert_int_eq(ask(&options), CALC_OK);
    expect(CALC_SOLVER_OPTIMAL, 57);
    ck_assert_double_eq(result.bound_s, 56.5);
    ck_assert_double_eq_tol(result.gap, .5 / 57, 1e-15);
    calc_milp_shares(&milp, result.value, share);
    ck_assert_int_eq(share[0].layers[1], 4);
    ck_assert_int_eq(share[1].layers[1], 2);
    calc_solver_free(&result);

    static char seen[65536];
    FILE *in = fopen("../options", "r");
    seen[fread(seen, 1, sizeof seen - 1, in)] = '\0';
    fclose(in);
    ck_assert_ptr_nonnull(strstr(seen, "mip_rel_gap = 0.125\n"));
    ck_assert_ptr_nonnull(strstr(seen, "time_limit = 2.5\n"));
    ck_assert_ptr_nonnull(strstr(seen, "write_solution_to_file = true\n"));
    FILE *out = fopen("../expected", "w");
    ck_assert_int_eq(calc_mps_program(&milp, put_file, out), CALC_OK);
    fclose(out);
    ck_assert_int_eq(system("cmp ../expected ../model"), 0);

    /* Without options: the optimum, whatever is printed. */
    ck_assert_int_eq(ask(NULL), CALC_OK);
    expect(CALC_SOLVER_OPTIMAL, 57);
    ck_assert_double_eq(result.bound_s, 57);
    in = fopen("../options", "r");
    seen[fread(seen, 1, sizeof seen - 1, in)] = '\0';
    fclose(in);
    ck_assert_ptr_nonnull(strstr(seen, "mip_rel_gap = 0\n"));
    ck_assert_ptr_null(strstr(seen, "time_limit"));
    end_pretending();
}

CALC_TEST(what_highs_says_of_limits_is_told)
{
    build_example(0);
    pretend(solution_of("Time limit reached", "Feasible", milp.columns), "  Dual bound  50\n");
    ck_assert_int_eq(ask(NULL), CALC_OK);
    expect(CALC_SOLVER_FEASIBLE, 57);
    ck_assert_double_eq(result.bound_s, 50);
    ck_assert_double_eq_tol(result.gap, 7. / 57, 1e-15);
    end_pretending();

    build_example(0);
    pretend("Model status\nTime limit reached\n\n# Primal solution values\nNone\n", "Dual bound 4");
    ck_assert_int_eq(ask(NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    ck_assert_double_eq(result.bound_s, 4);
    end_pretending();

    build_example(0);
    pretend("Model status\nInfeasible\n\n# Primal solution values\nNone\n", "");
    ck_assert_int_eq(ask(NULL), CALC_OK);
    expect(CALC_SOLVER_INFEASIBLE, INFINITY);
    end_pretending();
}

static void gives_up(const char *solution, const char *printed, const char *text)
{
    pretend(solution, printed);
    ck_assert_int_eq(ask(NULL), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_ptr_null(result.value);
    end_pretending();
}

CALC_TEST(a_broken_answer_of_highs_is_an_error)
{
    build_example(0);
    gives_up("", "ERROR:   no licence\n\n", "HiGHS gave up: ERROR:   no licence");
    build_example(0);
    gives_up("", "", "HiGHS gave up: it said nothing");
    build_example(0);
    gives_up("Model status\n", "x", "HiGHS gave up: x");
    build_example(0);
    gives_up(solution_of("Optimal", "Feasible", milp.columns - 1), "y", "HiGHS gave up: y");
    build_example(0);
    gives_up(solution_of("Optimal", "Infeasible", milp.columns), "z", "HiGHS gave up: z");
}

CALC_TEST(highs_is_stopped)
{
    static const char slow[] = "#!/bin/sh\nexec sleep 1000\n";
    int left = 3;
    calc_solver_options options = {.stop = stop_after, .context = &left};
    build_example(0);
    pretend("", "");
    scratch_write("../bin/highs", slow, strlen(slow));
    ck_assert_int_eq(ask(&options), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    ck_assert(result.bound_s == -INFINITY && isinf(result.gap));
    end_pretending();
}

CALC_TEST(a_folder_that_is_not_there_is_an_error)
{
    build_example(0);
    setenv("TMPDIR", "/nowhere", 1);
    ck_assert_int_eq(ask(NULL), CALC_ERR_IO);
    ck_assert_str_eq(errors.item[0].text,
                     "cannot make a folder in /nowhere: No such file or directory");
    unsetenv("TMPDIR");
    done();
}

/* Where there is one: the examples. */
CALC_TEST_LOOP(highs_itself_finds_the_optima, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    if (system("command -v highs > /dev/null") != 0) {
        return;
    }
    build_example(_i);
    ck_assert_int_eq(quietly(calc_solver_highs), CALC_OK);
    expect(isinf(c->optimum) ? CALC_SOLVER_INFEASIBLE : CALC_SOLVER_OPTIMAL, c->optimum);
    done();
}

/* ---- Like the search --------------------------------------------------------------------------*/

static calc_balance_solution solution;

CALC_TEST_LOOP(a_solver_divides_layers_as_the_search_does, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    ck_assert_int_eq(calc_solver_divide(&p, calc_solver_glpk, NULL, &solution, NULL), CALC_OK);
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
    ck_assert_int_eq(calc_solver_divide(&p, calc_solver_glpk, NULL, &solution, NULL), CALC_OK);
    ck_assert(solution.feasible && solution.answer.fits && !solution.proven);
    ck_assert_int_eq(solution.share[0].layers[1], 2);
    ck_assert_int_eq(solution.share[1].layers[1], 4);
    ck_assert_double_eq_tol(solution.bound_s, 63, 1e-9); /* of 3 and 3 */
    p.stage[1].limit_bytes = .3;
    ck_assert_int_eq(calc_solver_divide(&p, calc_solver_glpk, NULL, &solution, NULL), CALC_OK);
    ck_assert(!solution.feasible && !solution.proven);
}

CALC_TEST(a_solver_divides_within_its_options)
{
    calc_balance_problem p = balance_large();
    int left = 20;
    calc_balance_options options = {.stop = stop_after, .context = &left};
    ck_assert_int_eq(calc_solver_divide(&p, calc_solver_glpk, &options, &solution, NULL), CALC_OK);
    ck_assert(!solution.feasible && !solution.proven);
    ck_assert_double_gt(solution.bound_s, 900);
    p = balance_problem(&balance_cases[8]);
    options = (calc_balance_options){.gap = .5};
    ck_assert_int_eq(calc_solver_divide(&p, calc_solver_glpk, &options, &solution, NULL), CALC_OK);
    ck_assert(solution.feasible && solution.proven);
    ck_assert_double_gt(solution.answer.step_s, 103.1);
    ck_assert_double_lt(solution.bound_s, 103.02);
    p.shape.kind = CALC_PIPELINE_SCHEDULE_ZB_H2;
    ck_assert_int_eq(calc_solver_divide(&p, calc_solver_glpk, NULL, &solution, &errors),
                     CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, 1);
}
