#include "tune/kernel_class.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "gauss/process.h"
#include "model/operators/operator.h"
#include "spec/field.h"

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

static int by_distance(const void *left, const void *right)
{
    const datum *a = left;
    const datum *b = right;
    if (a->apart != b->apart) {
        return a->apart < b->apart ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

static int by_row(const void *left, const void *right)
{
    const datum *a = left;
    const datum *b = right;
    return a->row < b->row ? -1 : a->row > b->row;
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
        qsort(list, found, sizeof *list, by_distance);
        qsort(list, CALC_PROCESS_DATA, sizeof *list, by_row);
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
    datum *list = malloc((table->count + 1) * sizeof *list);
    double point[CALC_PROCESS_DIMENSIONS];
    calc_process_start(out, 1, 0, prior_sd);
    if (!list) {
        return calc_errors_no_memory(errors);
    }
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
