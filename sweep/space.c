#include "space.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "spec/absent.h"
#include "spec/field.h"

const calc_field *calc_axis_field(calc_axis axis)
{
    const calc_field *rows = calc_table_of(CALC_KIND_EXEC)->rows;
    return axis < CALC_AXIS_EXEC_COUNT
               ? &rows[axis]
               : &rows[CALC_AXIS_inference].table->rows[axis - CALC_AXIS_EXEC_COUNT];
}

calc_axis calc_axis_of(const calc_field *field)
{
    int axis = 0;
    while (axis < CALC_AXIS_COUNT && calc_axis_field((calc_axis)axis) != field) {
        axis++;
    }
    return (calc_axis)axis;
}

size_t calc_axis_offset(calc_axis axis)
{
    return calc_axis_field(axis)->offset +
           (axis < CALC_AXIS_EXEC_COUNT ? 0 : offsetof(calc_exec, inference));
}

bool calc_axis_is_optional(calc_axis axis)
{
    const calc_field *field = calc_axis_field(axis);
    return axis < CALC_AXIS_EXEC_COUNT && field->flags & CALC_OPTIONAL &&
           field->type != CALC_TYPE_NOTE;
}

static int compare_values(const void *a, const void *b)
{
    return CALC_ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

size_t calc_space_sort(int64_t *value, size_t count)
{
    size_t kept = 0;
    if (count > 0) {
        CALC_SORT(value, count, compare_values);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || value[kept - 1] != value[i]) {
            value[kept++] = value[i];
        }
    }
    return kept;
}

calc_status calc_values_set(calc_values *values, const int64_t *list, size_t count)
{
    int64_t *own = malloc((count > 0 ? count : 1) * sizeof *own);
    if (!own) {
        return CALC_ERR_NOMEM;
    }
    if (count > 0) {
        memcpy(own, list, count * sizeof *own);
    }
    free(values->value);
    *values = (calc_values){.count = calc_space_sort(own, count), .value = own};
    return CALC_OK;
}

calc_status calc_space_set(calc_space *space, calc_axis axis, const int64_t *values, size_t count)
{
    calc_values *own = &space->axis[axis];
    calc_status status = calc_values_set(own, values, count);
    if (axis >= CALC_AXIS_EXEC_COUNT && count > 0 && status == CALC_OK) {
        const calc_field *field = calc_axis_field(axis);
        calc_axis_member_put(field, (char *)&space->inference + field->offset, own->value[0]);
    }
    return status;
}

void calc_space_set_all(calc_space *space, calc_axis axis)
{
    free(space->axis[axis].value);
    space->axis[axis] = (calc_values){.all = true};
}

calc_status calc_space_init(calc_space *space)
{
    static const struct {
        calc_axis axis;
        int64_t value;
    } fixed[] = {
        {CALC_AXIS_attention_type, CALC_ATTENTION_TYPE_MULTIHEAD},
        {CALC_AXIS_fused_activation, true},
        {CALC_AXIS_training, true},
    };
    *space = (calc_space){.batch_is_maximum = true};
    calc_exec absent;
    calc_status status = CALC_OK;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &absent);
    space->inference = absent.inference;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT && status == CALC_OK; axis++) {
        space->axis[axis].all = true;
        if (calc_axis_is_optional((calc_axis)axis)) {
            int64_t value = calc_axis_get(&absent, (calc_axis)axis);
            status = calc_space_set(space, (calc_axis)axis, &value, 1);
        }
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed && status == CALC_OK; i++) {
        status = calc_space_set(space, fixed[i].axis, &fixed[i].value, 1);
    }
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        space->axis[axis].standard = true;
    }
    if (status != CALC_OK) {
        calc_space_free(space);
    }
    return status;
}

void calc_space_free(calc_space *space)
{
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        free(space->axis[axis].value);
        space->axis[axis] = (calc_values){0};
    }
    free(space->all_procs.value);
    space->all_procs = (calc_values){0};
}

static int64_t bits_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double real_of(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

int64_t calc_axis_member(const calc_field *field, const void *member)
{
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        return *(const int64_t *)member;
    case CALC_TYPE_REAL:
        return bits_of(*(const double *)member);
    case CALC_TYPE_BOOL:
        return *(const bool *)member;
    case CALC_TYPE_ENUM:
        return *(const int *)member;
    default:
        return 0;
    }
}

