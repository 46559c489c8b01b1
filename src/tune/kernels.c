#include "tune/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "gauss/process.h"
#include "model/operators/operator.h"
#include "spec/field.h"

void calc_tune_kernel_cells_make(calc_tune_kernel_cells *out, const calc_app *app,
                                 const calc_system *system, const calc_tune_candidate *candidate,
                                 size_t count, calc_tune_exec_of exec, const void *context)
{
    calc_tune_field shape = {.sd = 1};
    size_t *first = calc_make(count, sizeof *first), *of = calc_make(count, sizeof *of), used = 0;
    for (int k = 0; k < CALC_TUNE_CELL_COORDINATES; k++) {
        shape.length[k] = 1;
    }
    *out =
        (calc_tune_kernel_cells){.count = calc_tune_cells_of(&shape, candidate, count, first, of),
                                 .cell = calc_make(count, sizeof *out->cell)};
    for (size_t i = 0; i < out->count; i++) {
        calc_tune_kernel_cell *cell = &out->cell[i];
        const double *term = candidate[first[i]].term;
        double kernels = term[CALC_TUNE_TERM_MATRIX] + term[CALC_TUNE_TERM_ATTENTION] +
                         term[CALC_TUNE_TERM_MEMORY];
        double all = kernels + term[CALC_TUNE_TERM_HOST];
        cell->busy = all > 0 ? kernels / all : 0;
        memcpy(cell->coordinate, candidate[first[i]].coordinate, sizeof cell->coordinate);
        const calc_exec e = exec(context, first[i]);
        out->kernel = calc_longer(out->kernel, used + CALC_LAYOUT_KERNELS, sizeof *out->kernel);
        cell->kernels = calc_layout_kernels(app, system, &e, out->kernel + used);
        used += cell->kernels;
    }
    used = 0;
    for (size_t i = 0; i < out->count; i++) {
        out->cell[i].kernel = out->kernel + used;
        used += out->cell[i].kernels;
    }
    free(first);
    free(of);
}

CALC_FREES(calc_tune_kernel_cells_free, calc_tune_kernel_cells, of->cell, of->kernel)

/* ---- Classes of kernels ---------------------------------------------------------------------- */

calc_tune_kernel_class calc_tune_kernel_class_of(const calc_kernel_key *key)
{
    bool attention = key->kind == CALC_KERNEL_ATTENTION;
    return (calc_tune_kernel_class){.kind = key->kind,
                                    .backward = attention && key->pass != CALC_PASS_FW,
                                    .causal = attention && key->variant != 0,
                                    .datatype = key->datatype};
}

bool calc_tune_kernel_class_is(const calc_tune_kernel_class *a, const calc_tune_kernel_class *b)
{
    return a->kind == b->kind && a->backward == b->backward && a->causal == b->causal &&
           a->datatype == b->datatype;
}

char *calc_tune_kernel_class_words(const calc_tune_kernel_class *class,
                                   char text[CALC_TUNE_KERNEL_WORDS])
{
    const char *what = class->kind == CALC_KERNEL_MATRIX    ? "matrix multiplications"
                       : class->kind == CALC_KERNEL_GROUPED ? "multiplications of experts"
                       : class->kind == CALC_KERNEL_MEMORY  ? "elementwise kernels"
                       : class->backward                    ? "attention backward"
                                                            : "attention forward";
    bool formatted = class->kind != CALC_KERNEL_MEMORY;
    snprintf(text, CALC_TUNE_KERNEL_WORDS, "%s%s%s%s", class->causal ? "causal " : "", what,
             formatted ? " in " : "", formatted ? calc_datatype_names[class->datatype] : "");
    return text;
}

size_t calc_tune_kernel_class_point(const calc_kernel_key *key, double *point)
{
    size_t count = (size_t)key->sizes;
    for (size_t i = 0; i < count; i++) {
        point[i] = key->log2_size[i];
    }
    if (key->kind == CALC_KERNEL_MATRIX || key->kind == CALC_KERNEL_GROUPED) {
        point[count++] = key->pass == CALC_PASS_AGRAD;
        point[count++] = key->pass == CALC_PASS_WGRAD ? key->variant : 0;
    }
    return count;
}

