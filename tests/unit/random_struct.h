/* Random valid structs of any table: every member in its range, every shape of list and map, some
 * optional members absent. */
#ifndef CALC_TESTS_RANDOM_STRUCT_H
#define CALC_TESTS_RANDOM_STRUCT_H

#include "base/rng.h"
#include "calc.h"
#include "spec/absent.h"
#include "spec/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static inline void random_table(calc_rng *rng, const calc_table *table, char *object);

/* In (0, 1), often small, with few or many digits. */
static inline double random_fraction(calc_rng *rng)
{
    double digits = calc_rng_below(rng, 2) ? calc_rng_below(rng, 999) + 1 : 0;
    double value = digits > 0 ? digits / 1000 : (calc_rng_next(rng) + 0.5) * 0x1p-32;
    return value * pow(10, -(double)calc_rng_below(rng, 4));
}

static inline void random_curve(calc_rng *rng, const calc_field *field, calc_curve *curve)
{
    double size = 1e6;
    curve->count = 1 + calc_rng_below(rng, CALC_MAX_CURVE_STEPS);
    for (int64_t i = 0; i < curve->count; i++) {
        size = i + 1 == curve->count ? 0 : size * (0.5 + 0.4 * random_fraction(rng));
        curve->threshold[i] = size * calc_field_scale(field);
        curve->efficiency[i] = calc_rng_below(rng, 8) ? 1e-3 + 0.999 * random_fraction(rng) : 1;
    }
}

static inline void random_list(calc_rng *rng, const calc_field *field, char *member)
{
    int64_t count = 1 + calc_rng_below(rng, CALC_MAX_NETWORKS);
    for (int64_t i = 0; i < count; i++) {
        random_table(rng, field->table, member + (size_t)i * field->element);
    }
    memcpy(member - field->offset + field->count, &count, sizeof count);
}

static inline void random_map(calc_rng *rng, const calc_field *field, char *member)
{
    uint32_t offered = 1 + calc_rng_below(rng, (1U << CALC_DATATYPE_COUNT) - 1);
    for (size_t i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (offered >> i & 1) {
            random_table(rng, field->table, member + i * field->element);
        }
    }
}

static inline void random_member(calc_rng *rng, const calc_field *field, char *member)
{
    void *value = member;
    uint32_t choices = 0;
    double number = field->lo + random_fraction(rng) * (field->hi - field->lo);
    switch (field->type) {
    case CALC_TYPE_INT:
        *(int64_t *)value = (int64_t)number;
        break;
    case CALC_TYPE_REAL:
        *(double *)value = number * calc_field_scale(field);
        break;
    case CALC_TYPE_BOOL:
        *(bool *)value = calc_rng_below(rng, 2);
        break;
    case CALC_TYPE_ENUM:
        while (field->choices[choices]) {
            choices++;
        }
        *(int *)value = (int)calc_rng_below(rng, choices);
        break;
    case CALC_TYPE_SET:
        while (field->choices[choices]) {
            choices++;
        }
        *(int64_t *)value = calc_rng_below(rng, 1U << choices);
        break;
    case CALC_TYPE_CURVE:
        random_curve(rng, field, value);
        break;
    case CALC_TYPE_OP:
        ((calc_network_op *)value)->scalar = 1e-3 + 3 * random_fraction(rng);
        if (!(field->flags & CALC_POINT_TO_POINT)) {
            ((calc_network_op *)value)->offset = random_fraction(rng) - 1;
        }
        break;
    case CALC_TYPE_OBJECT:
        random_table(rng, field->table, member);
        break;
    case CALC_TYPE_LIST:
        random_list(rng, field, member);
        break;
    case CALC_TYPE_MAP:
        random_map(rng, field, member);
        break;
    case CALC_TYPE_SYSTEM:
        snprintf(((calc_other_system *)value)->name, sizeof((calc_other_system *)value)->name,
                 "system%u", calc_rng_below(rng, 100));
        break;
    case CALC_TYPE_ENGINE:
        snprintf(((calc_serving_engine *)value)->name, sizeof((calc_serving_engine *)value)->name,
                 "engine%u", calc_rng_below(rng, 100));
        break;
    case CALC_TYPE_NOTE:
        break;
    }
}

static inline void random_table(calc_rng *rng, const calc_table *table, char *object)
{
    calc_absent_fill(table, object);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        if (!(row->flags & CALC_OPTIONAL) || calc_rng_below(rng, 3) > 0) {
            random_member(rng, row, object + row->offset);
        }
    }
}

#endif
