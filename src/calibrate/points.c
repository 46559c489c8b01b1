#include "calibrate/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/point_block.h"
#include "calibrate/point_meaning.h"
#include "io/csv_table.h"
#include "io/utf8.h"
#include "spec/field.h"

enum { NAMES_SIZE = 200 };

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_point, line)},
#define CALC_X(member, text, other, optional)                                                      \
    {.name = text,                                                                                 \
     .also = other,                                                                                \
     CALC_CSV_MEMBER(calc_point, member),                                                          \
     .flags = (optional) ? CALC_CSV_OPTIONAL : 0,                                                  \
     .hi = HUGE_VAL},
                                          CALC_POINTS_COLUMN_LIST(CALC_X)
#undef CALC_X
};

static const calc_csv_table table =
    CALC_CSV_TABLE(columns, calc_point,
                   "the first row names the columns: "
                   "op,dtype,shape,metric,value and, if wanted, system and unit");

calc_status calc_points_parse(calc_points *out, calc_text text, const char *name,
                              calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_points){rows.item, rows.count, rows.text, name};
    for (size_t i = 0; i < out->count; i++) {
        calc_point_meaning(&out->item[i]);
    }
    return status;
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
    bool computes = p->class <= CALC_POINT_ATTENTION_BW || p->class == CALC_POINT_BLOCK ||
                    (calc_point_is_serving(p) && p->class != CALC_POINT_SERVING_ALL_REDUCE);
    return !computes || system->chip.matrix[p->datatype].flop_per_s > 0;
}

calc_status calc_points_select(calc_points *points, const char *rows, const calc_system *system,
                               calc_errors *errors)
{
    char names[NAMES_SIZE];
    size_t machines = list_machines(points, names);
    if (!rows && machines > 1) {
        return calc_errors_at(errors, CALC_ERR_FIELD, points->name, 0, 0,
                              "--rows NAME[,NAME...] chooses by the column \"system\"",
                              "the measurements are of more than one machine: %s", names);
    }
    size_t found = 0;
    const calc_point *refused = NULL; /* the first of the machine */
    for (size_t i = 0; i < points->count; i++) {
        calc_point *p = &points->item[i];
        bool other = rows && !is_listed(rows, p->system);
        if (other) {
            snprintf(p->reason, sizeof p->reason, "another machine");
        } else if (calc_point_is_used(p) && !can_run(system, p)) {
            snprintf(p->reason, sizeof p->reason, "the system has no matrix engine in %s",
                     calc_datatype_names[p->datatype]);
        } else if (calc_point_is_used(p) && p->class == CALC_POINT_BLOCK) {
            (void)calc_point_block_runs(p, system, p->reason);
        }
        found += calc_point_is_used(p);
        refused = !refused && !other && !calc_point_is_used(p) ? p : refused;
    }
    if (found > 0) {
        return CALC_OK;
    }
    if (rows && machines > 0 && !refused) {
        return calc_errors_at(errors, CALC_ERR_FIELD, points->name, 0, 0, NULL,
                              "no row that can be used is of %.60s; there are rows of: %s", rows,
                              names);
    }
    return calc_errors_at(errors, CALC_ERR_FIELD, points->name, refused ? refused->line : 0, 0,
                          NULL, "no row can be used; the first says: %s",
                          refused             ? refused->reason
                          : points->count > 0 ? points->item[0].reason
                                              : "there are none");
}
