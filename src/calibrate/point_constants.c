#include "calibrate/point_constants.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/point_time.h"
#include "spec/field.h"

/* The points of one call. */
typedef struct source {
    calc_point_fit *fit;
    const calc_point *points;
    size_t count;
    const bool *skip;
} source;

static bool counts(const source *s, size_t i)
{
    return calc_point_is_used(&s->points[i]) && !(s->skip && s->skip[i]);
}

static bool has_class(const source *s, calc_point_class class)
{
    for (size_t i = 0; i < s->count; i++) {
        if (counts(s, i) && s->points[i].class == class) {
            return true;
        }
    }
    return false;
}

/* Whether points of a class have different numbers at that size. */
static bool has_several(const source *s, calc_point_class class, size_t size)
{
    double one = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (counts(s, i) && s->points[i].class == class) {
            if (one > 0 && s->points[i].size[size] != one) {
                return true;
            }
            one = s->points[i].size[size];
        }
    }
    return false;
}

/* Whether a class of serving has operands of so many bits. */
static bool has_bits(const source *s, calc_point_class class, int bits)
{
    for (size_t i = 0; i < s->count; i++) {
        calc_datatype d = s->points[i].datatype;
        int of_point = d == CALC_DATATYPE_FLOAT4 ? 4 : d == CALC_DATATYPE_FLOAT8 ? 8 : 16;
        if (counts(s, i) && s->points[i].class == class && of_point == bits) {
            return true;
        }
    }
    return false;
}

static bool has_matrix(const source *s, calc_datatype datatype)
{
    for (size_t i = 0; i < s->count; i++) {
        if (counts(s, i) && s->points[i].class <= CALC_POINT_GROUPED &&
            s->points[i].datatype == datatype) {
            return true;
        }
    }
    return false;
}

/* Add the constant whose first path is made by `fmt`. Where the file does not give it, it starts
 * from `usual`. */
static calc_point_constant *add(calc_point_fit *fit, const char *unit, calc_constant_scale scale,
                                double usual, const char *fmt, ...) CALC_PRINTF(5, 6);
static calc_point_constant *add(calc_point_fit *fit, const char *unit, calc_constant_scale scale,
                                double usual, const char *fmt, ...)
{
    if (fit->count == CALC_POINT_CONSTANTS) {
        return NULL;
    }
    calc_point_constant *c = &fit->item[fit->count++];
    va_list list;
    va_start(list, fmt);
    vsnprintf(c->path[0], sizeof c->path[0], fmt, list);
    va_end(list);
    c->constant = (calc_constant){
        .name = c->path[0], .path = {c->path[0]}, .unit = unit, .scale = scale, .spread = 2};
    c->before = calc_constant_get(&c->constant, &fit->system);
    c->value = c->before;
    c->relative_error = (double)NAN;
    calc_field_ref ref;
    if (!(c->before > 0) && calc_field_find(CALC_KIND_SYSTEM, c->path[0], &ref) == CALC_OK) {
        void *member = (char *)&fit->system + ref.offset;
        double *number = member;
        *number = usual;
    }
    return c;
}

static void add_matrix(const source *s, calc_datatype datatype)
{
    if (!has_matrix(s, datatype) || !(s->fit->system.chip.matrix[datatype].flop_per_s > 0)) {
        return;
    }
    calc_point_constant *c = add(s->fit, "", CALC_CONSTANT_LOGIT, 0.5,
                                 "matrix.%s.gflops_efficiency", calc_datatype_names[datatype]);
    /* Both formats of 16 bits run alike: one that has no points follows the other. */
    calc_datatype other = datatype == CALC_DATATYPE_BFLOAT16  ? CALC_DATATYPE_FLOAT16
                          : datatype == CALC_DATATYPE_FLOAT16 ? CALC_DATATYPE_BFLOAT16
                                                              : datatype;
    if (c && other != datatype && !has_matrix(s, other) &&
        s->fit->system.chip.matrix[other].flop_per_s > 0) {
        snprintf(c->path[1], sizeof c->path[1], "matrix.%s.gflops_efficiency",
                 calc_datatype_names[other]);
        c->constant.path[1] = c->path[1];
    }
}

static void add_served_matrix(const source *s, calc_point_class class, const char *name,
                              double fixed_s)
{
    if (!has_class(s, class)) {
        return;
    }
    add(s->fit, "", CALC_CONSTANT_LOGIT, 0.8, "serving.%s.memory_efficiency", name);
    add(s->fit, "s", CALC_CONSTANT_LOG, fixed_s, "serving.%s.fixed", name);
    if (has_bits(s, class, 16)) {
        add(s->fit, "", CALC_CONSTANT_LOG, 0.7, "serving.%s.efficiency", name);
    }
    if (has_bits(s, class, 8)) {
        add(s->fit, "", CALC_CONSTANT_LOG, 0.6, "serving.%s.efficiency_8bit", name);
    }
    if (has_bits(s, class, 4)) {
        add(s->fit, "", CALC_CONSTANT_LOG, 0.5, "serving.%s.efficiency_4bit", name);
    }
    bool narrow = has_bits(s, class, 8) || has_bits(s, class, 4);
    if (class == CALC_POINT_SERVING_MATRIX && narrow && has_bits(s, class, 16)) {
        add(s->fit, "s", CALC_CONSTANT_LOG, 2e-6, "serving.matrix.quantize");
    }
}

