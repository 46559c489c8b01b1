#include "validate/serving_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"

/* Numbers are at most 1e9: the product of two of them is a whole number still. */
#define COLUMN_TEXT(member)                                                                        \
    {.name = #member, CALC_CSV_MEMBER(calc_serving_row, member), .flags = CALC_CSV_OPTIONAL},
#define COLUMN_NUMBER(member)                                                                      \
    {.name = #member,                                                                              \
     CALC_CSV_MEMBER(calc_serving_row, member),                                                    \
     .flags = CALC_CSV_OPTIONAL | CALC_CSV_BLANK,                                                  \
     .hi = 1e9},

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_serving_row, line)},
#define CALC_X(type, name) COLUMN_##type(name)
                                          CALC_SERVING_COLUMN_LIST(CALC_X)
#undef CALC_X
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* Without these a row says nothing. */
static const char *const needed[] = {"model", "gpu", "isl", "osl"};

bool calc_serving_rows_has(const calc_text *text)
{
    bool prompt = false, output = false;
    const char *end = text->data + strcspn(text->data, "\r\n");
    for (const char *cell = text->data; cell < end;) {
        cell += strspn(cell, "\xef\xbb\xbf\" ,");
        size_t length = strcspn(cell, "\",\r\n");
        prompt = prompt || (length == 3 && strncmp(cell, "isl", length) == 0);
        output = output || (length == 3 && strncmp(cell, "osl", length) == 0);
        cell += length;
    }
    return prompt && output;
}

enum { NAME_SIZE = 96 };

/* Names for rows without one: "runs/my.csv.gz" is "my". */
static calc_status fill_names(calc_serving_rows *rows, const char *file, calc_errors *errors)
{
    rows->names = calloc(rows->count + 1, NAME_SIZE);
    if (!rows->names) {
        return calc_errors_no_memory(errors);
    }
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : strcmp(file, "-") == 0 ? "stdin" : file;
    char *stem = rows->names;
    snprintf(stem, NAME_SIZE / 2, "%.*s", (int)strcspn(name, "."), name);
    for (size_t i = 0; i < rows->count; i++) {
        calc_serving_row *row = &rows->row[i];
        row->source = *row->source ? row->source : stem;
        if (!*row->id) {
            char *own = rows->names + (i + 1) * NAME_SIZE;
            snprintf(own, NAME_SIZE, "%s:%d", stem, row->line);
            row->id = own;
        }
    }
    return CALC_OK;
}

calc_status calc_serving_rows_parse(calc_serving_rows *out, calc_text text, const char *name,
                                    calc_errors *errors)
{
    calc_csv_column column[COLUMNS];
    memcpy(column, columns, sizeof column);
    for (size_t i = 0; i < COLUMNS; i++) {
        for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) {
            if (column[i].name && strcmp(column[i].name, needed[k]) == 0) {
                column[i].flags &= ~CALC_CSV_OPTIONAL;
            }
        }
    }
    const calc_csv_table table = {.column = column,
                                  .columns = COLUMNS,
                                  .row_bytes = sizeof(calc_serving_row),
                                  .hint = "runs of serving have a model, a gpu, isl and osl",
                                  .nearly = true};
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_serving_rows){.row = rows.item, .count = rows.count, .text = rows.text};
    return status == CALC_OK ? fill_names(out, name, errors) : status;
}

void calc_serving_rows_free(calc_serving_rows *rows)
{
    free(rows->row);
    free(rows->names);
    calc_text_free(&rows->text);
    *rows = (calc_serving_rows){0};
}
