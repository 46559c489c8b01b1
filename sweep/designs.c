#include "designs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "estimate.h"
#include "spec/field.h"

/* ---- The lists ------------------------------------------------------------------------------ */

calc_status calc_designs_add_app(calc_designs_builder *builder, const char *name,
                                 const calc_app *app)
{
    calc_design_app added = {.app = *app};
    snprintf(added.name, sizeof added.name, "%s", name);
    return CALC_PUSH(builder->app, builder->apps, builder->apps_capacity, &added) ? CALC_OK
                                                                                  : CALC_ERR_NOMEM;
}

calc_status calc_designs_add_system(calc_designs_builder *builder, const char *name,
                                    const calc_system *system)
{
    calc_design_system added = {.system = *system};
    snprintf(added.name, sizeof added.name, "%s", name);
    return CALC_PUSH(builder->system, builder->systems, builder->systems_capacity, &added)
               ? CALC_OK
               : CALC_ERR_NOMEM;
}

/* The axis of a field; a new one if it has none; NULL if memory is short. */
static calc_design_axis *axis_of(calc_designs_builder *builder, const calc_field_ref *ref)
{
    for (size_t i = 0; i < builder->axes; i++) {
        const calc_field_ref *other = &builder->axis[i].ref;
        if (other->kind == ref->kind && other->offset == ref->offset) {
            return &builder->axis[i];
        }
    }
    const calc_design_axis added = {.ref = *ref};
    bool fine = CALC_PUSH(builder->axis, builder->axes, builder->axes_capacity, &added);
    return fine ? &builder->axis[builder->axes - 1] : NULL;
}

static CALC_FREES(free_axis, calc_design_axis, of->value, of->class, of->start)

/* The classes of the values of an axis. Counting sees every field of an application. */
static void classify(calc_design_axis *axis)
{
    calc_system before = {0};
    for (size_t i = 0; i < axis->count; i++) {
        bool system = axis->ref.kind == CALC_KIND_SYSTEM;
        calc_system own = {0};
        if (system) {
            calc_member_set(axis->ref.field, (char *)&own + axis->ref.offset, axis->value[i]);
        }
        if (i == 0 || !system || !calc_census_alike(&own, &before)) {
            axis->start[axis->classes++] = i;
        }
        axis->class[i] = axis->classes - 1;
        before = own;
    }
    axis->start[axis->classes] = axis->count;
}

calc_status calc_designs_add_axis(calc_designs_builder *builder, const calc_field_ref *ref,
                                  const char *path, const double *values, size_t count)
{
    calc_design_axis own = {.ref = *ref, .count = count};
    own.value = malloc(count * sizeof *own.value);
    own.class = malloc(count * sizeof *own.class);
    own.start = malloc((count + 1) * sizeof *own.start);
    bool fine = own.value && own.class && own.start;
    calc_design_axis *axis = fine ? axis_of(builder, ref) : NULL;
    if (!axis) {
        free_axis(&own);
        return CALC_ERR_NOMEM;
    }
    memcpy(own.value, values, count * sizeof *own.value);
    snprintf(own.path, sizeof own.path, "%s.%s", calc_kind_name(ref->kind), path);
    classify(&own);
    free_axis(axis);
    *axis = own;
    return CALC_OK;
}

void calc_designs_builder_free(calc_designs_builder *builder)
{
    for (size_t i = 0; i < builder->axes; i++) {
        free_axis(&builder->axis[i]);
    }
    free(builder->axis);
    free(builder->app);
    free(builder->system);
    *builder = (calc_designs_builder){0};
}

/* ---- Designs by index ----------------------------------------------------------------------- */

/* The digits of an index: the last axis varies fastest, the application slowest. */
static size_t digit(uint64_t *index, size_t count)
{
    size_t position = (size_t)(*index % count);
    *index /= count;
    return position;
}

double calc_designs_value(const calc_designs_builder *builder, uint64_t index, size_t axis)
{
    for (size_t i = builder->axes - 1; i > axis; i--) {
        digit(&index, builder->axis[i].count);
    }
    return builder->axis[axis].value[digit(&index, builder->axis[axis].count)];
}

