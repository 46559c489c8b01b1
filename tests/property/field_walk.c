#include "field_walk.h"

#include <math.h>
#include <stdio.h>

#include "spec/field.h"

/* ---- Members --------------------------------------------------------------------------------- */

void calc_field_write(const calc_field *field, void *member, double number)
{
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        *(int64_t *)member = (int64_t)number;
        break;
    case CALC_TYPE_REAL:
        *(double *)member = number;
        break;
    case CALC_TYPE_BOOL:
        *(bool *)member = number != 0;
        break;
    case CALC_TYPE_ENUM:
        *(int *)member = (int)number;
        break;
    case CALC_TYPE_CURVE: /* the same at every size */
        *(calc_curve *)member = (calc_curve){.count = 1, .efficiency = {number}};
        break;
    case CALC_TYPE_OP:
        *(calc_network_op *)member = (calc_network_op){number, field->absent};
        break;
    default:
        break;
    }
}

void calc_field_clear(const calc_field *field, void *member)
{
    if (field->type == CALC_TYPE_SYSTEM) {
        *(calc_other_system *)member = (calc_other_system){{0}, NULL};
    } else if (field->type == CALC_TYPE_ENGINE) {
        *(calc_serving_engine *)member = (calc_serving_engine){0};
    } else if (field->type == CALC_TYPE_CURVE) {
        *(calc_curve *)member = (calc_curve){0};
    } else {
        calc_field_write(field, member, field->type == CALC_TYPE_OP ? 1 : field->absent);
    }
}

int calc_field_others(const calc_field_at *at, double values[CALC_FIELD_VALUES])
{
    const calc_field *f = at->field;
    double tried[9], scale = calc_field_scale(f), now;
    int count = 0, tries = 0;
    switch (f->type) {
    case CALC_TYPE_ENUM:
    case CALC_TYPE_SET:
        for (; f->choices[count]; count++) {
            values[count] = f->type == CALC_TYPE_SET ? (double)(1ULL << count) : count;
        }
        return count;
    case CALC_TYPE_BOOL:
        values[0] = !*(const bool *)at->member;
        return 1;
    case CALC_TYPE_INT:
        now = (double)*(const int64_t *)at->member;
        for (double few = 0; few < 4; few++) {
            tried[tries++] = few;
        }
        tried[tries++] = now - 1;
        tried[tries++] = now + 1;
        tried[tries++] = 2 * now;
        tried[tries++] = trunc(now / 2);
        tried[tries++] = 4 * now;
        break;
    case CALC_TYPE_REAL:
        now = *(const double *)at->member;
        tried[tries++] = now * 0.75;
        tried[tries++] = now * 1.25;
        tried[tries++] = f->lo * scale;
        tried[tries++] = 0;
        break;
    case CALC_TYPE_CURVE:
    case CALC_TYPE_OP:
        values[0] = 0.5;
        return 1;
    default:
        return 0;
    }
    for (int i = 0; i < tries; i++) {
        double number = tried[i] / scale;
        if (tried[i] != now && ((number >= f->lo && number <= f->hi) || f->lo == f->hi)) {
            values[count++] = tried[i];
        }
    }
    return count;
}

/* ---- The walk -------------------------------------------------------------------------------- */

typedef struct walk {
    calc_field_visit *visit;
    void *context;
    int64_t network;
} walk;

static void walk_table(const walk *w, const calc_table *table, char *object, const char *path,
                       const char *place);

static void walk_field(const walk *w, const calc_field *field, char *object, const char *path,
                       const char *place)
{
    calc_field_at at = {.field = field, .member = object + field->offset, .network = w->network};
    snprintf(at.path, sizeof at.path, "%s.%s", path, field->key);
    snprintf(at.place, sizeof at.place, "%s.%s", place, field->key);
    int64_t elements = field->type == CALC_TYPE_OBJECT ? 1
                       : field->type == CALC_TYPE_MAP  ? CALC_DATATYPE_COUNT
                       : field->type == CALC_TYPE_LIST
                           ? *(const int64_t *)(const void *)(object + field->count)
                           : 0;
    for (int64_t i = 0; i < elements; i++) {
        walk inner = {w->visit, w->context, field->type == CALC_TYPE_LIST ? i : w->network};
        char element[112] = "";
        snprintf(element, sizeof element, field->type == CALC_TYPE_OBJECT ? "%s" : "%s[%lld]",
                 at.place, (long long)i);
        walk_table(&inner, field->table, (char *)at.member + (size_t)i * field->element, at.path,
                   element);
    }
    if (elements == 0 && field->type != CALC_TYPE_NOTE) {
        w->visit(&at, w->context);
    }
}

static void walk_table(const walk *w, const calc_table *table, char *object, const char *path,
                       const char *place)
{
    for (size_t i = 0; i < table->count; i++) {
        walk_field(w, &table->rows[i], object, path, place);
    }
}

void calc_field_walk(calc_random_layout *l, calc_field_visit *visit, void *context)
{
    walk w = {visit, context, 0};
    walk_table(&w, calc_table_of(CALC_KIND_APP), (char *)&l->app, "app", "app");
    walk_table(&w, calc_table_of(CALC_KIND_SYSTEM), (char *)&l->system, "sys", "sys");
    walk_table(&w, calc_table_of(CALC_KIND_EXEC), (char *)&l->exec, "exe", "exe");
}
