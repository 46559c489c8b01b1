#include "calibrate/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "gauss/process.h"
#include "io/csv_table.h"
#include "validate/error_groups.h"
#include "validate/residuals.h"

/* A problem being solved: residuals at the best point and at another, J (row after row of one
 * parameter), J'J below its diagonal, a factor, J'f, the sizes of columns, a step, and the other
 * point. */
typedef struct solver {
    const calc_least_squares *problem;
    double *here, *there, *jacobian, *normal, *factor, *gradient, *size, *step, *at;
    double square; /* sum of the squares of `here` */
} solver;

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Steps of a fixed size, not relative to x, which may be near 0. */
static void differentiate(solver *s, const double *x)
{
    const calc_least_squares *p = s->problem;
    size_t n = p->parameters;
    memcpy(s->at, x, n * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        double *column = s->jacobian + k * p->count;
        s->at[k] = x[k] + p->step;
        p->residuals(p->context, s->at, column);
        s->at[k] = x[k];
        for (size_t i = 0; i < p->count; i++) {
            column[i] = (column[i] - s->here[i]) / p->step;
        }
        s->gradient[k] = dot(column, s->here, p->count);
        for (size_t j = 0; j <= k; j++) {
            s->normal[k * n + j] = dot(column, s->jacobian + j * p->count, p->count);
        }
        s->size[k] = fmax(s->size[k], s->normal[k * n + k]);
    }
}

/* A step, damped in the proportions of the columns (More 1978). @return by how much it would reduce
 * the sum of squares if residuals were linear; negative: there is none */
static double propose(solver *s, double damping)
{
    size_t n = s->problem->parameters;
    double gain = 0;
    memcpy(s->factor, s->normal, n * n * sizeof *s->factor);
    for (size_t k = 0; k < n; k++) {
        s->factor[k * n + k] += damping * (s->size[k] > 0 ? s->size[k] : 1);
        s->step[k] = -s->gradient[k];
    }
    if (!calc_gauss_factor(s->factor, n)) {
        return -1;
    }
    calc_gauss_solve(s->factor, n, s->step);
    for (size_t k = 0; k < n; k++) {
        gain += s->step[k] *
                (damping * (s->size[k] > 0 ? s->size[k] : 1) * s->step[k] - s->gradient[k]);
    }
    return gain;
}

/* Whether the last step, or the slope, is too small to matter. */
static bool arrived(const solver *s, const double *x)
{
    bool near = true, flat = true;
    for (size_t k = 0; k < s->problem->parameters; k++) {
        near = near && fabs(s->step[k]) < 1e-4 * (fabs(x[k]) + 1e-4);
        flat = flat && fabs(s->gradient[k]) * fmax(fabs(x[k]), 1) < 1e-8 * fmax(s->square / 2, 1);
    }
    return near || flat;
}

/* Nielsen 1999, Damping Parameter in Marquardt's Method (IMM-REP-1999-05). */
static void descend(solver *s, double *x)
{
    enum { TRIES = 15 };
    const calc_least_squares *p = s->problem;
    double damping = 1e-3, growth = 2;
    for (size_t round = 0; round < p->most; round++) {
        double better = 0, before = s->square;
        for (int i = 0; better <= 0 && i < TRIES; i++) {
            double gain = propose(s, damping);
            for (size_t k = 0; k < p->parameters; k++) {
                s->at[k] = x[k] + s->step[k];
            }
            p->residuals(p->context, s->at, s->there);
            double square = dot(s->there, s->there, p->count);
            better = gain > 0 && square < s->square ? (s->square - square) / gain : 0;
            if (better > 0) {
                damping *= fmax(1.0 / 3, 1 - pow(2 * better - 1, 3));
                growth = 2;
                s->square = square;
            } else {
                damping *= growth;
                growth *= 2;
            }
        }
        if (better <= 0) {
            return; /* at a kink without progress: the best point so far */
        }
        memcpy(x, s->at, p->parameters * sizeof *x);
        memcpy(s->here, s->there, p->count * sizeof *x);
        differentiate(s, x);
        if (before - s->square < p->enough || arrived(s, x)) {
            return;
        }
    }
}

