#include "balance/solver.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "balance/mps.h"
#include "base/error.h"

/* Excess over a limit that solvers may tolerate, as a share of it: counts of layers may be off by
 * 1e-5. */
#define TOLERATED 1e-4

void calc_solver_free(calc_solver_result *result)
{
    free(result->value);
    *result = (calc_solver_result){0};
}

void calc_solver_conclude(const calc_milp *milp, double objective, double bound,
                          calc_solver_result *result)
{
    /* Rounding may put the bound of an optimum a little above it. */
    bound = fmin(bound, objective);
    result->objective_s = objective * milp->unit_s;
    result->bound_s = bound * milp->unit_s;
    result->gap = objective == bound ? 0
                  : isinf(objective) || isinf(bound) || objective <= 0
                      ? INFINITY
                      : (objective - bound) / objective;
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

static calc_status divide(const calc_balance_problem *problem, calc_solver_solve *solve,
                          const calc_balance_options *options, calc_balance_solution *out,
                          calc_errors *errors)
{
    calc_milp milp;
    calc_solver_result result;
    calc_solver_options o = {0};
    if (options) {
        o = (calc_solver_options){options->time_limit_s, options->gap, options->stop,
                                  options->context};
    }
    memset(out, 0, sizeof *out);
    out->stage = -1;
    calc_status status = calc_milp_build(problem, NULL, &milp, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = solve(&milp, &o, &result, errors);
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

calc_status calc_solver_divide(const calc_balance_problem *problem, calc_solver_solve *solve,
                               const calc_balance_options *options, calc_balance_solution *out,
                               calc_errors *errors)
{
    calc_status status = divide(problem, solve, options, out, errors);
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
        status = divide(less, solve, options, out, errors);
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

/* HiGHS as a command: its files lie in a temporary folder, and no shell is involved. */

extern char **environ;

enum { FOLDER_SIZE = 512, PATH_SIZE = FOLDER_SIZE + 16, LINE_SIZE = 256 };

/** Files of a call. */
typedef enum file { MODEL, OPTIONS, SOLUTION, LOG, FILES } file;

typedef struct call {
    const calc_milp *milp;
    const calc_solver_options *options;
    char folder[FOLDER_SIZE];
    char path[FILES][PATH_SIZE];
    double objective, bound;
    double *value;
    bool told;            /**< to stop */
    char said[LINE_SIZE]; /**< the last line that the command printed */
} call;

static calc_status complain(calc_errors *errors, const char *what, const char *path)
{
    return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL, "%s %s: %s", what, path,
                           strerror(errno));
}

/* ---- Input ------------------------------------------------------------------------------------*/

static calc_status make_folder(call *c, calc_errors *errors)
{
    static const char *const name[FILES] = {"model.mps", "options", "solution", "log"};
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    errno = ENAMETOOLONG;
    if (snprintf(c->folder, sizeof c->folder, "%s/calc-highs-XXXXXX", parent) >= FOLDER_SIZE ||
        !mkdtemp(c->folder)) {
        c->folder[0] = '\0';
        return complain(errors, "cannot make a folder in", parent);
    }
    for (int i = 0; i < FILES; i++) {
        snprintf(c->path[i], sizeof c->path[i], "%s/%s", c->folder, name[i]);
    }
    return CALC_OK;
}

static bool write_piece(void *context, const char *text, size_t length)
{
    return fwrite(text, 1, length, context) == length;
}

static bool write_options(call *c, FILE *out)
{
    const calc_solver_options *o = c->options;
    fprintf(out,
            "solution_file = %s\nwrite_solution_to_file = true\nwrite_solution_style = 0\n"
            "mip_rel_gap = %.17g\nmip_abs_gap = 0\n",
            c->path[SOLUTION], o ? o->gap : 0);
    if (o && o->time_limit_s > 0) {
        fprintf(out, "time_limit = %.17g\n", o->time_limit_s);
    }
    return !ferror(out);
}

static calc_status write_files(call *c, calc_errors *errors)
{
    for (int i = MODEL; i <= OPTIONS; i++) {
        FILE *out = fopen(c->path[i], "w");
        if (!out) {
            return complain(errors, "cannot write", c->path[i]);
        }
        bool fine = i == MODEL ? calc_mps_program(c->milp, write_piece, out) == CALC_OK
                               : write_options(c, out);
        if (fclose(out) != 0 || !fine) {
            return complain(errors, "cannot write", c->path[i]);
        }
    }
    return CALC_OK;
}

/* ---- The command ------------------------------------------------------------------------------*/

static bool asked_to_stop(const calc_solver_options *o)
{
    return o && o->stop && o->stop(o->context);
}

/* Until it ends, or is to stop. */
static void wait_for(call *c, pid_t child)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    pid_t ended;
    int status;
    do {
        ended = waitpid(child, &status, WNOHANG);
        if (ended == 0 && !c->told && asked_to_stop(c->options)) {
            kill(child, SIGTERM);
            c->told = true;
        }
        if (ended == 0) {
            nanosleep(&pause, NULL);
        }
    } while (ended == 0 || (ended < 0 && errno == EINTR));
}

static calc_status run(call *c, calc_errors *errors)
{
    char *arguments[] = {"highs",        "--options_file", c->path[OPTIONS],
                         "--model_file", c->path[MODEL],   NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, c->path[LOG], O_WRONLY | O_CREAT, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        code = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (code == ENOENT || code == EACCES) {
        return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL,
                               "install HiGHS, or take the solver glpk",
                               "there is no command \"highs\" in the folders of PATH");
    }
    if (code != 0) {
        errno = code;
        return complain(errors, "cannot run", arguments[0]);
    }
    wait_for(c, child);
    return CALC_OK;
}

/* ---- Output -----------------------------------------------------------------------------------*/

static bool is_line(const char *line, const char *begin)
{
    return strncmp(line, begin, strlen(begin)) == 0;
}

/* Its bound, and the last line. */
static void read_log(call *c)
{
    char line[LINE_SIZE];
    FILE *in = fopen(c->path[LOG], "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *text = line + strspn(line, " \t");
        line[strcspn(line, "\r\n")] = '\0';
        if (is_line(text, "Dual bound")) {
            c->bound = strtod(text + strlen("Dual bound"), NULL);
        }
        if (*text) {
            snprintf(c->said, sizeof c->said, "%s", text);
        }
    }
    if (in) {
        fclose(in);
    }
}

/* "C000012 3" @return false if it is not a column */
static bool read_value(call *c, const char *line)
{
    char *end;
    if (line[0] != 'C') {
        return false;
    }
    unsigned long column = strtoul(line + 1, &end, 10);
    if (end == line + 1 || *end != ' ' || column >= c->milp->columns) {
        return false;
    }
    char *rest = end;
    c->value[column] = strtod(rest, &end);
    return end != rest;
}

/* @return whether it has all columns */
static bool read_solution(call *c, FILE *in, char status[LINE_SIZE])
{
    char line[LINE_SIZE];
    bool feasible = false;
    size_t columns = 0;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (is_line(line, "Model status") && fgets(status, LINE_SIZE, in)) {
            status[strcspn(status, "\r\n")] = '\0';
        } else if (is_line(line, "Feasible")) {
            feasible = true;
        } else if (is_line(line, "Objective ")) {
            c->objective = strtod(line + strlen("Objective "), NULL);
        } else if (is_line(line, "# Rows")) {
            break;
        } else {
            columns += read_value(c, line);
        }
    }
    return feasible && columns == c->milp->columns;
}

static calc_status read_files(call *c, calc_solver_result *out, calc_errors *errors)
{
    char status[LINE_SIZE] = "";
    read_log(c);
    FILE *in = fopen(c->path[SOLUTION], "r");
    bool found = in && read_solution(c, in, status);
    if (in) {
        fclose(in);
    }
    bool none = is_line(status, "Infeasible") || is_line(status, "Primal infeasible");
    bool optimal = is_line(status, "Optimal");
    if ((!*status && !c->told) || (optimal && !found)) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "HiGHS gave up: %s", c->said[0] ? c->said : "it said nothing");
    }
    out->outcome = none               ? CALC_SOLVER_INFEASIBLE
                   : optimal && found ? CALC_SOLVER_OPTIMAL
                   : found            ? CALC_SOLVER_FEASIBLE
                                      : CALC_SOLVER_LIMIT;
    bool exact = optimal && (!c->options || c->options->gap == 0);
    calc_solver_conclude(c->milp, found ? c->objective : INFINITY,
                         exact  ? c->objective
                         : none ? INFINITY
                                : c->bound,
                         out);
    if (found) {
        out->value = c->value;
        c->value = NULL;
    }
    return CALC_OK;
}

static void remove_files(const call *c)
{
    for (int i = 0; c->folder[0] && i < FILES; i++) {
        unlink(c->path[i]);
    }
    if (c->folder[0]) {
        rmdir(c->folder);
    }
}

calc_status calc_solver_highs(const calc_milp *milp, const calc_solver_options *options,
                              calc_solver_result *out, calc_errors *errors)
{
    *out = (calc_solver_result){0};
    call c = {.milp = milp, .options = options, .objective = INFINITY, .bound = -INFINITY};
    c.value = calloc(milp->columns + 1, sizeof *c.value);
    calc_status status = c.value ? make_folder(&c, errors) : calc_errors_no_memory(errors);
    status = status == CALC_OK ? write_files(&c, errors) : status;
    status = status == CALC_OK ? run(&c, errors) : status;
    status = status == CALC_OK ? read_files(&c, out, errors) : status;
    remove_files(&c);
    free(c.value);
    return status;
}
