#include "calibrate/point_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "calibrate/point_time.h"

calc_kernel_key calc_point_key(const calc_point *p, const calc_system *system)
{
    if (p->class == CALC_POINT_BLOCK) {
        return calc_point_block_key(p, system);
    }
    int sizes = 0;
    while (calc_point_size_names(p->class)[sizes]) {
        sizes++;
    }
    bool wgrad = p->pass == CALC_PASS_WGRAD;
    calc_kernel_key key = {.pass = (int)p->pass, .datatype = (int)p->datatype};
    calc_kernel_key_sizes(&key, p->size, sizes);
    if (calc_point_is_serving(p)) {
        key.kind = CALC_KERNEL_SERVING; /* in no step of training */
        key.variant = (int)p->class;
        return key;
    }
    switch (p->class) {
    case CALC_POINT_MATRIX:
    case CALC_POINT_GROUPED:
        key.kind = p->class == CALC_POINT_MATRIX ? CALC_KERNEL_MATRIX : CALC_KERNEL_GROUPED;
        key.variant = wgrad ? (int)p->result_bytes : 0;
        break;
    case CALC_POINT_ATTENTION_FW:
    case CALC_POINT_ATTENTION_BW:
        key.kind = CALC_KERNEL_ATTENTION;
        key.pass = p->class == CALC_POINT_ATTENTION_FW ? CALC_PASS_FW : CALC_PASS_AGRAD;
        key.variant = p->causal;
        break;
    case CALC_POINT_MEMORY:
    case CALC_POINT_NORM: {
        double bytes = calc_point_bytes(p);
        key = (calc_kernel_key){.kind = CALC_KERNEL_MEMORY};
        calc_kernel_key_sizes(&key, &bytes, 1);
        break;
    }
    default: {
        double ranks = p->class == CALC_POINT_P2P ? 2 : p->size[1];
        key = (calc_kernel_key){.kind = CALC_KERNEL_COLLECTIVE,
                                .variant = (int)calc_point_op(p->class)};
        calc_kernel_key_sizes(&key, (double[]){p->size[0], ranks, p->size[2]}, 3);
    }
    }
    return key;
}

calc_status calc_point_table_make(calc_point_table *out, const calc_point *points, size_t count,
                                  const bool *skip, const calc_system *system, calc_errors *errors)
{
    *out = (calc_point_table){.owned = calloc(count + 1, sizeof *out->owned)};
    if (!out->owned) {
        return calc_errors_no_memory(errors);
    }
    out->table.point = out->owned;
    for (size_t i = 0; i < count; i++) {
        const calc_point *p = &points[i];
        if (calc_point_is_used(p) && !(skip && skip[i])) {
            out->owned[out->table.count++] =
                (calc_kernel_point){calc_point_key(p, system), p->measured_s,
                                    log(p->measured_s / calc_point_time_s(p, system))};
        }
    }
    return CALC_OK;
}

void calc_point_table_free(calc_point_table *table)
{
    free(table->owned);
    *table = (calc_point_table){0};
}

/* ---- Several machines ------------------------------------------------------------------------ */

const calc_kernel_table *calc_point_tables_of(void *of, const char *machine,
                                              const calc_system *system)
{
    calc_point_tables *t = of;
    const calc_points *all = &t->points;
    calc_points own = {calloc(all->count + 1, sizeof *own.item), all->count, {0}, all->name};
    const calc_kernel_table *made = NULL;
    t->errors = (calc_errors){0};
    if (!own.item || t->count == CALC_SYSTEMS_MAX) {
        calc_errors_no_memory(&t->errors);
        free(own.item);
        return NULL;
    }
    for (size_t i = 0; i < own.count; i++) {
        own.item[i] = all->item[i];
        own.item[i].system = *own.item[i].system ? own.item[i].system : machine;
    }
    if (calc_points_select(&own, machine, system, &t->errors) == CALC_OK) {
        calc_point_table *table = &t->table[t->count++];
        calc_status status =
            calc_point_table_make(table, own.item, own.count, NULL, system, &t->errors);
        made = status == CALC_OK ? &table->table : NULL;
    }
    free(own.item);
    return made;
}

void calc_point_tables_free(calc_point_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        calc_point_table_free(&tables->table[i]);
    }
    calc_points_free(&tables->points);
}
