/* The linear programming kit of GNU is under the GPL: calc starts its program glpsol, and links
 * none of it. */
#include "balance/solver.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "balance/milp.h"
#include "base/error.h"

/* Excess over a limit that solvers may tolerate, as a share of it: counts of layers may be off by
 * 1e-5. */
#define TOLERATED 1e-4

void calc_solver_free(calc_solver_result *result)
{
    free(result->value);
    *result = (calc_solver_result){0};
}

/* ---- The program ------------------------------------------------------------------------------*/

/* Files without a name, which vanish however calc ends; glpsol opens them as /dev/fd/N. */
enum { MODEL, SOLUTION, LOG, FILES, LINE = 256 };

static bool write_text(void *file, const char *text, size_t length)
{
    return fwrite(text, 1, length, file) == length;
}

/* Run it to its end; it ends with calc, should a signal end that. It stops on its own after the
 * time limit, which it takes in whole seconds.
 * @return an errno: ENOENT if it is not installed, EINTR if a signal ended it */
static int start(FILE *const file[FILES], double time_limit_s)
{
    char model[32], solution[32], limit_s[32];
    char *arguments[] = {"glpsol", "--mps", model, "-w", solution, "--tmlim", limit_s, NULL};
    enum { NOT_STARTED = 127 };
    int ended = 0;
    snprintf(model, sizeof model, "/dev/fd/%d", fileno(file[MODEL]));
    snprintf(solution, sizeof solution, "/dev/fd/%d", fileno(file[SOLUTION]));
    snprintf(limit_s, sizeof limit_s, "%.0f", ceil(fmin(time_limit_s, 1e6)));
    if (time_limit_s <= 0) {
        arguments[5] = NULL;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        int nothing = open("/dev/null", O_RDONLY);
        bool fine = dup2(nothing, STDIN_FILENO) >= 0 && dup2(fileno(file[LOG]), STDOUT_FILENO) >= 0;
        if (fine && dup2(fileno(file[LOG]), STDERR_FILENO) >= 0) {
            execvp(arguments[0], arguments);
        }
        _exit(NOT_STARTED);
    }
    if (child < 0) {
        return errno;
    }
    while (waitpid(child, &ended, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return WIFSIGNALED(ended) ? EINTR : WEXITSTATUS(ended) == NOT_STARTED ? ENOENT : 0;
}

/* The bound of everything not yet searched is in lines of progress alone:
 *     +   265: mip =   1.030200000e+02 >=   9.543671039e+01   7.4% (9; 2)
 * @param last  filled with the last line */
static double read_log(FILE *log, char last[LINE])
{
    char line[LINE] = "";
    double bound = -INFINITY;
    rewind(log);
    while (fgets(line, sizeof line, log)) {
        const char *at = line[0] == '+' ? strstr(line, ">= ") : NULL;
        char *end = NULL;
        double number = at ? strtod(at + 3, &end) : 0;
        bound = at && end > at + 3 ? number : bound; /* or "tree is empty" */
        line[strcspn(line, "\n")] = '\0';
        memcpy(last, line, LINE);
    }
    return bound;
}

/* Lines "s mip ROWS COLUMNS STATUS OBJECTIVE" and "j COLUMN VALUE", columns counted from 1.
 * @return whether the file is a whole one */
static bool read_solution(FILE *in, const calc_milp *milp, calc_solver_result *out, double *value)
{
    char line[LINE], state = '\0', *at = line;
    size_t columns = 0;
    rewind(in);
    while (fgets(line, sizeof line, in)) {
        size_t number = line[0] == 'j' ? strtoul(line + 1, &at, 10) : 0;
        if (strncmp(line, "s mip ", 6) == 0) {
            (void)strtoul(line + 6, &at, 10);
            (void)strtoul(at, &at, 10);
            at += strspn(at, " ");
            state = *at;
            out->objective_s = state ? strtod(at + 1, NULL) : 0;
            out->outcome = state == 'o'   ? CALC_SOLVER_OPTIMAL
                           : state == 'f' ? CALC_SOLVER_FEASIBLE
                           : state == 'n' ? CALC_SOLVER_INFEASIBLE
                                          : CALC_SOLVER_LIMIT;
        } else if (number - 1 < milp->columns) {
            value[number - 1] = strtod(at, NULL);
            columns++;
        }
    }
    return state && columns == milp->columns;
}

static calc_status solve(const calc_milp *milp, double time_limit_s, FILE *const file[FILES],
                         calc_solver_result *out, calc_errors *errors)
{
    char last[LINE] = "no reason given";
    double *value = malloc((milp->columns + 1) * sizeof *value);
    calc_status status = value ? calc_mps_program(milp, write_text, file[MODEL]) : CALC_ERR_NOMEM;
    if (status == CALC_ERR_NOMEM) {
        free(value);
        return calc_errors_no_memory(errors);
    }
    bool written = status == CALC_OK && fflush(file[MODEL]) == 0;
    int code = written ? start(file, time_limit_s) : errno;
    double bound = read_log(file[LOG], last);
    bool read = code == 0 && read_solution(file[SOLUTION], milp, out, value);
    bool found = out->outcome == CALC_SOLVER_OPTIMAL || out->outcome == CALC_SOLVER_FEASIBLE;
    out->objective_s = found ? out->objective_s * milp->unit_s : INFINITY;
    out->bound_s = out->outcome == CALC_SOLVER_OPTIMAL || out->outcome == CALC_SOLVER_INFEASIBLE
                       ? out->objective_s
                       : fmin(bound * milp->unit_s, out->objective_s);
    if (read && found) {
        out->value = value;
        return CALC_OK;
    }
    free(value);
    return read ? CALC_OK
                : calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                                  code == ENOENT
                                      ? "glpsol is not installed: apt-get install glpk-utils"
                                  : code ? "glpsol did not run to its end: %s"
                                         : "glpsol gave up: %s",
                                  code ? strerror(code) : last);
}

calc_status calc_solver_glpsol(const calc_milp *milp, double time_limit_s, calc_solver_result *out,
                               calc_errors *errors)
{
    FILE *file[FILES] = {tmpfile(), tmpfile(), tmpfile()};
    *out = (calc_solver_result){.outcome = CALC_SOLVER_LIMIT};
    calc_status status = file[MODEL] && file[SOLUTION] && file[LOG]
                             ? solve(milp, time_limit_s, file, out, errors)
                             : calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                                               "no temporary file for glpsol: %s", strerror(errno));
    for (int i = 0; i < FILES; i++) {
        (void)(file[i] && fclose(file[i]));
    }
    return status;
}

