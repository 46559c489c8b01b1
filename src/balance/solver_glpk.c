/* The one file that uses the GNU Linear Programming Kit. */
#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/solver.h"
#include "base/error.h"

/* A call of the solver. GLPK aborts the process on invalid calls or lack of memory, and prints to
 * the terminal: both are intercepted here. */
typedef struct call {
    const calc_milp *milp;
    const calc_solver_options *options;
    glp_prob *problem;
    double bound; /* bound of everything not yet searched */
    double *value;
    int *row, *column; /* of terms, from 1 on */
    double *factor;
    int code;       /* of glp_intopt() */
    char said[200]; /* what was last printed */
    jmp_buf failed;
} call;

static int listen(void *context, const char *text)
{
    call *c = context;
    snprintf(c->said, sizeof c->said, "%s", text);
    c->said[strcspn(c->said, "\n")] = '\0';
    return 1; /* not to the terminal */
}

static void fail(void *context)
{
    call *c = context;
    longjmp(c->failed, 1);
}

/* ---- The problem ------------------------------------------------------------------------------*/

static void set_rows(glp_prob *problem, const calc_milp *milp)
{
    static const int type[] = {
        [CALC_MILP_LESS] = GLP_UP, [CALC_MILP_EQUAL] = GLP_FX, [CALC_MILP_MORE] = GLP_LO};
    glp_add_rows(problem, (int)milp->rows);
    for (size_t i = 0; i < milp->rows; i++) {
        const calc_milp_row *row = &milp->row[i];
        glp_set_row_bnds(problem, (int)i + 1, type[row->sense], row->bound, row->bound);
    }
}

static void set_columns(glp_prob *problem, const calc_milp *milp)
{
    glp_add_cols(problem, (int)milp->columns);
    for (size_t i = 0; i < milp->columns; i++) {
        const calc_milp_column *column = &milp->column[i];
        int at = (int)i + 1;
        glp_set_col_kind(problem, at, column->integer ? GLP_IV : GLP_CV);
        glp_set_col_bnds(problem, at, column->lower < column->upper ? GLP_DB : GLP_FX,
                         column->lower, column->upper);
        glp_set_obj_coef(problem, at, column->cost);
    }
}

static void set_terms(call *c)
{
    for (size_t i = 0; i < c->milp->terms; i++) {
        const calc_milp_term *term = &c->milp->term[i];
        c->row[i + 1] = term->row + 1;
        c->column[i + 1] = term->column + 1;
        c->factor[i + 1] = term->factor;
    }
    glp_load_matrix(c->problem, (int)c->milp->terms, c->row, c->column, c->factor);
}

/* ---- The search -------------------------------------------------------------------------------*/

static void watch(glp_tree *tree, void *context)
{
    call *c = context;
    int best = glp_ios_best_node(tree);
    if (best > 0) {
        c->bound = glp_ios_node_bound(tree, best);
    }
    if (c->options && c->options->stop && c->options->stop(c->options->context)) {
        glp_ios_terminate(tree);
    }
}

static void search(call *c)
{
    glp_iocp control;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.presolve = GLP_ON;
    control.cb_func = watch;
    control.cb_info = c;
    double limit_ms = c->options ? ceil(c->options->time_limit_s * 1e3) : 0;
    if (limit_ms > 0) {
        control.tm_lim = limit_ms < 2e9 ? (int)limit_ms : 2000000000;
    }
    control.mip_gap = c->options ? c->options->gap : 0;
    c->code = glp_intopt(c->problem, &control);
}

/* Everything that may come back through `failed`. @return false if it did */
static bool run(call *c)
{
    if (setjmp(c->failed)) {
        return false;
    }
    glp_term_hook(listen, c);
    glp_error_hook(fail, c);
    c->problem = glp_create_prob();
    set_rows(c->problem, c->milp);
    set_columns(c->problem, c->milp);
    set_terms(c);
    search(c);
    return true;
}

static bool is_solution(const call *c)
{
    int status = glp_mip_status(c->problem);
    return status == GLP_OPT || status == GLP_FEAS;
}

/* The outcome for a code of glp_intopt(). @return false for those that say it failed */
static bool conclude(call *c, calc_solver_result *out)
{
    bool found = is_solution(c);
    bool whole = c->code == 0;
    bool none = c->code == GLP_ENOPFS || (whole && !found);
    bool done = whole || c->code == GLP_EMIPGAP;
    bool limit = c->code == GLP_ETMLIM || c->code == GLP_ESTOP;
    double objective = found ? glp_mip_obj_val(c->problem) : INFINITY;
    out->outcome = none            ? CALC_SOLVER_INFEASIBLE
                   : done && found ? CALC_SOLVER_OPTIMAL
                   : found         ? CALC_SOLVER_FEASIBLE
                                   : CALC_SOLVER_LIMIT;
    calc_solver_conclude(c->milp, objective, whole || none ? objective : c->bound, out);
    for (size_t i = 0; found && i < c->milp->columns; i++) {
        c->value[i] = glp_mip_col_val(c->problem, (int)i + 1);
    }
    if (found) {
        out->value = c->value;
        c->value = NULL;
    }
    return none || done || limit;
}

static calc_status solve(call *c, calc_solver_result *out, calc_errors *errors)
{
    size_t terms = c->milp->terms + 1;
    c->value = malloc((c->milp->columns + 1) * sizeof *c->value);
    c->row = malloc(terms * sizeof *c->row);
    c->column = malloc(terms * sizeof *c->column);
    c->factor = malloc(terms * sizeof *c->factor);
    if (!c->value || !c->row || !c->column || !c->factor) {
        return calc_errors_no_memory(errors);
    }
    bool fine = run(c) && conclude(c, out);
    glp_error_hook(NULL, NULL);
    glp_free_env(); /* frees the problem, too, also after a failure */
    if (fine) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                           "GLPK gave up: %s (code %d)", c->said[0] ? c->said : "no reason given",
                           c->code);
}

calc_status calc_solver_glpk(const calc_milp *milp, const calc_solver_options *options,
                             calc_solver_result *out, calc_errors *errors)
{
    *out = (calc_solver_result){0};
    call c = {.milp = milp, .options = options, .bound = -INFINITY};
    calc_status status = solve(&c, out, errors);
    free(c.value);
    free(c.row);
    free(c.column);
    free(c.factor);
    if (status != CALC_OK) {
        calc_solver_free(out);
    }
    return status;
}

const char *calc_solver_glpk_library(void)
{
    return glp_version();
}
