/* A machine calibrated to its measured operators: the constants, curves of efficiency where they
 * predict better, and how well each point is predicted, also by a calibration that has not seen
 * its shape. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/make.h"
#include "calibrate/calibration.h"
#include "calibrate/points.h"
#include "io/json_put.h"
#include "spec/field.h"

enum { OCTAVES = 64, BISECTIONS = 40 };
#define LEAST 1e-6 /* efficiency */
#define SAME 1.02  /* steps whose efficiencies differ by less are one */
#define GAIN 0.98  /* a curve must lower the error of unseen points to this share */

/* Points of one engine, with the model's inputs for the measured times. */
typedef struct sample {
    const calc_point *point;
    double flop;
    double log_efficiency;
    int fold;
} sample;

/* Steps under construction, from the smallest size up. */
typedef struct block {
    double threshold, weight, mean;
} block;

uint32_t calc_point_hash(const calc_point *p)
{
    bool attention = p->class == CALC_POINT_ATTENTION_FW || p->class == CALC_POINT_ATTENTION_BW;
    uint32_t hash = 2166136261U; /* FNV-1a */
    hash = (hash ^ (uint32_t)(attention ? CALC_POINT_ATTENTION_FW : p->class)) * 16777619U;
    for (int i = 0; i < CALC_POINT_SIZES; i++) {
        uint64_t bits;
        memcpy(&bits, &p->size[i], sizeof bits);
        for (int byte = 0; byte < 8; byte++) {
            hash = (hash ^ (uint32_t)(bits >> (8 * byte) & 255)) * 16777619U;
        }
    }
    return hash ^ hash >> 15;
}

/* The efficiency with which the model gives the measured time, at most 1. */
static double implied(calc_system *system, calc_curve *curve, const calc_point *p)
{
    double low = LEAST;
    double high = 1;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        *curve = (calc_curve){.count = 1, .efficiency = {middle}};
        if (calc_point_time_s(p, system) > p->measured_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return sqrt(low * high);
}

/* Means of octaves, of the samples that are not in `left_out`. @return how many */
static size_t fill_blocks(const sample *samples, size_t count, int left_out, block *out)
{
    block octave[OCTAVES] = {{0}};
    for (size_t i = 0; i < count; i++) {
        int k = (int)floor(log2(fmax(1, samples[i].flop)));
        k = k < OCTAVES ? k : OCTAVES - 1;
        if (samples[i].fold != left_out) {
            octave[k].weight += 1;
            octave[k].mean += samples[i].log_efficiency;
        }
    }
    size_t blocks = 0;
    for (int k = 0; k < OCTAVES; k++) {
        if (octave[k].weight > 0) {
            out[blocks++] =
                (block){ldexp(1, k), octave[k].weight, octave[k].mean / octave[k].weight};
        }
    }
    return blocks;
}

static void pool(block *to, const block *from)
{
    double weight = to->weight + from->weight;
    to->mean = (to->mean * to->weight + from->mean * from->weight) / weight;
    to->weight = weight;
}

/* Neighbours that rise by no more than `least` become one, from the smallest size up. */
static size_t pool_falling(block *b, size_t count, double least)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        b[next++] = b[i];
        while (next > 1 && b[next - 1].mean <= b[next - 2].mean + least) {
            pool(&b[next - 2], &b[next - 1]);
            next--;
        }
    }
    return next;
}

/* The two neighbours that differ least become one. */
static size_t pool_nearest(block *b, size_t count)
{
    size_t nearest = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        if (b[i + 1].mean - b[i].mean < b[nearest + 1].mean - b[nearest].mean) {
            nearest = i;
        }
    }
    pool(&b[nearest], &b[nearest + 1]);
    for (size_t i = nearest + 1; i + 1 < count; i++) {
        b[i] = b[i + 1];
    }
    return count - 1;
}