calc_status calc_least_squares_solve(const calc_least_squares *problem, double *x, double *error,
                                     calc_errors *errors)
{
    size_t n = problem->parameters, count = problem->count;
    if (n == 0) {
        return CALC_OK;
    }
    double *room = calc_make((n + 2) * count + n * (2 * n + 4), sizeof *room);
    solver s = {.problem = problem, .here = room, .there = room + count};
    s.jacobian = s.there + count;
    s.normal = s.jacobian + n * count;
    s.factor = s.normal + n * n;
    s.gradient = s.factor + n * n;
    s.size = s.gradient + n;
    s.step = s.size + n;
    s.at = s.step + n;
    problem->residuals(problem->context, x, s.here);
    s.square = dot(s.here, s.here, count);
    bool good = isfinite(s.square);
    if (good) {
        differentiate(&s, x);
        descend(&s, x);
        good = calc_gauss_factor(s.normal, n);
    }
    for (size_t k = 0; good && k < n; k++) {
        memset(s.step, 0, n * sizeof *x);
        s.step[k] = 1;
        calc_gauss_solve(s.normal, n, s.step);
        error[k] = sqrt(s.step[k]);
    }
    calc_status status =
        good ? CALC_OK
             : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "least squares: %s",
                               isfinite(s.square) ? "residuals do not determine the parameters"
                                                  : "residuals are not finite");
    free(room);
    return status;
}

double calc_least_squares_soft(double r)
{
    double root = sqrt(2 * (sqrt(1 + r * r) - 1));
    return r < 0 ? -root : root;
}

#define LOG CALC_CONSTANT_LOG
#define LOGIT CALC_CONSTANT_LOGIT

/* The last two columns are the range beyond which no machine is known. Efficiencies are shares of a
 * data sheet's peak, which nothing sustains; a stream of copies reaches 0.8 to 0.95 of memory, a
 * large multiplication 0.4 to 0.9 of its engine, a large message 0.5 to 0.95 of its network.
 * Launches of kernels take microseconds; Python's work for a block, up to some tens of
 * milliseconds. Shares that overlap may be anything. Kernels cannot read and write less than once
 * (eager_traffic, ...). */
