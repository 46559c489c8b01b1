#include "balance/milp.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/make.h"
#include "spec/field.h"

#define CALC_MILP_WHAT_TEXT(name, text) text,
const char *const calc_milp_what_names[CALC_MILP_WHATS] = {
    CALC_MILP_WHAT_LIST(CALC_MILP_WHAT_TEXT)};
#undef CALC_MILP_WHAT_TEXT

char *calc_milp_column_name(size_t column, char name[CALC_MILP_NAME_SIZE])
{
    snprintf(name, CALC_MILP_NAME_SIZE, "C%06u", (unsigned)column % (CALC_MILP_MOST + 1U));
    return name;
}

char *calc_milp_row_name(size_t row, char name[CALC_MILP_NAME_SIZE])
{
    snprintf(name, CALC_MILP_NAME_SIZE, "R%06u", (unsigned)row % (CALC_MILP_MOST + 1U));
    return name;
}

CALC_FREES(calc_milp_free, calc_milp, of->column, of->row, of->term)

void calc_milp_shares(const calc_milp *milp, const double *value, calc_balance_share *share)
{
    memset(share, 0, (size_t)(milp->shape.stages * milp->shape.chunks) * sizeof *share);
    for (size_t i = 0; i < milp->columns; i++) {
        const calc_milp_column *c = &milp->column[i];
        if (c->what != CALC_MILP_LAYERS && c->what != CALC_MILP_SELECTIVE &&
            c->what != CALC_MILP_FULL) {
            continue;
        }
        calc_balance_share *at = &share[calc_balance_place_of(&milp->shape, c->stage, c->chunk)];
        int *counts = c->what == CALC_MILP_LAYERS      ? at->layers
                      : c->what == CALC_MILP_SELECTIVE ? at->selective
                                                       : at->full;
        counts[c->kind] = (int)lround(value[i]);
    }
}

/* ---- Units ------------------------------------------------------------------------------------*/

static double longest_layer_s(const calc_balance_problem *p)
{
    double most_s = 0;
    for (int chip = 0; chip < p->chips; chip++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            const calc_balance_layer *l = &p->layer[chip][kind];
            double again_s = fmax(p->may_select ? l->again_s[CALC_BALANCE_SELECTIVE] : 0,
                                  p->may_full ? l->again_s[CALC_BALANCE_FULL] : 0);
            double layer_s = p->layers[kind] > 0 ? l->fw_s + l->agrad_s + l->wgrad_s + again_s : 0;
            most_s = fmax(most_s, layer_s);
        }
    }
    return most_s;
}

/* Solvers tolerate errors of about 1e-7 where numbers are near one. */
static void choose_units(calc_milp_maker *m)
{
    double longest_s = longest_layer_s(m->problem);
    double bytes = 0; /* the largest limit */
    for (int stage = 0; stage < m->problem->shape.stages; stage++) {
        double limit_bytes = m->problem->stage[stage].limit_bytes;
        bytes = fmax(bytes, isfinite(limit_bytes) ? limit_bytes : 0);
    }
    m->out->unit_s = 1;
    while (longest_s > 0 && longest_s < 0.5 * m->out->unit_s && m->out->unit_s > 1e-12) {
        m->out->unit_s /= 1e3; /* milliseconds, microseconds */
    }
    m->out->unit_bytes = 1;
    while (bytes / m->out->unit_bytes >= 1 << 20) {
        m->out->unit_bytes *= 1024;
    }
}

/* All work, one operation after the other, on the slowest chip. */
static double horizon(const calc_milp_maker *m)
{
    const calc_balance_problem *p = m->problem;
    double micro_s = (p->layers[0] + p->layers[1]) * longest_layer_s(p);
    for (int place = 0; place < m->places; place++) {
        const calc_balance_place *at = &p->place[place];
        micro_s += at->fw_s + at->agrad_s + at->wgrad_s;
    }
    return ceil((double)(p->shape.microbatches + 1) * micro_s / m->out->unit_s) + 1;
}

/* ---- The whole --------------------------------------------------------------------------------*/

static calc_status refuse(const calc_balance_problem *p, calc_errors *errors)
{
    const calc_schedule_shape *s = &p->shape;
    const char *name = calc_pipeline_schedule_names[s->kind];
    calc_schedule_status check = calc_schedule_check(s);
    if (check != CALC_SCHEDULE_OK) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                               "the schedule %s %s", name, calc_schedule_status_text(check));
    }
    if (s->kind != CALC_PIPELINE_SCHEDULE_1F1B && s->kind != CALC_PIPELINE_SCHEDULE_GPIPE) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                               "take 1f1b or gpipe, or calc's own search",
                               "there is no mixed-integer program of the schedule %s", name);
    }
    return CALC_OK;
}