static void make_curve(calc_curve *curve, const sample *samples, size_t count, int left_out)
{
    block b[OCTAVES];
    size_t steps = pool_falling(b, fill_blocks(samples, count, left_out, b), 0);
    steps = pool_falling(b, steps, log(SAME));
    while (steps > CALC_MAX_CURVE_STEPS) {
        steps = pool_nearest(b, steps);
    }
    curve->count = (int64_t)steps;
    for (size_t i = 0; i < steps; i++) {
        curve->threshold[steps - 1 - i] = i == 0 ? 0 : b[i].threshold;
        curve->efficiency[steps - 1 - i] = fmin(1, calc_point_round(exp(b[i].mean), 4));
    }
}

/* Errors of shapes: all alike, and by their arithmetic as the one number was fitted. */
typedef struct fold_error {
    double alike, weighed;
} fold_error;

static void add_fold(fold_error *sum, const calc_system *system, const sample *samples,
                     size_t count, int fold)
{
    for (size_t i = 0; i < count; i++) {
        if (samples[i].fold == fold) {
            double error = fabs(
                log(calc_point_time_s(samples[i].point, system) / samples[i].point->measured_s));
            sum->alike += error;
            sum->weighed += samples[i].flop * error;
        }
    }
}

/* Fill the samples. @return how many */
static size_t take(calc_system *system, calc_curve *curve, calc_datatype datatype,
                   const calc_point *points, size_t count, const bool *skip, sample *out)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        const calc_point *p = &points[i];
        if (calc_point_is_used(p) && !(skip && skip[i]) && p->class == CALC_POINT_MATRIX &&
            p->datatype == datatype) {
            out[taken++] =
                (sample){.point = p,
                         .flop = calc_point_flop(p),
                         .log_efficiency = log(implied(system, curve, p)),
                         .fold = (int)((calc_point_hash(p) >> 8) % CALC_POINT_CURVE_FOLDS)};
        }
    }
    return taken;
}

bool calc_point_curve_matrix(calc_system *system, calc_datatype datatype, const calc_point *points,
                             size_t count, const bool *skip)
{
    calc_curve *curve = &system->chip.matrix[datatype].efficiency;
    const calc_curve before = *curve;
    sample *samples = calc_make(count, sizeof *samples);
    size_t taken = take(system, curve, datatype, points, count, skip, samples);
    fold_error with = {0};
    fold_error without = {0};
    for (int fold = 0; fold < CALC_POINT_CURVE_FOLDS; fold++) {
        make_curve(curve, samples, taken, fold);
        with.alike += curve->count > 0 ? 0 : INFINITY;
        add_fold(&with, system, samples, taken, fold);
        *curve = before;
        add_fold(&without, system, samples, taken, fold);
    }
    bool better =
        taken > 0 && with.alike < GAIN * without.alike && with.weighed < GAIN * without.weighed;
    if (better) {
        make_curve(curve, samples, taken, -1);
    }
    free(samples);
    return better;
}

static calc_status fit(calc_point_fit *out, const calc_points *points, const bool *skip,
                       const calc_system *system, calc_errors *errors)
{
    calc_status status =
        calc_point_fit_make(out, points->item, points->count, skip, system, errors);
    for (int i = 0; i < CALC_DATATYPE_COUNT && status == CALC_OK; i++) {
        if (system->chip.matrix[i].flop_per_s > 0) {
            out->curve[i] = calc_point_curve_matrix(&out->system, (calc_datatype)i, points->item,
                                                    points->count, skip);
        }
    }
    return status;
}

static void predict(const calc_points *points, const bool *only, const calc_system *system,
                    double *out_s)
{
    for (size_t i = 0; i < points->count; i++) {
        if (calc_point_is_used(&points->item[i]) && (!only || only[i])) {
            out_s[i] = calc_point_time_s(&points->item[i], system);
        }
    }
}

/* One half of the shapes, by a fit to the other; and by that with the other half to look up. `half`
 * and `skip` are room to work in. */
