#include "calibrate/points.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/point_meaning.h"
#include "io/csv_read.h"
#include "io/utf8.h"
#include "spec/field.h"

enum { CELLS_MAX = 256, NAMES_SIZE = 200 };

static const struct {
    const char *name, *size[CALC_POINT_SIZES + 1];
} classes[CALC_POINT_CLASSES] = {
#define CALC_X(name, text, ...) {text, {__VA_ARGS__, NULL}},
    CALC_POINT_CLASS_LIST(CALC_X)
#undef CALC_X
};

/* Columns, in the order of `column`. */
enum {
#define CALC_X(id, name, also, optional) id,
    CALC_POINTS_COLUMN_LIST(CALC_X)
#undef CALC_X
        COLUMNS
};

static const struct {
    const char *name, *also;
    bool optional;
} column[COLUMNS] = {
#define CALC_X(id, name, also, optional) {name, also, optional},
    CALC_POINTS_COLUMN_LIST(CALC_X)
#undef CALC_X
};

const char *calc_point_class_name(calc_point_class class)
{
    return classes[class].name;
}

const char *const *calc_point_size_names(calc_point_class class)
{
    return classes[class].size;
}

/* One file being read. */
typedef struct reading {
    calc_csv_reader csv;
    int cell[COLUMNS]; /* index of the column's cell in a row; -1: there is none */
    calc_errors *errors;
} reading;

/* Add an error at a cell. */
static calc_status fail_at(reading *r, int line, char *const *cell, int index, calc_status status,
                           const char *fmt, ...) CALC_PRINTF(6, 7);
static calc_status fail_at(reading *r, int line, char *const *cell, int index, calc_status status,
                           const char *fmt, ...)
{
    char text[256];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    int before = r->errors ? r->errors->count : 0;
    calc_csv_read_fail(&r->csv, line, status, r->errors, NULL, "%s", text);
    if (r->errors && r->errors->count > before) {
        r->errors->item[before].column = calc_csv_read_column(&r->csv, cell[index]);
    }
    return status;
}

static int find_column(char *const *cell, int count, int which)
{
    for (int k = 0; k < count; k++) {
        if (strcmp(cell[k], column[which].name) == 0 ||
            (column[which].also && strcmp(cell[k], column[which].also) == 0)) {
            return k;
        }
    }
    return -1;
}

/* The first row names the columns. All that are missing are reported. */
static calc_status read_header(reading *r)
{
    char *cell[CELLS_MAX];
    int line;
    int count = calc_csv_read_row(&r->csv, cell, CELLS_MAX, &line, r->errors);
    if (count < 0) {
        return CALC_ERR_SYNTAX;
    }
    calc_status status = CALC_OK;
    for (int i = 0; i < COLUMNS; i++) {
        r->cell[i] = find_column(cell, count, i);
        if (r->cell[i] < 0 && !column[i].optional) {
            status = calc_csv_read_fail(
                &r->csv, line, CALC_ERR_FIELD, r->errors,
                "the first row names the columns: op,dtype,shape,metric,value and, if wanted, "
                "system and unit",
                "column \"%s\" is missing", column[i].name);
        }
    }
    return status;
}

static bool parse_value(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && end[strspn(end, " ")] == '\0' && isfinite(*out) && *out >= 0;
}

static calc_status fill_point(reading *r, char *const *cell, int count, int line, calc_point *p)
{
    const char *text[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        if (r->cell[i] >= count) {
            return fail_at(r, line, cell, count - 1, CALC_ERR_FIELD,
                           "the row has %d cells, \"%s\" is the %d. column", count, column[i].name,
                           r->cell[i] + 1);
        }
        text[i] = r->cell[i] < 0 ? "" : cell[r->cell[i]];
    }
    *p = (calc_point){.line = line,
                      .system = text[SYSTEM],
                      .op = text[OP],
                      .dtype = text[DTYPE],
                      .shape = text[SHAPE],
                      .metric = text[METRIC],
                      .unit = text[UNIT]};
    if (!parse_value(text[VALUE], &p->value)) {
        char shown[CALC_UTF8_SHOW_SIZE];
        return fail_at(r, line, cell, r->cell[VALUE], CALC_ERR_TYPE,
                       "value: \"%s\" is not a number of 0 or more",
                       calc_utf8_show(shown, text[VALUE], strlen(text[VALUE])));
    }
    calc_point_meaning(p);
    return CALC_OK;
}