/* @return false if it is too large */
static bool make(calc_milp_maker *m)
{
    const calc_schedule_shape s = m->problem->shape;
    if (s.stages > CALC_BALANCE_STAGES || s.stages * s.chunks > CALC_BALANCE_PLACES ||
        s.microbatches > CALC_MILP_MOST / (2 * s.stages * s.chunks)) {
        return false;
    }
    m->room = calc_schedule_ops_room(&s);
    m->op = calc_make((size_t)(s.stages * m->room), sizeof *m->op);
    m->count = calc_make((size_t)s.stages, sizeof *m->count);
    calc_balance_orders(&s, m->problem->less_memory, m->op, m->count);
    m->places = (int)(s.stages * s.chunks);
    choose_units(m);
    m->horizon = horizon(m);
    calc_milp_make_layers(m);
    calc_milp_make_memory(m);
    calc_milp_make_times(m);
    return !m->too_large;
}

calc_status calc_milp_build(const calc_balance_problem *problem, calc_milp *out,
                            calc_errors *errors)
{
    *out = (calc_milp){.shape = problem->shape};
    calc_status status = refuse(problem, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_milp_maker *maker = calc_make(1, sizeof *maker);
    *maker = (calc_milp_maker){.problem = problem, .out = out};
    bool made = make(maker);
    free(maker->op);
    free(maker->count);
    free(maker);
    if (made) {
        return CALC_OK;
    }
    calc_milp_free(out);
    return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, "take fewer micro-batches",
                           "the mixed-integer program is too large: at most %d rows and columns, "
                           "and %d chunks of stages",
                           CALC_MILP_MOST, CALC_BALANCE_PLACES);
}

typedef struct text {
    calc_mps_write write;
    void *context;
    bool stopped;
} text;

CALC_PRINTF(2, 3) static void put(text *t, const char *fmt, ...)
{
    char line[160];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    t->stopped = t->stopped || !t->write(t->context, line, (size_t)length);
}

/* ---- Numbers ----------------------------------------------------------------------------------*/

char *calc_mps_number(double value, char out[CALC_MPS_NUMBER_SIZE])
{
    char number[40];
    for (int digits = 17; digits > 0; digits--) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        char *zero = number + (*number == '-');
        if (strncmp(zero, "0.", 2) == 0) { /* "-0.5" as "-.5": a digit more */
            memmove(zero, zero + 1, strlen(zero));
        }
        if (strlen(number) < CALC_MPS_NUMBER_SIZE) {
            break;
        }
    }
    memcpy(out, number, CALC_MPS_NUMBER_SIZE - 1);
    out[CALC_MPS_NUMBER_SIZE - 1] = '\0';
    return out;
}

/* ---- Sections ---------------------------------------------------------------------------------*/

static void put_value(text *t, const char *set, const char *name, double value)
{
    char number[CALC_MPS_NUMBER_SIZE];
    put(t, "    %-8s  %-8s  %12s\n", set, name, calc_mps_number(value, number));
}

static void put_marker(text *t, size_t column, bool begins)
{
    put(t, "    M%06zu   'MARKER'                 '%s'\n", column, begins ? "INTORG" : "INTEND");
}

/* Places of terms by column: those of a column are from first[column] to first[column + 1]. */
static void sort_terms(const calc_milp *milp, size_t *first, size_t *sorted)
{
    for (size_t i = 0; i < milp->terms; i++) {
        first[milp->term[i].column + 2]++;
    }
    for (size_t column = 2; column < milp->columns + 2; column++) {
        first[column] += first[column - 1];
    }
    for (size_t i = 0; i < milp->terms; i++) {
        sorted[first[milp->term[i].column + 1]++] = i;
    }
}

static void put_columns(text *t, const calc_milp *milp, const size_t *first, const size_t *sorted)
{
    char name[CALC_MILP_NAME_SIZE];
    char row[CALC_MILP_NAME_SIZE];
    bool integer = false;
    put(t, "COLUMNS\n");
    for (size_t column = 0; column < milp->columns && !t->stopped; column++) {
        const calc_milp_column *c = &milp->column[column];
        if (c->integer != integer) {
            put_marker(t, column, c->integer);
            integer = c->integer;
        }
        calc_milp_column_name(column, name);
        if (c->cost != 0 || first[column] == first[column + 1]) {
            put_value(t, name, "OBJ", c->cost);
        }
        for (size_t i = first[column]; i < first[column + 1]; i++) {
            const calc_milp_term *term = &milp->term[sorted[i]];
            put_value(t, name, calc_milp_row_name((size_t)term->row, row), term->factor);
        }
    }
    if (integer) {
        put_marker(t, milp->columns, false);
    }
}

static void put_bounds(text *t, const calc_milp *milp)
{
    char name[CALC_MILP_NAME_SIZE];
    char number[CALC_MPS_NUMBER_SIZE];
    put(t, "RHS\n");
    for (size_t row = 0; row < milp->rows; row++) {
        if (milp->row[row].bound != 0) {
            put_value(t, "RHS", calc_milp_row_name(row, name), milp->row[row].bound);
        }
    }
    put(t, "BOUNDS\n");
    for (size_t column = 0; column < milp->columns; column++) {
        calc_milp_column_name(column, name);
        put(t, " UP BND       %-8s  %12s\n", name,
            calc_mps_number(milp->column[column].upper, number));
    }
}