calc_design_parts calc_designs_parts(const calc_designs_builder *builder, uint64_t index)
{
    for (size_t i = builder->axes; i-- > 0;) {
        digit(&index, builder->axis[i].count);
    }
    const calc_design_system *system = &builder->system[digit(&index, builder->systems)];
    return (calc_design_parts){&builder->app[digit(&index, builder->apps)], system};
}

static void get(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const calc_designs_builder *builder = context;
    calc_design_parts parts = calc_designs_parts(builder, index);
    *app = parts.app->app;
    *system = parts.system->system;
    for (size_t i = 0; i < builder->axes; i++) {
        const calc_field_ref *ref = &builder->axis[i].ref;
        char *object = ref->kind == CALC_KIND_APP ? (char *)app : (char *)system;
        calc_member_set(ref->field, object + ref->offset, calc_designs_value(builder, index, i));
    }
}

/* ---- Kinds of designs ------------------------------------------------------------------------ */

/* Numbers of kinds and members have a digit for each axis, too: its class, and the place in that
 * class. Applications and systems are of their own class each. */
static uint64_t kind_of(const void *context, uint64_t index)
{
    const calc_designs_builder *b = context;
    uint64_t kind = 0;
    uint64_t scale = 1;
    for (size_t i = b->axes; i-- > 0;) {
        kind += scale * b->axis[i].class[digit(&index, b->axis[i].count)];
        scale *= b->axis[i].classes;
    }
    return kind + scale * index;
}

static uint64_t members(const void *context, uint64_t kind)
{
    const calc_designs_builder *b = context;
    uint64_t count = 1;
    for (size_t i = b->axes; i-- > 0;) {
        const calc_design_axis *axis = &b->axis[i];
        size_t class = digit(&kind, axis->classes);
        count *= axis->start[class + 1] - axis->start[class];
    }
    return count;
}

static uint64_t member(const void *context, uint64_t kind, uint64_t number)
{
    const calc_designs_builder *b = context;
    uint64_t index = 0;
    uint64_t scale = 1;
    for (size_t i = b->axes; i-- > 0;) {
        const calc_design_axis *axis = &b->axis[i];
        size_t class = digit(&kind, axis->classes);
        size_t place = digit(&number, axis->start[class + 1] - axis->start[class]);
        index += scale * (axis->start[class] + place);
        scale *= axis->count;
    }
    return index + scale * kind;
}

calc_status calc_designs_make(const calc_designs_builder *builder, calc_designs *out,
                              calc_errors *errors)
{
    uint64_t count = builder->apps;
    bool fits = !__builtin_mul_overflow(count, builder->systems, &count);
    for (size_t i = 0; i < builder->axes && fits; i++) {
        fits = !__builtin_mul_overflow(count, builder->axis[i].count, &count);
    }
    if (!fits || count > INT64_MAX) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                               "sweep fewer fields of the application and the system",
                               "there are 2^63 or more designs");
    }
    uint64_t kinds = builder->apps * builder->systems; /* no more than designs */
    for (size_t i = 0; i < builder->axes; i++) {
        kinds *= builder->axis[i].classes;
    }
    *out = (calc_designs){.count = count,
                          .get = get,
                          .context = builder,
                          .kinds = kinds,
                          .kind = kind_of,
                          .members = members,
                          .member = member};
    return CALC_OK;
}

/* ---- Names for people ----------------------------------------------------------------------- */

char *calc_designs_value_text(const calc_designs_builder *builder, uint64_t index, size_t axis,
                              char text[32])
{
    const calc_field *field = builder->axis[axis].ref.field;
    double value = calc_designs_value(builder, index, axis);
    if (field->type == CALC_TYPE_BOOL) {
        return strcpy(text, value != 0 ? "true" : "false");
    }
    if (field->type == CALC_TYPE_ENUM) {
        snprintf(text, 32, "%s", field->choices[(int)value]);
        return text;
    }
    return calc_number_text(value, 1, text);
}

char *calc_designs_describe(const calc_designs_builder *builder, uint64_t index, char *buffer,
                            size_t size)
{
    calc_design_parts parts = calc_designs_parts(builder, index);
    snprintf(buffer, size, "%s %s", parts.app->name, parts.system->name);
    for (size_t i = 0; i < builder->axes; i++) {
        char text[32];
        calc_append(buffer, size, " %s=%s", builder->axis[i].path,
                    calc_designs_value_text(builder, index, i, text));
    }
    return buffer;
}