static calc_status read_rows(reading *r, calc_points *out)
{
    size_t capacity = 0;
    calc_status status = CALC_OK;
    for (;;) {
        char *cell[CELLS_MAX];
        int line;
        int count = calc_csv_read_row(&r->csv, cell, CELLS_MAX, &line, r->errors);
        if (count <= 0) {
            return count < 0 && status == CALC_OK ? CALC_ERR_SYNTAX : status;
        }
        if (out->count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            calc_point *grown = realloc(out->item, capacity * sizeof *grown);
            if (!grown) {
                return calc_csv_read_fail(&r->csv, line, CALC_ERR_NOMEM, r->errors, NULL, "%s",
                                          calc_status_text(CALC_ERR_NOMEM));
            }
            out->item = grown;
        }
        calc_status one = fill_point(r, cell, count, line, &out->item[out->count]);
        out->count += one == CALC_OK;
        status = status == CALC_OK ? one : status;
    }
}

calc_status calc_points_parse(calc_points *out, calc_text text, const char *name,
                              calc_errors *errors)
{
    *out = (calc_points){.text = text, .name = name};
    reading r = {.errors = errors};
    calc_csv_read_start(&r.csv, text.data, text.length, name);
    calc_status status = read_header(&r);
    return status == CALC_OK ? read_rows(&r, out) : status;
}

calc_status calc_points_read(calc_points *out, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_points){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_points_parse(out, text, path, errors) : status;
}

void calc_points_free(calc_points *points)
{
    free(points->item);
    calc_text_free(&points->text);
    *points = (calc_points){0};
}

/* ---- Those of one machine -------------------------------------------------------------------- */

/* Whether `name` is one of the names between commas. */
static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Whether a row before `index` is of the same machine. */
static bool is_repeated(const calc_points *points, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (calc_point_is_used(&points->item[i]) &&
            strcmp(points->item[i].system, points->item[index].system) == 0) {
            return true;
        }
    }
    return false;
}

/* The machines that usable rows name, for people. @return how many */
static size_t list_machines(const calc_points *points, char names[NAMES_SIZE])
{
    size_t count = 0;
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        char shown[CALC_UTF8_SHOW_SIZE];
        if (!calc_point_is_used(p) || is_repeated(points, i)) {
            continue;
        }
        if (used + 4 + sizeof shown < NAMES_SIZE) {
            used += (size_t)snprintf(names + used, NAMES_SIZE - used, "%s%s", count ? "," : "",
                                     calc_utf8_show(shown, p->system, strlen(p->system)));
        } else if (count > 0 && names[used - 1] != '.') {
            used += (size_t)snprintf(names + used, NAMES_SIZE - used, "...");
        }
        count++;
    }
    return count;
}

static bool can_run(const calc_system *system, const calc_point *p)
{
    bool computes = p->class <= CALC_POINT_ATTENTION_BW;
    return !computes || system->matrix[p->datatype].flop_per_s > 0;
}

/* Add an error about the whole file. */
static calc_status fail(const calc_points *points, calc_errors *errors, const char *hint,
                        const char *fmt, ...) CALC_PRINTF(4, 5);
static calc_status fail(const calc_points *points, calc_errors *errors, const char *hint,
                        const char *fmt, ...)
{
    char text[320];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    int before = errors ? errors->count : 0;
    calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, hint, "%s", text);
    if (errors && errors->count > before) {
        calc_error_place(&errors->item[before], points->name, 0, 0);
    }
    return CALC_ERR_FIELD;
}

calc_status calc_points_select(calc_points *points, const char *rows, const calc_system *system,
                               calc_errors *errors)
{
    char names[NAMES_SIZE];
    size_t machines = list_machines(points, names);
    if (!rows && machines > 1) {
        return fail(points, errors, "--rows NAME[,NAME...] chooses by the column \"system\"",
                    "the measurements are of more than one machine: %s", names);
    }
    size_t found = 0;
    for (size_t i = 0; i < points->count; i++) {
        calc_point *p = &points->item[i];
        if (rows && !is_listed(rows, p->system)) {
            snprintf(p->reason, sizeof p->reason, "another machine");
        } else if (calc_point_is_used(p) && !can_run(system, p)) {
            snprintf(p->reason, sizeof p->reason, "the system has no matrix engine in %s",
                     calc_datatype_names[p->datatype]);
        }
        found += calc_point_is_used(p);
    }
    if (found > 0) {
        return CALC_OK;
    }
    if (rows && machines > 0) {
        return fail(points, errors, NULL,
                    "no row that can be used is of %.60s; there are rows of: %s", rows, names);
    }
    return fail(points, errors, NULL, "no row can be used; the first says: %s",
                points->count > 0 ? points->item[0].reason : "there are none");
}
