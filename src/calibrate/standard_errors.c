#include "calibrate/standard_errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/json_report.h"
#include "spec/field.h"

enum { EDITS_MAX = 512, POINTER_SIZE = 128 };

/* Bytes [start, end) of the old text become `value`. */
typedef struct edit {
    size_t start, end;
    char value[32];
} edit;

typedef struct edits {
    const calc_text *old;
    edit item[EDITS_MAX];
    size_t count;
} edits;

static void replace(edits *e, const char *pointer, const char *value)
{
    edit *at = &e->item[e->count];
    if (e->count < EDITS_MAX &&
        calc_json_span(e->old->data, e->old->length, pointer, &at->start, &at->end)) {
        snprintf(at->value, sizeof at->value, "%s", value);
        e->count++;
    }
}

static void replace_curve(edits *e, const char *pointer, const calc_curve *curve)
{
    for (int64_t i = 0; i < curve->count; i++) {
        char step[POINTER_SIZE + 32];
        char value[32];
        snprintf(step, sizeof step, "%s/%lld/1", pointer, (long long)i);
        snprintf(value, sizeof value, "%.4g", curve->efficiency[i]);
        replace(e, step, value);
    }
}

static void replace_unknown(edits *e, const calc_unknown *p, const calc_system *system)
{
    for (int i = 0; i < CALC_CONSTANT_PATHS && p->constant->path[i]; i++) {
        calc_field_ref ref;
        char pointer[POINTER_SIZE];
        char value[32];
        if (calc_field_find(CALC_KIND_SYSTEM, p->constant->path[i], &ref) != CALC_OK) {
            continue;
        }
        const void *member = (const char *)system + ref.offset;
        calc_path_pointer(p->constant->path[i], pointer, sizeof pointer);
        if (ref.field->type == CALC_TYPE_CURVE) {
            replace_curve(e, pointer, member);
        } else {
            replace(e, pointer, calc_number_text(*(const double *)member, 1, value));
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const edit *x = a;
    const edit *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static const char marker[] = CALC_SYSTEM_TEXT_MARKER;

/* How far the runs vouch for a constant. */
typedef enum standing { DETERMINED, INDICATED, ASSUMED } standing;

static standing standing_of(const calc_unknown *p)
{
    return isnan(p->error) ? ASSUMED : p->determined ? DETERMINED : INDICATED;
}

static void write_constants(calc_output *out, const calc_calibration *c, size_t machine,
                            standing which, const char *title)
{
    const char *before = title;
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        if (!(p->machines >> machine & 1) || standing_of(p) != which) {
            continue;
        }
        calc_output_printf(out, "%s%s", before, p->constant->name);
        if (which != ASSUMED) {
            calc_output_printf(out, " (%.2g %%)", 100 * calc_unknown_relative_error(p));
        }
        before = ", ";
    }
    calc_output_text(out, before == title ? "" : ".");
}

static void write_calibrated(calc_output *out, const calc_calibration *c, size_t machine,
                             const char *date)
{
    calc_output_printf(out, "%s%s to %zu measured runs (", marker, date, c->runs);
    for (size_t i = 0; i < c->sources; i++) {
        calc_output_printf(out, "%s%s %zu", i ? ", " : "", c->source[i].name, c->source[i].count);
    }
    calc_output_text(out, ") on ");
    const char *comma = "";
    for (size_t m = 0; m < c->family.machines; m++) {
        if (c->family.measured >> m & 1) {
            calc_output_printf(out, "%s%s", comma, c->family.machine[m]);
            comma = ", ";
        }
    }
    calc_output_text(out, ".");
    write_constants(out, c, machine, DETERMINED, " Determined by them (standard error): ");
    write_constants(out, c, machine, INDICATED, " Adjusted, though they do not determine it: ");
    write_constants(out, c, machine, ASSUMED, " Assumed: ");
}

const char *calc_system_text_source(const calc_text *old, const char *until, size_t *length)
{
    size_t start;
    size_t end;
    size_t mark = strlen(until);
    *length = 0;
    if (!calc_json_span(old->data, old->length, "/source", &start, &end) || end < start + 2) {
        return NULL;
    }
    const char *text = old->data + start + 1;
    *length = end - start - 2;
    for (size_t i = 0; i + mark <= *length; i++) {
        if (memcmp(text + i, until, mark) == 0) {
            *length = i;
        }
    }
    while (*length > 0 && text[*length - 1] == ' ') {
        (*length)--;
    }
    return text;
}

static void write_source(calc_output *out, const calc_text *old, const calc_calibration *c,
                         size_t machine, const char *date)
{
    size_t length;
    const char *before = calc_system_text_source(old, marker, &length);
    calc_output_text(out, "\"");
    if (length > 0) {
        calc_output_write(out, before, length);
        calc_output_text(out, " ");
    }
    write_calibrated(out, c, machine, date);
    calc_output_text(out, "\"");
}

/* The old text up to byte `end`, with its edits. */
static void write_edited(calc_output *out, const edits *e, size_t end, const calc_calibration *c,
                         size_t machine, const char *date)
{
    size_t at = 0;
    for (size_t i = 0; i < e->count; i++) {
        calc_output_write(out, e->old->data + at, e->item[i].start - at);
        if (e->item[i].value[0]) {
            calc_output_text(out, e->item[i].value);
        } else {
            write_source(out, e->old, c, machine, date);
        }
        at = e->item[i].end;
    }
    calc_output_write(out, e->old->data + at, end - at);
}

/* A member for the source before the brace that ends the text. */
static void write_with_new_source(calc_output *out, const edits *e, const calc_calibration *c,
                                  size_t machine, const char *date)
{
    size_t end = e->old->length;
    while (end > 0 && e->old->data[end - 1] != '}') {
        end--;
    }
    end -= end > 0;
    while (end > 0 && strchr(" \n\r\t", e->old->data[end - 1])) {
        end--;
    }
    write_edited(out, e, end, c, machine, date);
    calc_output_text(out, ",\n  \"source\": ");
    write_source(out, e->old, c, machine, date);
    calc_output_text(out, "\n}\n");
}

calc_status calc_system_text_write(calc_output *out, const calc_text *old,
                                   const calc_calibration *calibration, size_t machine,
                                   const char *date, calc_errors *errors)
{
    edits *e = calloc(1, sizeof *e);
    if (!e) {
        return calc_errors_no_memory(errors);
    }
    e->old = old;
    for (size_t i = 0; i < calibration->unknowns.count; i++) {
        const calc_unknown *p = &calibration->unknowns.item[i];
        if (p->machines >> machine & 1) {
            replace_unknown(e, p, &calibration->family.system[machine]);
        }
    }
    size_t start;
    size_t end;
    bool has_source = calc_json_span(old->data, old->length, "/source", &start, &end);
    if (has_source) {
        replace(e, "/source", "");
    }
    qsort(e->item, e->count, sizeof *e->item, by_place);
    if (has_source) {
        write_edited(out, e, old->length, calibration, machine, date);
    } else {
        write_with_new_source(out, e, calibration, machine, date);
    }
    free(e);
    return CALC_OK;
}

/* One name "(x %)" at `from`, at most `length` bytes. */
static void read_one(calc_standard_errors *out, const char *from, size_t length,
                     const char *percent)
{
    char name[64];
    char *end;
    double value = strtod(percent, &end);
    if (length >= sizeof name || strncmp(end, " %)", 3) != 0 || !(value >= 0) || value > 1e6) {
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, from);
    const calc_constant *constant = calc_constant_find(name);
    if (constant && out->count < CALC_STANDARD_ERRORS_MAX) {
        out->item[out->count++] = (calc_standard_error){constant, value / 100};
    }
}

void calc_standard_errors_read(calc_standard_errors *out, const calc_text *text)
{
    static const char on[] = ") on ";
    size_t start, end;
    *out = (calc_standard_errors){.count = 0};
    if (!text->data || !calc_json_span(text->data, text->length, "/source", &start, &end)) {
        return;
    }
    const char *last = text->data + end;
    const char *at = strstr(text->data + start, CALC_SYSTEM_TEXT_MARKER);
    at = at && at < last ? strstr(at, on) : NULL;
    if (!at || at >= last) {
        return;
    }
    at += sizeof on - 1;
    snprintf(out->machine, sizeof out->machine, "%.*s", (int)strcspn(at, ",.\""), at);
    for (const char *open = strstr(at, " ("); open && open < last; open = strstr(open + 1, " (")) {
        const char *name = open;
        while (name > at && name[-1] != ' ') {
            name--;
        }
        read_one(out, name, (size_t)(open - name), open + 2);
    }
}

void calc_standard_errors_assume(calc_standard_errors *out, const calc_system *system)
{
    const calc_constant *c;
    *out = (calc_standard_errors){.count = 0};
    for (size_t i = 0; (c = calc_constant_at(i)) && out->count < CALC_STANDARD_ERRORS_MAX; i++) {
        double value = calc_constant_get(c, system);
        double relative = c->scale == CALC_CONSTANT_LOG ? c->spread : c->spread * (1 - value);
        if (value > 0 && relative > 0) {
            out->item[out->count++] = (calc_standard_error){c, relative};
        }
    }
}

/* Log of the time of a step with a constant that is `shift` standard errors off. */
static double log_time(const calc_standard_error *e, double shift, const calc_app *app,
                       const calc_system *system, const calc_exec *exec)
{
    const calc_constant *c = e->constant;
    double value = calc_constant_get(c, system);
    double error = c->scale == CALC_CONSTANT_LOG ? e->relative : e->relative / (1 - value);
    double number = calc_constant_to_free(c, value) + shift * error;
    calc_stats stats;
    calc_system other = *system;
    calc_constant_set(c, &other, calc_constant_from_free(c, number));
    calc_run(app, &other, exec, CALC_COMPAT_NONE, &stats);
    return log(stats.total_time);
}

double calc_standard_errors_of_time(const calc_standard_errors *errors, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec)
{
    double sum = 0;
    for (size_t i = 0; i < errors->count; i++) {
        const calc_standard_error *e = &errors->item[i];
        double value = calc_constant_get(e->constant, system);
        if (!(value > 0) || (e->constant->scale == CALC_CONSTANT_LOGIT && !(value < 1))) {
            continue;
        }
        double effect =
            (log_time(e, 1, app, system, exec) - log_time(e, -1, app, system, exec)) / 2;
        sum += effect * effect;
    }
    return sqrt(sum);
}