/* ---- Like the search --------------------------------------------------------------------------*/

static calc_status read_result(const calc_balance_problem *problem, const calc_milp *milp,
                               const calc_solver_result *result, calc_balance_solution *out)
{
    out->feasible = result->value != NULL;
    out->proven =
        result->outcome == CALC_SOLVER_OPTIMAL || result->outcome == CALC_SOLVER_INFEASIBLE;
    out->bound_s = result->bound_s > 0 ? result->bound_s : 0;
    if (!out->feasible) {
        return CALC_OK;
    }
    calc_milp_shares(milp, result->value, out->share);
    return calc_balance_evaluate(problem, out->share, &out->answer);
}

static calc_status divide(const calc_balance_problem *problem, double time_limit_s,
                          calc_balance_solution *out, calc_errors *errors)
{
    calc_milp milp;
    calc_solver_result result;
    memset(out, 0, sizeof *out);
    out->stage = -1;
    calc_status status = calc_milp_build(problem, NULL, &milp, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = calc_solver_glpsol(&milp, time_limit_s, &result, errors);
    if (status == CALC_OK) {
        status = read_result(problem, &milp, &result, out);
        calc_errors_status(errors, status);
        calc_solver_free(&result);
    }
    calc_milp_free(&milp);
    return status;
}

/* Lower the limits of the stages that need more. */
static void lower(calc_balance_problem *p, const calc_balance_answer *answer)
{
    for (int stage = 0; stage < p->shape.stages; stage++) {
        double *limit_bytes = &p->stage[stage].limit_bytes;
        *limit_bytes *= answer->peak_bytes[stage] > *limit_bytes ? 1 - TOLERATED : 1;
    }
}

calc_status calc_solver_divide(const calc_balance_problem *problem, double time_limit_s,
                               calc_balance_solution *out, calc_errors *errors)
{
    calc_status status = divide(problem, time_limit_s, out, errors);
    if (status != CALC_OK || !out->feasible || out->answer.fits) {
        return status;
    }
    calc_balance_problem *less = malloc(sizeof *less);
    if (!less) {
        return calc_errors_no_memory(errors);
    }
    *less = *problem;
    double bound_s = out->bound_s;
    for (int i = 0; i < problem->shape.stages && out->feasible && !out->answer.fits; i++) {
        lower(less, &out->answer);
        status = divide(less, time_limit_s, out, errors);
        if (status != CALC_OK) {
            break;
        }
    }
    free(less);
    out->feasible = out->feasible && out->answer.fits;
    out->proven = false;
    out->bound_s = bound_s;
    return status;
}