bool calc_mps_program(const calc_milp *milp, calc_mps_write write, void *context)
{
    static const char sense[] = {
        [CALC_MILP_LESS] = 'L', [CALC_MILP_EQUAL] = 'E', [CALC_MILP_MORE] = 'G'};
    text t = {write, context, false};
    char name[CALC_MILP_NAME_SIZE];
    size_t *first = calc_make(milp->columns + 2, sizeof *first);
    size_t *sorted = calc_make(milp->terms, sizeof *sorted);
    sort_terms(milp, first, sorted);
    put(&t, "NAME          CALC\nROWS\n N  OBJ\n");
    for (size_t row = 0; row < milp->rows; row++) {
        put(&t, " %c  %s\n", sense[milp->row[row].sense], calc_milp_row_name(row, name));
    }
    put_columns(&t, milp, first, sorted);
    put_bounds(&t, milp);
    put(&t, "ENDATA\n");
    free(first);
    free(sorted);
    return !t.stopped;
}

/* ---- Names ------------------------------------------------------------------------------------*/

static void put_index(text *t, int index, const char *end)
{
    if (index >= 0) {
        put(t, "%d", index);
    }
    put(t, "%s", end);
}

bool calc_mps_names(const calc_milp *milp, calc_mps_write write, void *context)
{
    text t = {write, context, false};
    char name[CALC_MILP_NAME_SIZE];
    put(&t, "name,variable,stage,chunk,microbatch\n");
    for (size_t column = 0; column < milp->columns && !t.stopped; column++) {
        const calc_milp_column *c = &milp->column[column];
        put(&t, "%s,%s%s", calc_milp_column_name(column, name), calc_milp_what_names[c->what],
            c->kind >= 0 ? "_" : "");
        put_index(&t, c->kind, ",");
        put_index(&t, c->stage, ",");
        put_index(&t, c->chunk, ",");
        put_index(&t, c->microbatch, "\n");
    }
    return !t.stopped;
}

/* The linear programming kit of GNU is under the GPL: calc starts its program glpsol, and links
 * none of it. */

/* Excess over a limit that solvers may tolerate, as a share of it: counts of layers may be off by
 * 1e-5. */
#define TOLERATED 1e-4

CALC_FREES(calc_solver_free, calc_solver_result, of->value)

/* ---- The program ------------------------------------------------------------------------------*/

/* Files without a name, which vanish however calc ends; glpsol opens them as /dev/fd/N. */
enum { MODEL, SOLUTION, LOG, FILES, LINE = 256 };

static bool write_text(void *file, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, file) == length;
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
    double *value = calc_make(milp->columns, sizeof *value);
    bool written = calc_mps_program(milp, write_text, file[MODEL]) && fflush(file[MODEL]) == 0;
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

static void read_result(const calc_balance_problem *problem, const calc_milp *milp,
                        const calc_solver_result *result, calc_balance_solution *out)
{
    out->feasible = result->value != NULL;
    out->proven =
        result->outcome == CALC_SOLVER_OPTIMAL || result->outcome == CALC_SOLVER_INFEASIBLE;
    out->bound_s = result->bound_s > 0 ? result->bound_s : 0;
    if (out->feasible) {
        calc_milp_shares(milp, result->value, out->share);
        calc_balance_evaluate(problem, out->share, &out->answer);
    }
}

static calc_status divide(const calc_balance_problem *problem, double time_limit_s,
                          calc_balance_solution *out, calc_errors *errors)
{
    calc_milp milp;
    calc_solver_result result;
    memset(out, 0, sizeof *out);
    out->stage = -1;
    calc_status status = calc_milp_build(problem, &milp, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = calc_solver_glpsol(&milp, time_limit_s, &result, errors);
    if (status == CALC_OK) {
        read_result(problem, &milp, &result, out);
        calc_solver_free(&result);
    }
    calc_milp_free(&milp);
    return status;
}

calc_status calc_solver_divide(const calc_balance_problem *problem, double time_limit_s,
                               calc_balance_solution *out, calc_errors *errors)
{
    calc_status status = divide(problem, time_limit_s, out, errors);
    if (status != CALC_OK || !out->feasible || out->answer.fits) {
        return status;
    }
    calc_balance_problem *less = calc_make(1, sizeof *less);
    *less = *problem;
    double bound_s = out->bound_s;
    for (int i = 0; i < problem->shape.stages && out->feasible && !out->answer.fits; i++) {
        for (int stage = 0; stage < less->shape.stages; stage++) { /* of those that need more */
            double *limit_bytes = &less->stage[stage].limit_bytes;
            *limit_bytes *= out->answer.peak_bytes[stage] > *limit_bytes ? 1 - TOLERATED : 1;
        }
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