/* clang-format off */
static const calc_constant constants[] = {
    {"matrix.bfloat16",
     {"matrix.float16.gflops_efficiency", "matrix.bfloat16.gflops_efficiency", "matrix.float32.gflops_efficiency"}, "", LOG, 0.1, false, 0.7, 0.2, 0.97},
    {"matrix.float8", {"matrix.float8.gflops_efficiency"}, "", LOG, 0.1, false, 0.6, 0.15, 0.97},
    {"matrix.float4", {"matrix.float4.gflops_efficiency"}, "", LOG, 0.3, false, 0.5, 0.1, 0.97},
    {"block_scaled_efficiency", {"block_scaled_efficiency"}, "", LOG, 0.05, false, 0.95, 0.5, 1},
    {"sustained", {"sustained"}, "", LOG, 0.15, true, 1, 0.5, 1.5},
    {"mem1.efficiency", {"mem1.MB_efficiency"}, "", LOGIT, 0.6, false, 0.8, 0.3, 0.98},
    {"launch", {"launch.matrix", "launch.vector"}, "s", LOG, 0.5, false, 5e-6, 5e-7, 5e-5},
    {"host.block", {"host.block"}, "s", LOG, 0.5, false, 2.2e-3, 0.0001, 0.03},
    {"host.moe_block", {"host.moe_block"}, "s", LOG, 0.5, false, 5e-3, 0.0001, 0.05},
    {"host.expert", {"host.expert"}, "s", LOG, 0.5, false, 1.5e-4, 1e-5, 0.005},
    {"host.tensor_par_growth", {"host.tensor_par_growth"}, "", LOG, 0.6, false, 0.3, 0.01, 2},
    {"attention.fw_efficiency", {"attention.fw_efficiency"}, "", LOG, 0.2, false, 0.6, 0.1, 1},
    {"attention.bw_efficiency", {"attention.bw_efficiency"}, "", LOG, 0.2, false, 0.5, 0.1, 1},
    {"attention.generic_efficiency", {"attention.generic_efficiency"}, "", LOG, 0.25, false, 0.75, 0.1, 1},
    {"attention.unfused_efficiency", {"attention.unfused_efficiency"}, "", LOG, 0.3, false, 0.4, 0.05, 1},
    {"attention.softmax_size", {"attention.softmax_size"}, "", LOG, 0.7, false, 40, 4, 400},
    {"attention.launch", {"attention.launch"}, "s", LOG, 0.5, false, 30e-6, 1e-6, 0.001},
    {"networks[0].efficiency", {"networks[0].efficiency"}, "", LOGIT, 0.6, false, 0.75, 0.2, 0.98},
    {"networks[0].latency", {"networks[0].latency"}, "s", LOG, 0.5, false, 20e-6, 5e-7, 0.0005},
    {"networks[1].efficiency", {"networks[1].efficiency"}, "", LOGIT, 0.6, false, 0.8, 0.2, 0.98},
    {"networks[1].latency_log2", {"networks[1].latency_log2"}, "s", LOG, 0.5, false, 30e-6, 1e-6, 0.0005},
    {"networks[0].all_to_all", {"networks[0].op_parameters.all_to_all.efficiency"}, "", LOGIT, 0.6, false, 0.6, 0.1, 0.98},
    {"networks[1].all_to_all", {"networks[1].op_parameters.all_to_all.efficiency"}, "", LOGIT, 0.6, false, 0.6, 0.1, 0.98},
    {"overlap.tensor_par_async", {"overlap.tensor_par_async"}, "", LOGIT, 0.8, false, 0.5, 0, 1},
    {"overlap.data_par", {"overlap.data_par"}, "", LOGIT, 0.8, false, 0.7, 0, 1},
    {"overlap.expert_par", {"overlap.expert_par"}, "", LOGIT, 0.8, false, 0.6, 0, 1},
    {"overlap.contention", {"overlap.contention"}, "", LOG, 0.6, false, 0.2, 0.01, 1},
    {"optimizer_efficiency", {"optimizer_efficiency"}, "", LOGIT, 0.6, false, 0.6, 0.1, 1},
    {"step_overhead", {"step_overhead"}, "s", LOG, 0.8, false, 0.01, 0.0001, 1},
    {"straggler_growth", {"straggler_growth"}, "", LOG, 0.7, false, 0.005, 0.0001, 0.1},
    {"eager_traffic", {"eager_traffic"}, "", LOG, 0.3, false, 1.8, 1, 6},
    {"quantize_bytes", {"quantize_bytes"}, "bytes", LOG, 0.5, false, 4, 1, 32},
    {"permute_efficiency", {"permute_efficiency"}, "", LOGIT, 0.6, false, 0.4, 0.05, 1},
    {"grouped.efficiency", {"grouped.efficiency"}, "", LOG, 0.2, false, 0.9, 0.3, 1.5},
    {"expert_activation_traffic", {"expert_activation_traffic"}, "", LOG, 0.4, false, 6, 1, 40},
};
/* clang-format on */

enum { CONSTANTS = sizeof constants / sizeof *constants };

const calc_constant *calc_constant_at(size_t index)
{
    return index < CONSTANTS ? &constants[index] : NULL;
}

const calc_constant *calc_constant_find(const char *name)
{
    for (size_t i = 0; i < CONSTANTS; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            return &constants[i];
        }
    }
    return NULL;
}

static const calc_csv_column start_columns[] = {
    {.name = "constant", CALC_CSV_MEMBER(calc_constant_known, constant)},
    {.name = "of", CALC_CSV_MEMBER(calc_constant_known, of)},
    {.name = "start", CALC_CSV_MEMBER(calc_constant_known, start), .lo = 0, .hi = 1e3}};

static const calc_csv_table start_table = CALC_CSV_TABLE(start_columns, calc_constant_known, NULL);

CALC_CSV_LIST_READS(calc_constant_starts, calc_constant_starts_read, calc_constant_starts_free,
                    start_table)

