/* Out of memory, from the n-th allocation on, for every n: a status, no crash, nothing left over.
 * Our own allocations are reached by the linker (--wrap), Jansson's by its hooks. */
#include "balance_case.h"
#include "documents.h"
#include "failing.h"
#include "scratch.h"

#include "balance/mps.h"
#include "balance/solver.h"
#include "base/error.h"
#include "frame.h"
#include "io/output.h"
#include "io/text.h"

#include <jansson.h>

static int live; /* blocks that Jansson holds */

static void *hook_malloc(size_t size)
{
    void *memory = __wrap_malloc(size);
    live += memory != NULL;
    return memory;
}

static void hook_free(void *memory)
{
    live -= memory != NULL;
    free(memory);
}

static calc_app app;
static calc_system sys;
static calc_exec exec;

static calc_status parse_app(calc_errors *errors)
{
    return calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", errors);
}

static calc_status parse_system(calc_errors *errors)
{
    return calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", errors);
}

static calc_status parse_exec(calc_errors *errors)
{
    return calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "e", errors);
}

static calc_status load_app(calc_errors *errors)
{
    return calc_load(CALC_KIND_APP, &app, "app.json", errors);
}

static calc_status set_number(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "tensor_par=8", NULL, errors);
}

static calc_status set_word(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "datatype=bfloat16", NULL, errors);
}

static calc_status set_list(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "networks[0].ops.all_reduce=[1, 0]", NULL, errors);
}

static calc_status write_file(calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, "out", errors);
    if (status == CALC_OK) {
        calc_output_printf(out, "%2000d", 1);
        status = calc_output_close(out, errors);
    }
    return status;
}

static calc_status build_program(calc_errors *errors)
{
    calc_balance_problem problem = balance_problem(&balance_cases[3]);
    calc_milp milp;
    calc_status status = calc_milp_build(&problem, NULL, &milp, errors);
    calc_milp_free(&milp);
    return status;
}

static bool take(void *context, const char *text, size_t length)
{
    (void)context;
    (void)text;
    (void)length;
    return true;
}

static calc_status write_program(calc_errors *errors)
{
    calc_balance_problem problem = balance_problem(&balance_cases[3]);
    calc_milp milp;
    calc_status status = calc_milp_build(&problem, NULL, &milp, errors);
    if (status == CALC_OK) {
        status = calc_errors_status(errors, calc_mps_program(&milp, take, NULL));
    }
    calc_milp_free(&milp);
    return status;
}

static calc_status solve_program(calc_errors *errors)
{
    calc_balance_problem problem = balance_problem(&balance_cases[3]);
    static calc_balance_solution solution;
    return calc_solver_divide(&problem, calc_solver_glpk, NULL, &solution, errors);
}

static const struct {
    calc_status (*call)(calc_errors *errors);
    int at_least; /* allocations it needs */
} calls[] = {
    {parse_app, 20},     {parse_system, 100}, {parse_exec, 60},    {load_app, 20},
    {set_number, 2},     {set_word, 2},       {set_list, 4},       {write_file, 3},
    {build_program, 15}, {write_program, 17}, {solve_program, 20},
};

CALC_TEST_LOOP(every_allocation_may_fail, 0, sizeof calls / sizeof *calls)
{
    char folder[256];
    calc_status status;
    int n = 0;
    scratch_enter(folder, sizeof folder);
    scratch_write("app.json", APP_TEXT, strlen(APP_TEXT));
    json_set_alloc_funcs(hook_malloc, hook_free);
    ck_assert_int_eq(parse_app(NULL), CALC_OK);
    ck_assert_int_eq(parse_system(NULL), CALC_OK);
    ck_assert_int_eq(parse_exec(NULL), CALC_OK);
    do {
        calc_errors errors = {0};
        left = n;
        status = calls[_i].call(&errors);
        left = UNLIMITED;
        ck_assert_int_eq(live, 0);
        ck_assert_int_eq(errors.count, status == CALC_OK ? 0 : 1);
        ck_assert_msg(status == CALC_OK || status == CALC_ERR_NOMEM, "allocation %d: %s", n,
                      errors.item[0].text);
        ck_assert_int_eq(access("out", F_OK) == 0,
                         status == CALC_OK && calls[_i].call == write_file);
        n++;
    } while (status != CALC_OK);
    ck_assert_int_gt(n, calls[_i].at_least);
    scratch_leave(folder);
}
