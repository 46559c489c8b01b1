#include "validate/runs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/csv_read.h"
#include "io/utf8.h"

enum { CELLS_MAX = 256 };

enum {
#define CALC_X(type, name) COLUMN_##name,
    CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
        COLUMNS_REQUIRED,
    COLUMN_BEFORE_OPTIONAL = COLUMNS_REQUIRED - 1,
#define CALC_X(type, name) COLUMN_##name,
    CALC_RUNS_OPTIONAL_LIST(CALC_X)
#undef CALC_X
        COLUMNS
};

/* Where a column goes. */
typedef struct column {
    const char *name;
    bool number;
    size_t offset;
} column;

enum { COLUMN_TEXT = 0, COLUMN_NUMBER = 1 };
static const column columns[COLUMNS] = {
#define CALC_X(type, name) {#name, COLUMN_##type, offsetof(calc_runs_row, name)},
    CALC_RUNS_COLUMN_LIST(CALC_X) CALC_RUNS_OPTIONAL_LIST(CALC_X)
#undef CALC_X
};

/* One file being read. */
typedef struct reading {
    calc_csv_reader csv;
    int cell[COLUMNS]; /* index of the column's cell in a row */
    calc_errors *errors;
} reading;

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
        r->cell[i] = -1;
        for (int k = 0; k < count && r->cell[i] < 0; k++) {
            r->cell[i] = strcmp(cell[k], columns[i].name) == 0 ? k : -1;
        }
        if (i < COLUMNS_REQUIRED && r->cell[i] < 0) {
            status = calc_csv_read_fail(&r->csv, line, CALC_ERR_FIELD, r->errors, NULL,
                                        "column \"%s\" is missing", columns[i].name);
        }
    }
    return status;
}

enum { LARGEST = 1000000000 /* of what is printed: the product of two is a whole number still */ };

/* A number from 0 to LARGEST, or NaN for a blank cell. */
static bool parse_number(const char *text, double *out)
{
    char *end;
    *out = (double)NAN;
    if (text[strspn(text, " ")] == '\0') {
        return true;
    }
    *out = strtod(text, &end);
    return end != text && end[strspn(end, " ")] == '\0' && *out >= 0 && *out <= LARGEST;
}

static calc_status refuse_number(reading *r, int line, const char *name, const char *cell)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    int before = r->errors ? r->errors->count : 0;
    calc_status status = calc_csv_read_fail(&r->csv, line, CALC_ERR_TYPE, r->errors,
                                            "leave it blank if it was not published",
                                            "%s: expected a number from 0 to 1e9, found \"%s\"",
                                            name, calc_utf8_show(shown, cell, strlen(cell)));
    if (r->errors && r->errors->count > before) {
        r->errors->item[before].column = calc_csv_read_column(&r->csv, cell);
    }
    return status;
}

static calc_status fill_row(reading *r, char *const *cell, int count, int line, calc_runs_row *row)
{
    *row = (calc_runs_row){.line = line};
    for (int i = 0; i < COLUMNS; i++) {
        if (r->cell[i] >= count) {
            return calc_csv_read_fail(&r->csv, line, CALC_ERR_FIELD, r->errors, NULL,
                                      "the row has %d cells, \"%s\" is the %d. column", count,
                                      columns[i].name, r->cell[i] + 1);
        }
        const char *text = r->cell[i] < 0 ? "" : cell[r->cell[i]];
        void *member = (char *)row + columns[i].offset;
        if (!columns[i].number) {
            *(const char **)member = text;
        } else if (!parse_number(text, member)) {
            return refuse_number(r, line, columns[i].name, text);
        }
    }
    return CALC_OK;
}

static calc_status read_rows(reading *r, calc_runs *out)
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
            calc_runs_row *grown = realloc(out->row, capacity * sizeof *grown);
            if (!grown) {
                return calc_csv_read_fail(&r->csv, line, CALC_ERR_NOMEM, r->errors, NULL, "%s",
                                          calc_status_text(CALC_ERR_NOMEM));
            }
            out->row = grown;
        }
        calc_status one = fill_row(r, cell, count, line, &out->row[out->count++]);
        status = status == CALC_OK ? one : status;
    }
}

calc_status calc_runs_parse(calc_runs *out, calc_text text, const char *name, calc_errors *errors)
{
    *out = (calc_runs){.text = text};
    reading r = {.errors = errors};
    calc_csv_read_start(&r.csv, text.data, text.length, name);
    calc_status status = read_header(&r);
    return status == CALC_OK ? read_rows(&r, out) : status;
}

calc_status calc_runs_read(calc_runs *out, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_runs){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_runs_parse(out, text, path, errors) : status;
}

void calc_runs_free(calc_runs *runs)
{
    free(runs->row);
    calc_text_free(&runs->text);
    *runs = (calc_runs){0};
}

double calc_runs_or(double number, double blank)
{
    return isnan(number) ? blank : number;
}

bool calc_runs_has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

bool calc_runs_has_any_case(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        if (strncasecmp(text, part, length) == 0) {
            return true;
        }
    }
    return false;
}

bool calc_runs_starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}