double calc_constant_start(const calc_constant *constant, const calc_constant_starts *starts,
                           const char *family, const char *machine)
{
    double start = constant->start;
    bool of_machine = false;
    for (const calc_constant_known *k = starts->item; k < starts->item + starts->count; k++) {
        bool machine_is = machine && strcmp(k->of, machine) == 0;
        bool family_is = family && strcmp(k->of, family) == 0;
        if (strcmp(k->constant, constant->name) == 0 &&
            (machine_is || (family_is && !of_machine))) {
            start = k->start;
            of_machine = machine_is;
        }
    }
    return start;
}

/* The numbers that a path leads to: one, or a curve's; none: nowhere. */
typedef struct place {
    double *number;
    int64_t count;
    double most; /* of each, where they are scaled */
} place;

static place place_of(const char *path, calc_system *system)
{
    calc_field_ref ref;
    if (calc_field_find(CALC_KIND_SYSTEM, path, &ref) != CALC_OK) {
        return (place){0};
    }
    void *member = (char *)system + ref.offset;
    calc_curve *curve = member;
    return ref.field->type == CALC_TYPE_CURVE ? (place){curve->efficiency, curve->count, 1}
                                              : (place){member, 1, INFINITY};
}

double calc_constant_get(const calc_constant *constant, const calc_system *system)
{
    calc_system copy = *system;
    double value = 0;
    for (int i = 0; i < CALC_CONSTANT_PATHS && constant->path[i] && value <= 0; i++) {
        place at = place_of(constant->path[i], &copy);
        value = at.count > 0 ? *at.number : 0;
    }
    return value;
}

void calc_constant_set(const calc_constant *constant, calc_system *system, double value)
{
    for (int i = 0; i < CALC_CONSTANT_PATHS && constant->path[i]; i++) {
        place at = place_of(constant->path[i], system);
        bool given = at.count > 0 && *at.number > 0;
        double factor = given ? value / *at.number : 0;
        for (int64_t k = 0; given && k < at.count; k++) {
            at.number[k] = fmin(k == 0 ? value : at.number[k] * factor, at.most);
        }
    }
}

double calc_constant_to_free(const calc_constant *constant, double value)
{
    return constant->scale == CALC_CONSTANT_LOG ? log(value) : log(value / (1 - value));
}

double calc_constant_from_free(const calc_constant *constant, double number)
{
    calc_field_ref ref;
    bool known = calc_field_find(CALC_KIND_SYSTEM, constant->path[0], &ref) == CALC_OK;
    double most = !known ? INFINITY : ref.field->type == CALC_TYPE_CURVE ? 1 : ref.field->hi;
    return constant->scale == CALC_CONSTANT_LOG ? fmin(exp(number), most) : 1 / (1 + exp(-number));
}

/* Errors of a good model: the spread between identical runs of different software. */
#define SIGMA 0.05

/* A fit under way. */
typedef struct task {
    const calc_fit *fit;
    calc_unknowns *unknowns;
    size_t index[CALC_UNKNOWNS_MAX]; /* of the free ones */
    size_t free;
    double *weight; /* of the root of a run's term, by row of the evidence; 0: not used */
    size_t used;
    calc_system system[CALC_UNKNOWNS_MACHINES];
} task;

static double start_of(const calc_unknown *p)
{
    return calc_constant_to_free(p->constant, p->start);
}

static void put(task *t, const double *x)
{
    for (size_t k = 0; k < t->free; k++) {
        calc_unknown *p = &t->unknowns->item[t->index[k]];
        p->value = calc_constant_from_free(p->constant, start_of(p) + x[k] * p->constant->spread);
    }
    calc_unknowns_apply(t->unknowns, t->system, t->fit->family->machines);
}

static void residuals(void *context, const double *x, double *residual)
{
    task *t = context;
    put(t, x);
    for (size_t i = 0; i < t->fit->evidence->count; i++) {
        const calc_evidence_row *row = &t->fit->evidence->row[i];
        if (t->weight[i] > 0) {
            double log_s = log(calc_evidence_predict_s(row, &t->system[row->machine]));
            *residual++ =
                t->weight[i] * calc_least_squares_soft((log_s - row->log_measured) / SIGMA);
        }
    }
    for (size_t k = 0; k < t->free; k++) {
        *residual++ = x[k];
    }
}