/* A measurement, and how far it is from the nearest point that is asked for. */
typedef struct datum {
    size_t row;
    double apart; /* squared */
} datum;

static CALC_ORDER_BY(by_distance, datum, apart, row)

static int by_row(const void *left, const void *right)
{
    const datum *a = left, *b = right;
    return CALC_ORDER(a->row, b->row);
}

static double distance(const double *point, size_t dimensions, const double *wanted, size_t count)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        double square = 0;
        for (size_t j = 0; j < dimensions; j++) {
            double step = point[j] - wanted[i * dimensions + j];
            square += step * step;
        }
        least = fmin(least, square);
    }
    return least;
}

/* The rows of the class; the nearest CALC_PROCESS_DATA of them come first, in the order of rows. */
static size_t choose(datum *list, const calc_tune_kernel_class *class,
                     const calc_kernel_table *table, const double *wanted, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < table->count; i++) {
        double point[CALC_PROCESS_DIMENSIONS];
        const calc_kernel_key *key = &table->point[i].key;
        if (key->kind == CALC_KERNEL_COLLECTIVE || !isfinite(table->point[i].log_ratio)) {
            continue;
        }
        calc_tune_kernel_class of = calc_tune_kernel_class_of(key);
        if (calc_tune_kernel_class_is(&of, class)) {
            size_t dimensions = calc_tune_kernel_class_point(key, point);
            list[found++] = (datum){i, distance(point, dimensions, wanted, count)};
        }
    }
    if (found > CALC_PROCESS_DATA) {
        CALC_SORT(list, found, by_distance);
        CALC_SORT(list, CALC_PROCESS_DATA, by_row);
    }
    return found;
}

static calc_status add(calc_process *process, const calc_kernel_table *table, const datum *d)
{
    double point[CALC_PROCESS_DIMENSIONS];
    const calc_kernel_point *p = &table->point[d->row];
    calc_tune_kernel_class_point(&p->key, point);
    return calc_process_add(process, point, p->log_ratio, 1);
}

/* Hyper-parameters in the standards of another process. */
static calc_process_terms translate(const calc_process *from, const calc_process *to)
{
    calc_process_terms terms = from->terms;
    double ratio = from->value_sd / to->value_sd;
    for (size_t j = 0; j < from->dimensions; j++) {
        terms.length[j] *= from->sd[j] / to->sd[j];
    }
    terms.scale *= ratio * ratio;
    terms.noise *= ratio * ratio;
    terms.mean = (double)NAN;
    return terms;
}

/* Fit to some of the data, condition on all. */
static calc_status fit(calc_process *process, const calc_kernel_table *table, const datum *list,
                       size_t count)
{
    calc_process few;
    calc_status status = CALC_OK;
    calc_process_start(&few, process->dimensions, process->prior_mean, process->prior_sd);
    for (size_t i = 0; i < CALC_TUNE_KERNEL_FIT && status == CALC_OK; i++) {
        status = add(&few, table, &list[i * count / CALC_TUNE_KERNEL_FIT]);
    }
    status = status == CALC_OK ? calc_process_fit(&few) : status;
    if (status == CALC_OK) {
        /* For its standards, which do not depend on the terms. */
        status = calc_process_condition(process, &few.terms);
    }
    if (status == CALC_OK) {
        calc_process_terms terms = translate(&few, process);
        status = calc_process_condition(process, &terms);
    }
    calc_process_free(&few);
    return status;
}

