#include "tune/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

static double time_of(const calc_tune_kernel_cell *cell)
{
    double time_s = 0;
    for (size_t i = 0; i < cell->kernels; i++) {
        time_s += cell->kernel[i].time_s;
    }
    return time_s;
}

static void collect(work *w, const calc_tune_kernel_class *class, const calc_tune_kernel_cell *cell)
{
    double point[CALC_PROCESS_DIMENSIONS];
    w->shapes = w->parts = w->dimensions = 0;
    for (size_t c = 0; c < w->cells; c++) {
        double all_s = time_of(&cell[c]);
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
    double *covariance = w->out->covariance;
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
        w->out->mean[p->cell] += p->weight * mean;
        for (size_t k = 0; k < known; k++) {
            w->pull[p->cell * known + k] += p->weight * w->reach[k];
        }
        for (size_t c = 0; c < w->cells; c++) {
            w->out->covariance[p->cell * w->cells + c] += p->weight * w->sum[c];
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
            const double *datum = w->process->point + k * w->dimensions;
            double apart = 0;
            for (size_t j = 0; j < w->dimensions; j++) {
                apart = fmax(apart, fabs(datum[j] - at[j]));
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
        double before = sum_of(w->out->mean, w->cells);
        class->exact = count_exact(w);
        memset(w->pull, 0, w->cells * known * sizeof *w->pull);
        for (size_t i = 0; i < w->shapes; i++) {
            add_shape(w, i, known);
        }
        dot_rows(w, known);
        class->error = share > 0 ? (sum_of(w->out->mean, w->cells) - before) / share : 0;
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

static double field(const calc_tune_field *f, const double *a, const double *b)
{
    static const calc_tune_coordinate which[CALC_TUNE_CELL_COORDINATES] = {
        CALC_TUNE_COORDINATE_TOKENS, CALC_TUNE_COORDINATE_TENSOR, CALC_TUNE_COORDINATE_CONTEXT};
    double square = 0;
    for (int i = 0; i < CALC_TUNE_CELL_COORDINATES; i++) {
        if (f->length[which[i]] > 0) {
            double apart = (a[i] - b[i]) / f->length[which[i]];
            square += apart * apart;
        }
    }
    return f->sd * f->sd * exp(-sqrt(square));
}

/* The shares that nobody measured, and that no benchmark shows. @param left  share of the former */
static void add_rest(calc_tune_kernels_learnt *out, const calc_tune_field *f, const double *left,
                     size_t cells)
{
    double *m = out->covariance;
    for (size_t a = 0; a < cells; a++) {
        for (size_t b = 0; b <= a; b++) {
            double weight = left[a] * left[b] + IN_STEP * IN_STEP * (1 - left[a]) * (1 - left[b]);
            double both = (m[a * cells + b] + m[b * cells + a]) / 2 +
                          weight * field(f, out->coordinate[a], out->coordinate[b]);
            m[a * cells + b] = m[b * cells + a] = both;
        }
        /* Rounding may leave a negative variance where measurements determine a cell. */
        m[a * cells + a] = fmax(m[a * cells + a], 0) + JITTER;
    }
}

/* ---- All together ---------------------------------------------------------------------------- */

static bool reserve(work *w, calc_tune_kernels_learnt *out, size_t parts)
{
    size_t cells = w->cells;
    out->coordinate = calloc(cells + 1, sizeof *out->coordinate);
    out->mean = calloc(cells + 1, sizeof *out->mean);
    out->covariance = calloc(cells * cells + 1, sizeof *out->covariance);
    w->part = malloc((parts + 1) * sizeof *w->part);
    w->point = malloc((parts + 1) * CALC_PROCESS_DIMENSIONS * sizeof *w->point);
    w->row = malloc((parts + 1) * sizeof *w->row);
    w->sum = malloc((cells + 1) * sizeof *w->sum);
    w->share = malloc((cells + 1) * sizeof *w->share);
    w->reach = malloc(CALC_PROCESS_DATA * sizeof *w->reach);
    w->pull = malloc((cells + 1) * CALC_PROCESS_DATA * sizeof *w->pull);
    return out->coordinate && out->mean && out->covariance && w->part && w->point && w->row &&
           w->sum && w->share && w->reach && w->pull;
}

static void leave(work *w)
{
    free(w->part);
    free(w->point);
    free(w->row);
    free(w->sum);
    free(w->share);
    free(w->reach);
    free(w->pull);
}

static calc_status learn(work *w, const calc_tune_prior *prior, const calc_kernel_table *measured,
                         const calc_tune_kernel_cell *cell, double *left, calc_errors *errors)
{
    calc_tune_kernels_learnt *out = w->out;
    for (size_t c = 0; c < w->cells; c++) {
        memcpy(out->coordinate[c], cell[c].coordinate, sizeof cell[c].coordinate);
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
    add_rest(out, &prior->kernels, left, w->cells);
    out->kernels =
        (calc_tune_kernels){w->cells, (const double(*)[CALC_TUNE_CELL_COORDINATES])out->coordinate,
                            out->mean, out->covariance};
    return CALC_OK;
}

calc_status calc_tune_kernels_learn(calc_tune_kernels_learnt *out, const calc_tune_prior *prior,
                                    const calc_kernel_table *measured,
                                    const calc_tune_kernel_cell *cell, size_t cells,
                                    calc_errors *errors)
{
    *out = (calc_tune_kernels_learnt){0};
    work w = {.out = out, .cells = cells};
    double *left = malloc((cells + 1) * sizeof *left);
    bool room = reserve(&w, out, find_classes(out, cell, cells));
    calc_status status = left && room ? learn(&w, prior, measured, cell, left, errors)
                                      : calc_errors_no_memory(errors);
    free(left);
    leave(&w);
    return status;
}

void calc_tune_kernels_free(calc_tune_kernels_learnt *kernels)
{
    free(kernels->coordinate);
    free(kernels->mean);
    free(kernels->covariance);
    *kernels = (calc_tune_kernels_learnt){0};
}
