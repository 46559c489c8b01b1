#include "validate/runs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/csv_table.h"

/* Numbers are at most 1e9: the product of two of them is a whole number still. */
#define COLUMN_TEXT(member, more)                                                                  \
    {.name = #member, CALC_CSV_MEMBER(calc_runs_row, member), .flags = more},
#define COLUMN_NUMBER(member, more)                                                                \
    {.name = #member,                                                                              \
     CALC_CSV_MEMBER(calc_runs_row, member),                                                       \
     .flags = CALC_CSV_BLANK | (more),                                                             \
     .hi = 1e9},

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_runs_row, line)},
#define CALC_X(type, name) COLUMN_##type(name, 0)
                                          CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
#define CALC_X(type, name) COLUMN_##type(name, CALC_CSV_OPTIONAL)
                                              CALC_RUNS_OPTIONAL_LIST(CALC_X)
#undef CALC_X
};

static const calc_csv_table table = CALC_CSV_TABLE(columns, calc_runs_row, NULL);

calc_status calc_runs_parse(calc_runs *out, calc_text text, const char *name, calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_runs){rows.item, rows.count, rows.text};
    return status;
}

calc_status calc_runs_read(calc_runs *out, const char *path, calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    *out = (calc_runs){rows.item, rows.count, rows.text};
    return status;
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