calc_status calc_tune_kernel_class_learn(calc_process *out, const calc_tune_kernel_class *class,
                                         const calc_kernel_table *table, const double *wanted,
                                         size_t count, double prior_sd, size_t *measured,
                                         calc_errors *errors)
{
    datum *list = calc_make(table->count, sizeof *list);
    double point[CALC_PROCESS_DIMENSIONS];
    calc_process_start(out, 1, 0, prior_sd);
    *measured = choose(list, class, table, wanted, count);
    size_t used = *measured < CALC_PROCESS_DATA ? *measured : CALC_PROCESS_DATA;
    if (used > 0) {
        const calc_kernel_key *key = &table->point[list[0].row].key;
        calc_process_start(out, calc_tune_kernel_class_point(key, point), 0, prior_sd);
    }
    calc_status status = CALC_OK;
    for (size_t i = 0; i < used && status == CALC_OK; i++) {
        status = add(out, table, &list[i]);
    }
    if (status == CALC_OK && used > 0) {
        status = used > CALC_TUNE_KERNEL_FIT ? fit(out, table, list, used) : calc_process_fit(out);
    }
    free(list);
    return status == CALC_OK ? CALC_OK : calc_errors_status(errors, status);
}

/* Variance that is added to every cell, so that cells that are alike still have a factor: far below
 * the resolution of any measurement of a step. */
#define JITTER 1e-12

/* Share of the prior's field that remains for measured kernels: they run alone in a benchmark, but
 * beside others and at other clocks in a step. Among 0, 0.3, 0.5, 0.7 and 1, half gives SimuMax's
 * runs on B200 the greatest likelihood, summed over the three machines that
 * tests/bench/study_kernels.c corrects. */
#define IN_STEP 0.5

/* A kernel of a cell. */
typedef struct part {
    size_t cell, shape;
    double weight; /* share of the cell's time */
} part;

/* One class in all cells. */
typedef struct work {
    calc_tune_kernels_learnt *out;
    size_t cells;
    const calc_process *process;
    size_t dimensions;
    double *point; /* of each shape */
    size_t shapes;
    part *part;
    size_t parts;
    double *share; /* share of the class in each cell */
    double *row;   /* covariances of a shape with the others, before measurements */
    double *sum;   /* of those, by cell */
    double *reach; /* of a shape: calc_process_reach() */
    double *pull;  /* of each cell likewise */
} work;

/* ---- Shapes of a class ----------------------------------------------------------------------- */

static size_t shape_of(work *w, const double *point)
{
    size_t size = w->dimensions * sizeof *point;
    size_t i = 0;
    while (i < w->shapes && memcmp(w->point + i * w->dimensions, point, size) != 0) {
        i++;
    }
    if (i == w->shapes) {
        memcpy(w->point + i * w->dimensions, point, size);
        w->shapes++;
    }
    return i;
}

static void collect(work *w, const calc_tune_kernel_class *class, const calc_tune_kernel_cell *cell)
{
    double point[CALC_PROCESS_DIMENSIONS];
    w->shapes = w->parts = w->dimensions = 0;
    for (size_t c = 0; c < w->cells; c++) {
        double all_s = 0;
        for (size_t i = 0; i < cell[c].kernels; i++) {
            all_s += cell[c].kernel[i].time_s;
        }
        w->share[c] = 0;
        for (size_t i = 0; i < cell[c].kernels; i++) {
            const calc_layout_kernel *k = &cell[c].kernel[i];
            calc_tune_kernel_class of = calc_tune_kernel_class_of(&k->key);
            if (k->keyed && calc_tune_kernel_class_is(&of, class)) {
                double weight = cell[c].busy * k->time_s / all_s;
                w->dimensions = calc_tune_kernel_class_point(&k->key, point);
                w->part[w->parts++] = (part){c, shape_of(w, point), weight};
                w->share[c] += weight;
            }
        }
    }
}

/* ---- Learning a class ------------------------------------------------------------------------ */

static void dot_rows(const work *w, size_t known)
{
    double *covariance = w->out->kernels.covariance;
    for (size_t a = 0; a < w->cells; a++) {
        for (size_t b = 0; b < w->cells; b++) {
            double taken = 0;
            for (size_t k = 0; k < known; k++) {
                taken += w->pull[a * known + k] * w->pull[b * known + k];
            }
            covariance[a * w->cells + b] -= taken;
        }
    }
}