static bool is_used(const calc_fit *fit, size_t row)
{
    return !fit->use || fit->use[row];
}

static void weigh(task *t)
{
    const calc_evidence *s = t->fit->evidence;
    for (size_t i = 0; i < s->count; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < s->count; j++) {
            alike += is_used(t->fit, j) && strcmp(calc_result_source(s->row[j].result),
                                                  calc_result_source(s->row[i].result)) == 0;
        }
        t->weight[i] = is_used(t->fit, i) ? sqrt(calc_spread_weight(alike)) : 0;
        t->used += is_used(t->fit, i);
    }
}

static calc_status solve(task *t, calc_errors *errors)
{
    double x[CALC_UNKNOWNS_MAX] = {0};
    double error[CALC_UNKNOWNS_MAX] = {0};
    for (size_t k = 0; k < t->free; k++) {
        const calc_unknown *p = &t->unknowns->item[t->index[k]];
        x[k] = (calc_constant_to_free(p->constant, p->value) - start_of(p)) / p->constant->spread;
    }
    calc_least_squares problem = {.residuals = residuals,
                                  .context = t,
                                  .parameters = t->free,
                                  .count = t->used + t->free,
                                  .step = 1e-4,
                                  .most = t->fit->most};
    calc_status status = calc_least_squares_solve(&problem, x, error, errors);
    put(t, x);
    for (size_t k = 0; status == CALC_OK && k < t->free; k++) {
        calc_unknown *p = &t->unknowns->item[t->index[k]];
        p->error = error[k] * p->constant->spread;
        p->determined = error[k] < CALC_FIT_DETERMINED;
        p->indicated = fabs(x[k]) > CALC_FIT_INDICATED * error[k];
    }
    return status;
}

calc_status calc_fit_unknowns(const calc_fit *fit, calc_unknowns *unknowns, const bool *is_free,
                              calc_errors *errors)
{
    task *t = calc_make(1, sizeof *t); /* the systems make it too large for a stack */
    t->fit = fit;
    t->unknowns = unknowns;
    t->weight = calc_make(fit->evidence->count, sizeof *t->weight);
    memcpy(t->system, fit->family->system, fit->family->machines * sizeof *t->system);
    for (size_t i = 0; i < unknowns->count; i++) {
        if (is_free[i]) {
            t->index[t->free++] = i;
        }
    }
    weigh(t);
    calc_status status = solve(t, errors);
    free(t->weight);
    free(t);
    return status;
}

static void add(calc_unknowns *p, const calc_family *family, const calc_constant *constant,
                const calc_constant_starts *starts)
{
    /* A factor between machines needs one that it is measured by. */
    for (size_t m = constant->own ? 1 : 0; m < family->machines; m++) {
        double value = calc_constant_get(constant, &family->system[m]);
        double start = starts
                           ? calc_constant_start(constant, starts, family->name, family->machine[m])
                           : value;
        size_t i = constant->own ? p->count : 0; /* one of the same value and start */
        while (i < p->count && (p->item[i].constant != constant || p->item[i].value != value ||
                                p->item[i].start != start)) {
            i++;
        }
        if (!(value > 0) || p->count == CALC_UNKNOWNS_MAX) {
            continue;
        }
        if (i == p->count) {
            p->item[p->count++] = (calc_unknown){
                .constant = constant, .start = start, .value = value, .error = (double)NAN};
        }
        p->item[i].machines |= 1U << m;
    }
}

