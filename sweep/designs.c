#include "designs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"

/* ---- The lists ------------------------------------------------------------------------------ */

/* A list with room for one element more, all of it zero; NULL if memory is short. */
static void *grown(void *list, size_t count, size_t size)
{
    char *larger = realloc(list, (count + 1) * size);
    if (larger) {
        memset(larger + count * size, 0, size);
    }
    return larger;
}

calc_status calc_designs_add_app(calc_designs_builder *builder, const char *name,
                                 const calc_app *app)
{
    calc_design_app *list = grown(builder->app, builder->apps, sizeof *list);
    if (!list) {
        return CALC_ERR_NOMEM;
    }
    builder->app = list;
    calc_design_app *added = &list[builder->apps++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->app = *app;
    return CALC_OK;
}

calc_status calc_designs_add_system(calc_designs_builder *builder, const char *name,
                                    const calc_system *system)
{
    calc_design_system *list = grown(builder->system, builder->systems, sizeof *list);
    if (!list) {
        return CALC_ERR_NOMEM;
    }
    builder->system = list;
    calc_design_system *added = &list[builder->systems++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->system = *system;
    return CALC_OK;
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
    calc_design_axis *list = grown(builder->axis, builder->axes, sizeof *list);
    if (!list) {
        return NULL;
    }
    builder->axis = list;
    return &list[builder->axes++];
}

calc_status calc_designs_add_axis(calc_designs_builder *builder, const calc_field_ref *ref,
                                  const char *path, const double *values, size_t count)
{
    double *own = malloc(count * sizeof *own);
    calc_design_axis *axis = own ? axis_of(builder, ref) : NULL;
    if (!axis) {
        free(own);
        return CALC_ERR_NOMEM;
    }
    memcpy(own, values, count * sizeof *own);
    free(axis->value);
    *axis = (calc_design_axis){.ref = *ref, .count = count, .value = own};
    snprintf(axis->path, sizeof axis->path, "%s.%s", calc_kind_name(ref->kind), path);
    return CALC_OK;
}

void calc_designs_builder_free(calc_designs_builder *builder)
{
    for (size_t i = 0; i < builder->axes; i++) {
        free(builder->axis[i].value);
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
    *out = (calc_designs){.count = count, .get = get, .context = builder};
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