static calc_status predict_half(calc_point_calibration *out, const calc_points *points,
                                const calc_system *system, uint32_t which, calc_point_fit *half,
                                bool *skip, calc_errors *errors)
{
    double *unseen_s = out->predicted_s[CALC_POINT_UNSEEN];
    calc_point_table table;
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        skip[i] = calc_point_is_used(p) && (calc_point_hash(p) & 1) == which;
    }
    calc_status status = fit(half, points, skip, system, errors);
    if (status != CALC_OK) {
        return status;
    }
    predict(points, skip, &half->system, unseen_s);
    calc_point_table_make(&table, points->item, points->count, skip, &half->system);
    for (size_t i = 0; i < points->count; i++) {
        if (skip[i]) {
            calc_kernel_key key = calc_point_key(&points->item[i], &half->system);
            out->predicted_s[CALC_POINT_LOOKUP][i] =
                calc_kernel_table_s(&table.table, &key, unseen_s[i], &out->source[i]);
        }
    }
    calc_point_table_free(&table);
    return CALC_OK;
}

calc_status calc_point_calibrate(calc_point_calibration *out, const calc_points *points,
                                 const char *machine, const calc_system *system,
                                 calc_errors *errors)
{
    calc_point_fit *half = calc_make(1, sizeof *half);
    bool *skip = calc_make(points->count, sizeof *skip);
    calc_status status = CALC_OK;
    out->machine = machine;
    out->source = calc_make(points->count, sizeof *out->source);
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        out->predicted_s[v] = calc_make(points->count, sizeof *out->predicted_s[v]);
        for (size_t i = 0; i < points->count; i++) {
            out->predicted_s[v][i] = (double)NAN;
        }
    }
    predict(points, NULL, system, out->predicted_s[CALC_POINT_FILE]);
    for (uint32_t which = 0; which < 2 && status == CALC_OK; which++) {
        status = predict_half(out, points, system, which, half, skip, errors);
    }
    free(half);
    free(skip);
    status = status == CALC_OK ? fit(&out->fit, points, NULL, system, errors) : status;
    if (status == CALC_OK) {
        predict(points, NULL, &out->fit.system, out->predicted_s[CALC_POINT_CALIBRATED]);
    }
    return status;
}

void calc_point_calibration_free(calc_point_calibration *calibration)
{
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        free(calibration->predicted_s[v]);
        calibration->predicted_s[v] = NULL;
    }
    free(calibration->source);
    calibration->source = NULL;
}

static const char marker[] = "Operators: fitted on ";

static void write_standing(calc_output *out, const calc_point_fit *f, calc_point_standing which,
                           const char *title)
{
    const char *before = title;
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        if (c->standing == which) {
            calc_output_printf(out, "%s%s", before, c->constant.name);
            if (which != CALC_POINT_STAYS) {
                calc_output_printf(out, " (%.2g %%)", 100 * c->relative_error);
            }
            before = ", ";
        }
    }
    calc_output_text(out, before == title ? "" : ".");
}

/* A calibration, for the source of its machine. */
typedef struct fitted {
    const calc_point_calibration *c;
    const calc_points *points;
    const char *date;
} fitted;

static void write_fitted(calc_output *out, const void *of)
{
    const fitted *which = of;
    const calc_point_calibration *c = which->c;
    const calc_points *points = which->points;
    const char *comma = "";
    calc_output_printf(out, "%s%s to measured operators (", marker, which->date);
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        size_t count = 0;
        for (size_t i = 0; i < points->count; i++) {
            const calc_point *p = &points->item[i];
            count += calc_point_is_used(p) && (int)p->class == class;
        }
        if (count > 0) {
            calc_output_printf(out, "%s%s %zu", comma,
                               calc_point_class_name((calc_point_class) class), count);
            comma = ", ";
        }
    }
    calc_output_text(out, ").");
    write_standing(out, &c->fit, CALC_POINT_FITTED, " Determined by them (standard error): ");
    write_standing(out, &c->fit, CALC_POINT_ADJUSTED,
                   " Adjusted, though they do not determine it: ");
    write_standing(out, &c->fit, CALC_POINT_STAYS, " Not determined, left as it was: ");
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (c->fit.curve[i]) {
            calc_output_printf(out, " Efficiency by size: matrix.%s.", calc_datatype_names[i]);
        }
    }
}

void calc_point_calibration_write(calc_output *out, const calc_point_calibration *c,
                                  const calc_points *points, const calc_text *old, const char *date)
{
    const fitted of = {c, points, date};
    calc_system_text_save(out, &c->fit.system, old, marker, write_fitted, &of);
}