void calc_unknowns_make(calc_unknowns *out, const calc_family *family, const char *const *fields,
                        const calc_constant_starts *starts)
{
    *out = (calc_unknowns){0};
    const calc_constant *constant;
    for (size_t i = 0; (constant = calc_constant_at(i)); i++) {
        const char *const *name = fields;
        while (name && *name && strcmp(*name, constant->name) != 0) {
            name++;
        }
        if (!name || *name) {
            add(out, family, constant, starts);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (out->item[i].machines & family->measured) {
            out->item[kept] = out->item[i];
            /* The values distinguished the machines; from here on they are the prior. */
            out->item[kept].value = out->item[kept].start;
            kept++;
        }
    }
    out->count = kept;
}

void calc_unknowns_apply(const calc_unknowns *unknowns, calc_system *system, size_t machines)
{
    for (size_t i = 0; i < unknowns->count; i++) {
        const calc_unknown *p = &unknowns->item[i];
        for (size_t m = 0; m < machines; m++) {
            if (p->machines >> m & 1) {
                calc_constant_set(p->constant, &system[m], p->value);
            }
        }
    }
}

double calc_unknown_relative_error(const calc_unknown *p)
{
    return p->constant->scale == CALC_CONSTANT_LOG ? p->error : p->error * (1 - p->value);
}

const char *const calc_cross_words[] = {CALC_CROSS_LIST(CALC_WORD_OF) NULL};

/* CRC-32 (ISO 3309), the usual way to deal names into folds that stay the same everywhere. */
static uint32_t checksum(const char *text)
{
    uint32_t sum = UINT32_MAX;
    for (; *text; text++) {
        sum ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xEDB88320) : 0);
        }
    }
    return ~sum;
}

int calc_evidence_width_fold(int64_t hidden, int64_t depth)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRId64 "_%" PRId64, hidden, depth);
    /* The fold of a text, below `folds`: the same everywhere. */
    return (int)(checksum(text) % (uint32_t)CALC_EVIDENCE_WIDTH_FOLDS);
}

/* Folds by publisher; within a single one by tensor parallelism. */
static void assign_folds_by_source(calc_evidence *evidence)
{
    bool one = true;
    for (size_t i = 0; i < evidence->count; i++) {
        one = one && strcmp(calc_result_source(evidence->row[i].result),
                            calc_result_source(evidence->row[0].result)) == 0;
    }
    for (size_t i = 0; i < evidence->count; i++) {
        calc_evidence_row *row = &evidence->row[i];
        row->source_fold = -1;
        for (size_t j = 0; j < i && row->source_fold < 0; j++) {
            const calc_evidence_row *other = &evidence->row[j];
            bool alike = one ? other->result->prediction->map.exec.strategy.tensor_par ==
                                   row->result->prediction->map.exec.strategy.tensor_par
                             : strcmp(calc_evidence_publisher(other->result),
                                      calc_evidence_publisher(row->result)) == 0;
            row->source_fold = alike ? other->source_fold : -1;
        }
        row->source_fold = row->source_fold < 0 ? evidence->source_folds++ : row->source_fold;
    }
}

calc_evidence calc_evidence_of(const calc_results *results, const char *const *machine,
                               size_t machines)
{
    calc_evidence found = {.row = calc_make(results->count, sizeof *found.row)}, *out = &found;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->use != CALC_USE_SCORED || r->quantity != CALC_QUANTITY_STEP_TIME) {
            continue;
        }
        size_t m = 0;
        while (m < machines && strcmp(machine[m], r->prediction->map.row->sys) != 0) {
            m++;
        }
        if (m < machines) {
            calc_evidence_row *row = &out->row[out->count++];
            *row = (calc_evidence_row){
                .result = r, .index = i, .machine = m, .log_measured = log(r->measured)};
        }
    }
    /* Folds by width, or by depth if all runs have the same width. */
    bool deep = true;
    for (size_t i = 0; i < out->count; i++) {
        deep = deep && out->row[i].result->prediction->map.app.hidden ==
                           out->row[0].result->prediction->map.app.hidden;
    }
    for (size_t i = 0; i < out->count; i++) {
        const calc_app *app = &out->row[i].result->prediction->map.app;
        out->row[i].width_fold = calc_evidence_width_fold(app->hidden, deep ? app->num_blocks : 0);
    }
    assign_folds_by_source(out);
    return found;
}

CALC_FREES(calc_evidence_free, calc_evidence, of->row)

