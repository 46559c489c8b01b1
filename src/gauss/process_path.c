#include "gauss/process_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "gauss/normal.h"

void calc_process_path_start(calc_process_path *path, const calc_process *process, size_t draws,
                             const calc_rng *rng)
{
    *path = (calc_process_path){.process = process, .rng = *rng, .draws = draws};
}

void calc_process_path_clear(calc_process_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        free(path->point[i].value);
    }
    free(path->point);
    path->point = NULL;
    path->count = path->capacity = 0;
}

static size_t find(const calc_process_path *path, const double *point)
{
    size_t bytes = path->process->dimensions * sizeof *point;
    size_t i = 0;
    while (i < path->count && memcmp(path->point[i].at, point, bytes) != 0) {
        i++;
    }
    return i;
}

/* @return a point behind the others, not counted yet; NULL if memory is short */
static calc_process_path_point *next(calc_process_path *path, const double *point)
{
    size_t known = calc_process_known(path->process), at = path->count;
    calc_process_path_point *grown =
        calc_grown(path->point, at, &path->capacity, sizeof *path->point);
    if (!grown) {
        return NULL;
    }
    path->point = grown;
    calc_process_path_point *x = &grown[at];
    double *numbers = calloc(2 * path->draws + known + at + 1, sizeof *numbers);
    if (!numbers) {
        return NULL;
    }
    *x = (calc_process_path_point){.value = numbers,
                                   .normal = numbers + path->draws,
                                   .reach = numbers + 2 * path->draws,
                                   .row = numbers + 2 * path->draws + known};
    memcpy(x->at, point, path->process->dimensions * sizeof *point);
    return x;
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* The row of a point: the parts that it shares with each point before it, and its own part, which
 * is 0 up to rounding where the others determine it. */
static void fill_row(const calc_process_path *path, calc_process_path_point *x)
{
    const calc_process *p = path->process;
    size_t n = calc_process_known(p), count = path->count;
    double whole = calc_process_prior(p, x->at, x->at) - dot(x->reach, x->reach, n);
    double own = whole;
    for (size_t i = 0; i < count; i++) {
        const calc_process_path_point *other = &path->point[i];
        double common = calc_process_prior(p, x->at, other->at) - dot(x->reach, other->reach, n) -
                        dot(x->row, other->row, i);
        x->row[i] = other->row[i] > 0 ? common / other->row[i] : 0;
        own -= x->row[i] * x->row[i];
    }
    x->row[count] = own > 1e-12 * whole ? sqrt(own) : 0;
}

const double *calc_process_path_at(calc_process_path *path, const double *point)
{
    size_t at = find(path, point);
    if (at < path->count) {
        return path->point[at].value;
    }
    calc_process_path_point *x = next(path, point);
    if (!x) {
        return NULL;
    }
    double mean = calc_process_reach(path->process, point, x->reach);
    fill_row(path, x);
    calc_normal_draw(&path->rng, x->normal, path->draws);
    path->count++;
    for (size_t draw = 0; draw < path->draws; draw++) {
        x->value[draw] = mean;
        for (size_t i = 0; i <= at; i++) {
            x->value[draw] += x->row[i] * path->point[i].normal[draw];
        }
    }
    return x->value;
}