/* Add a shape to all cells that have it: its mean, its prior covariances, and their reduction by
 * data. */
static void add_shape(const work *w, size_t shape, size_t known)
{
    const double *at = w->point + shape * w->dimensions;
    double mean = calc_process_reach(w->process, at, w->reach);
    for (size_t i = 0; i < w->shapes; i++) {
        w->row[i] = calc_process_prior(w->process, at, w->point + i * w->dimensions);
    }
    memset(w->sum, 0, w->cells * sizeof *w->sum);
    for (size_t i = 0; i < w->parts; i++) {
        w->sum[w->part[i].cell] += w->part[i].weight * w->row[w->part[i].shape];
    }
    for (size_t i = 0; i < w->parts; i++) {
        const part *p = &w->part[i];
        if (p->shape != shape) {
            continue;
        }
        w->out->kernels.mean[p->cell] += p->weight * mean;
        for (size_t k = 0; k < known; k++) {
            w->pull[p->cell * known + k] += p->weight * w->reach[k];
        }
        for (size_t c = 0; c < w->cells; c++) {
            w->out->kernels.covariance[p->cell * w->cells + c] += p->weight * w->sum[c];
        }
    }
}

static size_t count_exact(const work *w)
{
    size_t exact = 0;
    for (size_t i = 0; i < w->shapes; i++) {
        const double *at = w->point + i * w->dimensions;
        bool found = false;
        for (size_t k = 0; k < w->process->count && !found; k++) {
            const double *known = w->process->point + k * w->dimensions;
            double apart = 0;
            for (size_t j = 0; j < w->dimensions; j++) {
                apart = fmax(apart, fabs(known[j] - at[j]));
            }
            found = apart < 1e-9; /* rounding of logarithms */
        }
        exact += found;
    }
    return exact;
}

static double sum_of(const double *value, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += value[i];
    }
    return sum;
}

/* @param left  share of each cell without a measurement, reduced by this class if it has one */
static calc_status learn_class(work *w, calc_tune_kernels_class *class,
                               const calc_tune_prior *prior, const calc_kernel_table *measured,
                               double *left, calc_errors *errors)
{
    calc_process process;
    calc_status status =
        calc_tune_kernel_class_learn(&process, &class->class, measured, w->point, w->shapes,
                                     prior->kernels.sd, &class->measured, errors);
    size_t known = calc_process_known(&process);
    w->process = &process;
    double share = sum_of(w->share, w->cells);
    class->error = (double)NAN;
    class->shapes = w->shapes;
    class->share = share / (double)w->cells;
    if (status == CALC_OK && known > 0) {
        double before = sum_of(w->out->kernels.mean, w->cells);
        class->exact = count_exact(w);
        memset(w->pull, 0, w->cells * known * sizeof *w->pull);
        for (size_t i = 0; i < w->shapes; i++) {
            add_shape(w, i, known);
        }
        dot_rows(w, known);
        class->error = share > 0 ? (sum_of(w->out->kernels.mean, w->cells) - before) / share : 0;
        for (size_t c = 0; c < w->cells; c++) {
            left[c] -= w->share[c];
        }
    }
    w->process = NULL;
    calc_process_free(&process);
    return status;
}

/* ---- Classes --------------------------------------------------------------------------------- */

static void add_class(calc_tune_kernels_learnt *out, const calc_layout_kernel *kernel)
{
    calc_tune_kernel_class class = calc_tune_kernel_class_of(&kernel->key);
    size_t i = 0;
    while (i < out->classes && !calc_tune_kernel_class_is(&out->class[i].class, &class)) {
        i++;
    }
    if (i == out->classes && i < CALC_TUNE_KERNEL_CLASSES) {
        out->class[out->classes++] = (calc_tune_kernels_class){.class = class};
    }
}