const char *calc_evidence_publisher(const calc_result *r)
{
    const char *publisher =
        r->serving ? r->serving->map.row->publisher : r->prediction->map.row->publisher;
    return *publisher ? publisher : calc_result_source(r);
}

bool calc_evidence_is_of(const calc_result *r, const char *const *names)
{
    const char *source = calc_result_source(r);
    size_t word = strcspn(source, "_");
    for (; names && *names; names++) {
        bool alike = r->serving ? strcmp(calc_result_machine(r), *names) == 0
                                : (strlen(*names) == word && strncmp(source, *names, word) == 0) ||
                                      (calc_is_month(*names) &&
                                       strcmp(r->prediction->map.row->published, *names) >= 0);
        if (alike || strcmp(source, *names) == 0 ||
            strcmp(calc_evidence_publisher(r), *names) == 0) {
            return true;
        }
    }
    return false;
}

double calc_evidence_predict_s(const calc_evidence_row *row, const calc_system *system)
{
    const calc_run_map *map = &row->result->prediction->map;
    calc_system own;
    calc_stats stats;
    calc_verdict verdict = calc_run(&map->app, calc_run_map_system(map, system, &own), &map->exec,
                                    CALC_COMPAT_NONE, &stats);
    bool fine = verdict == CALC_VERDICT_OK || verdict == CALC_VERDICT_MEM1_CAPACITY ||
                verdict == CALC_VERDICT_MEM2_CAPACITY;
    return fine ? stats.total_time : (double)NAN;
}

enum { TRIED = 64 /* runs at most; the others are predicted better than these */ };

/* A run, and how near to it the values of the family come: below 0. */
typedef struct tried {
    double nearness;
    size_t row;
} tried;

static CALC_ORDER_BY(by_nearness, tried, nearness, row)

/* The distance of a value from its prior. */
static double moved(const calc_unknown *p, double value)
{
    return fabs(calc_constant_to_free(p->constant, value) -
                calc_constant_to_free(p->constant, p->start));
}

/* The first unknown that left its range; `count` if none did. A start outside of it, given by a
 * file, does not count. */
static size_t outside(const calc_unknowns *unknowns, const bool *is_free)
{
    size_t i = 0;
    for (; i < unknowns->count; i++) {
        const calc_unknown *p = &unknowns->item[i];
        bool low = p->value < p->constant->lo && p->value < p->start;
        bool high = p->value > p->constant->hi && p->value > p->start;
        if (is_free[i] && (low || high)) {
            break;
        }
    }
    return i;
}

calc_status calc_influence_find(calc_influence *out, const calc_fit *fit,
                                const calc_unknowns *unknowns, const bool *is_free,
                                calc_errors *errors)
{
    size_t index = outside(unknowns, is_free);
    *out = (calc_influence){0};
    if (index == unknowns->count) {
        return CALC_OK;
    }
    const calc_unknown *p = &unknowns->item[index];
    *out = (calc_influence){.constant = p->constant, .value = p->value, .without = p->value};
    size_t rows = fit->evidence->count, used = 0;
    bool *use = calc_make(rows, sizeof *use);
    tried *list = calc_make(rows, sizeof *list);
    for (size_t i = 0; i < rows; i++) {
        const calc_evidence_row *r = &fit->evidence->row[i];
        use[i] = is_used(fit, i);
        if (use[i]) {
            double step_s = calc_evidence_predict_s(r, &fit->family->system[r->machine]);
            list[used++] = (tried){-fabs(log(step_s) - r->log_measured), i};
        }
    }
    CALC_SORT(list, used, by_nearness);
    double nearest = INFINITY;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < used && i < TRIED && status == CALC_OK; i++) {
        calc_unknowns without = *unknowns;
        calc_fit one = *fit;
        one.use = use;
        use[list[i].row] = false;
        status = calc_fit_unknowns(&one, &without, is_free, errors);
        use[list[i].row] = true;
        double value = without.item[index].value;
        if (status == CALC_OK && moved(p, value) < nearest) {
            nearest = moved(p, value);
            out->row = list[i].row;
            out->without = value;
        }
    }
    free(list);
    free(use);
    return status;
}
