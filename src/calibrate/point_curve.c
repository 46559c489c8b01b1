#include "calibrate/point_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/point_fit.h"
#include "calibrate/point_time.h"

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

static void set_flat(calc_curve *curve, double efficiency)
{
    *curve = (calc_curve){.count = 1, .threshold = {0}, .efficiency = {efficiency}};
}

/* The efficiency with which the model gives the measured time, at most 1. */
static double implied(calc_system *system, calc_curve *curve, const calc_point *p)
{
    double low = LEAST;
    double high = 1;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        set_flat(curve, middle);
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

static size_t make_rise(block *b, size_t count)
{
    count = pool_falling(b, count, 0);
    count = pool_falling(b, count, log(SAME));
    while (count > CALC_MAX_CURVE_STEPS) {
        count = pool_nearest(b, count);
    }
    return count;
}

static void make_curve(calc_curve *curve, const sample *samples, size_t count, int left_out)
{
    block b[OCTAVES];
    size_t steps = make_rise(b, fill_blocks(samples, count, left_out, b));
    curve->count = (int64_t)steps;
    for (size_t i = 0; i < steps; i++) {
        curve->threshold[steps - 1 - i] = i == 0 ? 0 : b[i].threshold;
        curve->efficiency[steps - 1 - i] = fmin(1, calc_point_round(exp(b[i].mean)));
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

calc_status calc_point_curve_matrix(calc_system *system, calc_datatype datatype,
                                    const calc_point *points, size_t count, const bool *skip,
                                    bool *changed, calc_errors *errors)
{
    calc_curve *curve = &system->chip.matrix[datatype].efficiency;
    const calc_curve before = *curve;
    sample *samples = calloc(count + 1, sizeof *samples);
    *changed = false;
    if (!samples) {
        return calc_errors_no_memory(errors);
    }
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
    if (taken > 0 && with.alike < GAIN * without.alike && with.weighed < GAIN * without.weighed) {
        make_curve(curve, samples, taken, -1);
        *changed = true;
    }
    free(samples);
    return CALC_OK;
}