void calc_axis_member_put(const calc_field *field, void *member, int64_t value)
{
    if (field->type == CALC_TYPE_REAL) {
        *(double *)member = real_of(value); /* as it is, not in file units */
    } else if (field->type == CALC_TYPE_INT || field->type == CALC_TYPE_SET) {
        *(int64_t *)member = value; /* a double would not hold all of them */
    } else {
        calc_member_set(field, member, (int)value);
    }
}

int64_t calc_axis_get(const calc_exec *exec, calc_axis axis)
{
    return calc_axis_member(calc_axis_field(axis), (const char *)exec + calc_axis_offset(axis));
}

void calc_axis_put(calc_exec *exec, calc_axis axis, int64_t value)
{
    calc_axis_member_put(calc_axis_field(axis), (char *)exec + calc_axis_offset(axis), value);
}

int64_t calc_axis_value(calc_axis axis, double number)
{
    return calc_axis_field(axis)->type == CALC_TYPE_REAL ? bits_of(number) : (int64_t)number;
}

double calc_axis_number(calc_axis axis, int64_t value)
{
    return calc_axis_field(axis)->type == CALC_TYPE_REAL ? real_of(value) : (double)value;
}

void calc_space_optional(const calc_space *space, calc_exec *exec)
{
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), exec);
    exec->inference = space->inference;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        if (calc_axis_is_optional((calc_axis)axis) && space->axis[axis].count > 0) {
            calc_axis_put(exec, (calc_axis)axis, space->axis[axis].value[0]);
        }
    }
}

int calc_axis_compare(const calc_exec *a, const calc_exec *b)
{
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        int64_t x = calc_axis_get(a, (calc_axis)axis);
        int64_t y = calc_axis_get(b, (calc_axis)axis);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

bool calc_space_has(const calc_space *space, calc_axis axis, int64_t value)
{
    enum { FEW = 8 }; /* most axes have few values, and cells ask often */
    const calc_values *v = &space->axis[axis];
    bool found = v->all;
    for (size_t i = 0; i < v->count && v->count <= FEW && !found; i++) {
        found = v->value[i] == value;
    }
    return found || (v->count > FEW &&
                     bsearch(&value, v->value, v->count, sizeof value, compare_values) != NULL);
}

const char *calc_space_by_run(const calc_space *space)
{
    static const calc_axis slow[] = {CALC_AXIS_deferred_head_wgrad, CALC_AXIS_offload_modules,
                                     CALC_AXIS_optimizer,           CALC_AXIS_trained,
                                     CALC_AXIS_frozen_datatype,     CALC_AXIS_encoder_trained};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        const calc_values *v = &space->axis[slow[i]];
        bool neutral = v->count == 0 || (v->count == 1 && v->value[0] == 0);
        if (v->all || !neutral) {
            return calc_axis_field(slow[i])->key;
        }
    }
    return NULL;
}

size_t calc_space_pick(const calc_space *space, calc_axis axis, const int64_t *legal,
                       size_t legal_count, int64_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < legal_count; i++) {
        if (calc_space_has(space, axis, legal[i])) {
            out[count++] = legal[i];
        }
    }
    if (space->axis[axis].last && count > 1) {
        out[0] = out[count - 1];
        count = 1;
    }
    return count;
}

size_t calc_space_pick_bool(const calc_space *space, calc_axis axis, bool both, int64_t out[2])
{
    static const int64_t legal[] = {false, true};
    return calc_space_pick(space, axis, legal, both ? 2 : 1, out);
}

size_t calc_space_networks(const calc_space *space, calc_axis axis, int64_t par,
                           const calc_system *system, int64_t out[CALC_MAX_NETWORKS])
{
    const calc_values *v = &space->axis[axis];
    if (par == 1) {
        out[0] = v->all || v->count == 0 ? 0 : v->value[0];
        return v->all || (v->count > 0 && v->value[0] < system->networks_count);
    }
    size_t count = 0;
    for (int64_t i = 0; i < system->networks_count; i++) {
        if (calc_space_has(space, axis, i)) {
            out[count++] = i;
        }
    }
    return count;
}
