#include "calibrate/unknowns.h"

#include <math.h>
#include <string.h>

static bool is_listed(const char *const *fields, const char *name)
{
    bool listed = !fields;
    for (; !listed && *fields; fields++) {
        listed = strcmp(*fields, name) == 0;
    }
    return listed;
}

/* The unknown of a constant that has this value and started from that one; NULL if there is none
 * yet. */
static calc_unknown *find(calc_unknowns *p, const calc_constant *constant, double value,
                          double start)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->item[i].constant == constant && p->item[i].value == value &&
            p->item[i].start == start) {
            return &p->item[i];
        }
    }
    return NULL;
}

static void add(calc_unknowns *p, const calc_family *family, const calc_constant *constant,
                bool documented)
{
    /* A factor between machines needs one that it is measured by. */
    for (size_t m = constant->own ? 1 : 0; m < family->machines; m++) {
        double value = calc_constant_get(constant, &family->system[m]);
        double start =
            documented ? calc_constant_start(constant, family->name, family->machine[m]) : value;
        calc_unknown *same = constant->own ? NULL : find(p, constant, value, start);
        if (!(value > 0) || p->count == CALC_UNKNOWNS_MAX) {
            continue;
        }
        if (!same) {
            same = &p->item[p->count++];
            *same = (calc_unknown){
                .constant = constant, .start = start, .value = value, .error = (double)NAN};
        }
        same->machines |= 1U << m;
    }
}

void calc_unknowns_make(calc_unknowns *out, const calc_family *family, const char *const *fields,
                        bool documented)
{
    *out = (calc_unknowns){0};
    const calc_constant *constant;
    for (size_t i = 0; (constant = calc_constant_at(i)); i++) {
        if (is_listed(fields, constant->name)) {
            add(out, family, constant, documented);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (out->item[i].machines & family->measured) {
            out->item[kept] = out->item[i];
            /* The values distinguished the machines; from here on they are the prior. */
            out->item[kept].value = out->item[kept].start;
            kept++;
        }
    }
    out->count = kept;
}

void calc_unknowns_apply(const calc_unknowns *unknowns, calc_system *system, size_t machines)
{
    for (size_t i = 0; i < unknowns->count; i++) {
        const calc_unknown *p = &unknowns->item[i];
        for (size_t m = 0; m < machines; m++) {
            if (p->machines >> m & 1) {
                calc_constant_set(p->constant, &system[m], p->value);
            }
        }
    }
}

double calc_unknown_relative_error(const calc_unknown *p)
{
    return p->constant->scale == CALC_CONSTANT_LOG ? p->error : p->error * (1 - p->value);
}