/* @return kernels in all cells */
static size_t find_classes(calc_tune_kernels_learnt *out, const calc_tune_kernel_cell *cell,
                           size_t cells)
{
    size_t count = 0;
    for (size_t c = 0; c < cells; c++) {
        for (size_t i = 0; i < cell[c].kernels; i++) {
            if (cell[c].kernel[i].keyed) {
                add_class(out, &cell[c].kernel[i]);
            }
        }
        count += cell[c].kernels;
    }
    return count;
}

/* ---- The rest -------------------------------------------------------------------------------- */

/* The shares that nobody measured, and that no benchmark shows. @param left  share of the former */
static void add_rest(const calc_tune_kernels *out, const calc_tune_field *f, const double *left)
{
    double *m = out->covariance;
    size_t cells = out->cells;
    for (size_t a = 0; a < cells; a++) {
        for (size_t b = 0; b <= a; b++) {
            double weight = left[a] * left[b] + IN_STEP * IN_STEP * (1 - left[a]) * (1 - left[b]);
            double both =
                (m[a * cells + b] + m[b * cells + a]) / 2 +
                weight * calc_tune_field_covariance(f, out->coordinate[a], out->coordinate[b]);
            m[a * cells + b] = m[b * cells + a] = both;
        }
        /* Rounding may leave a negative variance where measurements determine a cell. */
        m[a * cells + a] = fmax(m[a * cells + a], 0) + JITTER;
    }
}

/* ---- All together ---------------------------------------------------------------------------- */

static calc_status learn(work *w, const calc_tune_prior *prior, const calc_kernel_table *measured,
                         const calc_tune_kernel_cell *cell, double *left, calc_errors *errors)
{
    calc_tune_kernels_learnt *out = w->out;
    for (size_t c = 0; c < w->cells; c++) {
        memcpy(out->kernels.coordinate[c], cell[c].coordinate, sizeof cell[c].coordinate);
        left[c] = 1;
    }
    out->unmeasured = 1;
    for (size_t i = 0; i < out->classes; i++) {
        collect(w, &out->class[i].class, cell);
        calc_status status = learn_class(w, &out->class[i], prior, measured, left, errors);
        if (status != CALC_OK) {
            return status;
        }
        out->unmeasured -= out->class[i].share;
    }
    add_rest(&out->kernels, &prior->kernels, left);
    return CALC_OK;
}

static CALC_FREES(leave, work, of->part, of->point, of->row, of->sum, of->share, of->reach,
                  of->pull)

calc_status calc_tune_kernels_learn(calc_tune_kernels_learnt *out, const calc_tune_prior *prior,
                                    const calc_kernel_table *measured,
                                    const calc_tune_kernel_cell *cell, size_t cells,
                                    calc_errors *errors)
{
    *out = (calc_tune_kernels_learnt){
        .kernels = {cells, calc_make(cells, sizeof *out->kernels.coordinate),
                    calc_make(cells, sizeof *out->kernels.mean),
                    calc_make(cells * cells, sizeof *out->kernels.covariance)}};
    size_t parts = find_classes(out, cell, cells);
    double *left = calc_make(cells, sizeof *left);
    work w = {.out = out,
              .cells = cells,
              .part = calc_make(parts, sizeof *w.part),
              .point = calc_make(parts * CALC_PROCESS_DIMENSIONS, sizeof *w.point),
              .row = calc_make(parts, sizeof *w.row),
              .sum = calc_make(cells, sizeof *w.sum),
              .share = calc_make(cells, sizeof *w.share),
              .reach = calc_make(CALC_PROCESS_DATA, sizeof *w.reach),
              .pull = calc_make(cells * CALC_PROCESS_DATA, sizeof *w.pull)};
    calc_status status = learn(&w, prior, measured, cell, left, errors);
    free(left);
    leave(&w);
    return status;
}

CALC_FREES(calc_tune_kernels_free, calc_tune_kernels_learnt, of->kernels.coordinate,
           of->kernels.mean, of->kernels.covariance)