static void add_served_attention(const source *s)
{
    if (has_class(s, CALC_POINT_SERVING_DECODE)) {
        add(s->fit, "", CALC_CONSTANT_LOGIT, 0.8, "serving.decode.memory_efficiency");
        add(s->fit, "s", CALC_CONSTANT_LOG, 8e-6, "serving.decode.fixed");
        if (has_several(s, CALC_POINT_SERVING_DECODE, 1)) {
            add(s->fit, "s", CALC_CONSTANT_LOG, 3e-6, "serving.decode.growth");
        }
    }
    if (has_class(s, CALC_POINT_SERVING_PREFILL)) {
        add(s->fit, "", CALC_CONSTANT_LOG, 0.5, "serving.prefill.memory_efficiency");
        add(s->fit, "s", CALC_CONSTANT_LOG, 1e-5, "serving.prefill.fixed");
        add(s->fit, "", CALC_CONSTANT_LOG, 0.6, "serving.prefill.efficiency");
        if (has_several(s, CALC_POINT_SERVING_PREFILL, 4)) {
            add(s->fit, "", CALC_CONSTANT_LOG, 100, "serving.prefill.softmax_size");
        }
    }
}

static void add_served_all_reduce(const source *s)
{
    if (has_class(s, CALC_POINT_SERVING_ALL_REDUCE)) {
        add(s->fit, "", CALC_CONSTANT_LOGIT, 0.6, "serving.all_reduce.one_shot_efficiency");
        add(s->fit, "s", CALC_CONSTANT_LOG, 3e-6, "serving.all_reduce.fixed");
        if (has_several(s, CALC_POINT_SERVING_ALL_REDUCE, 1)) {
            add(s->fit, "s", CALC_CONSTANT_LOG, 5e-7, "serving.all_reduce.doubling");
        }
        add(s->fit, "", CALC_CONSTANT_LOGIT, 0.5, "serving.all_reduce.two_shot_efficiency");
        add(s->fit, "s", CALC_CONSTANT_LOG, 4e-6, "serving.all_reduce.two_shot");
    }
}

void calc_point_constants_of_kernels(calc_point_fit *fit, const calc_point *points, size_t count,
                                     const bool *skip)
{
    const source s = {fit, points, count, skip};
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        add_matrix(&s, (calc_datatype)i);
    }
    bool grouped = has_class(&s, CALC_POINT_GROUPED);
    bool matrix = has_class(&s, CALC_POINT_MATRIX);
    bool traffic = has_class(&s, CALC_POINT_MEMORY) || has_class(&s, CALC_POINT_NORM);
    bool forward = has_class(&s, CALC_POINT_ATTENTION_FW);
    bool backward = has_class(&s, CALC_POINT_ATTENTION_BW);
    if (grouped && matrix) {
        add(fit, "", CALC_CONSTANT_LOG, 1, "grouped.efficiency");
    }
    if (grouped || matrix) {
        add(fit, "s", CALC_CONSTANT_LOG, 5e-6, "launch.matrix");
    }
    /* Matrix multiplications alone would pass traffic that they hide for bandwidth. */
    if (traffic) {
        add(fit, "", CALC_CONSTANT_LOGIT, 0.8, "mem1.MB_efficiency");
        add(fit, "s", CALC_CONSTANT_LOG, 5e-6, "launch.vector");
    }
    if (forward) {
        add(fit, "", CALC_CONSTANT_LOGIT, 0.6, "attention.fw_efficiency");
    }
    if (backward) {
        add(fit, "", CALC_CONSTANT_LOGIT, 0.5, "attention.bw_efficiency");
    }
    if (forward || backward) {
        add(fit, "s", CALC_CONSTANT_LOG, 3e-5, "attention.launch");
        add(fit, "", CALC_CONSTANT_LOG, 30, "attention.softmax_size");
    }
    add_served_matrix(&s, CALC_POINT_SERVING_MATRIX, "matrix", 3e-6);
    add_served_matrix(&s, CALC_POINT_SERVING_GROUPED, "grouped", 1.2e-5);
    add_served_attention(&s);
    add_served_all_reduce(&s);
}

void calc_point_constants_of_network(calc_point_fit *fit, const calc_point *points, size_t count,
                                     const bool *skip, int64_t network, calc_point_class class)
{
    const source s = {fit, points, count, skip};
    double ranks = 0;
    bool several = false;
    for (size_t i = 0; i < count; i++) {
        const calc_point *p = &points[i];
        if (counts(&s, i) && p->class == class && calc_point_network(p, &fit->system) == network) {
            several = several || (ranks > 0 && p->size[1] != ranks);
            ranks = p->size[1];
        }
    }
    if (!(ranks > 0)) {
        return;
    }
    const calc_network *n = &fit->system.networks[network];
    const char *name = calc_point_class_name(class);
    double latency_s = n->latency_s > 0 ? n->latency_s : 5e-6;
    add(fit, "", CALC_CONSTANT_LOGIT, n->efficiency, "networks[%d].op_parameters.%s.efficiency",
        (int)network, name);
    add(fit, "s", CALC_CONSTANT_LOG, latency_s, "networks[%d].op_parameters.%s.latency_fixed",
        (int)network, name);
    if (several) {
        add(fit, "s", CALC_CONSTANT_LOG, 1e-6, "networks[%d].op_parameters.%s.latency_step",
            (int)network, name);
    }
}
