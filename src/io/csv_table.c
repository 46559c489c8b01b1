#include "io/csv_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/value_text.h"

/* One file being read. */
typedef struct reading {
    calc_csv_reader csv;
    const calc_csv_table *table;
    calc_errors *errors;
    char *title[CALC_CSV_CELLS_MAX]; /* of the first row */
    char *cell[CALC_CSV_CELLS_MAX];  /* line of the current row */
    int count, line;                 /* its cells, where it starts */
    int head;                        /* cells of the first row */
    int at[CALC_CSV_COLUMNS_MAX];    /* index of the column's cell in a row; -1: there is none */
} reading;

/* Index of the cell after `from` that says `name`; -1: there is none, or no name */
static int find(const reading *r, const char *name, int from)
{
    for (int k = from + 1; name && k < r->count; k++) {
        if (strcmp(r->cell[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

static bool is_known(const reading *r, const char *cell)
{
    return calc_csv_has_column(r->table->column, (size_t)r->table->columns, cell);
}

/* A near name in the file is a better hint than `other`. */
static calc_status miss(reading *r, const calc_csv_column *c, const char *other)
{
    const char *unknown[CALC_CSV_CELLS_MAX + 1] = {NULL};
    for (int k = 0, count = 0; k < r->count; k++) {
        if (!is_known(r, r->cell[k])) {
            unknown[count++] = r->cell[k];
        }
    }
    const char *nearest = calc_nearest(c->name, unknown);
    return calc_errors_at(r->errors, CALC_ERR_FIELD, r->csv.name, r->line, 0,
                          nearest ? CALC_TEXT(CALC_HINT_SIZE, "the first row has \"%s\"",
                                              calc_utf8_shown(nearest, strlen(nearest)))
                                  : other,
                          "column \"%s\" is missing", c->name);
}

/* Columns that are misspelled. */
static calc_status check_titles(reading *r)
{
    const char *name[CALC_CSV_COLUMNS_MAX + 1] = {NULL};
    calc_status status = CALC_OK;
    for (int i = 0, count = 0; i < r->table->columns; i++) {
        if (r->table->column[i].name) {
            name[count++] = r->table->column[i].name;
        }
    }
    for (int k = 0; k < r->count; k++) {
        const char *cell = r->cell[k];
        const char *nearest = is_known(r, cell) ? NULL : calc_nearest(cell, name);
        if (nearest && find(r, nearest, -1) < 0) {
            status = calc_errors_at(r->errors, CALC_ERR_FIELD, r->csv.name, r->line,
                                    calc_csv_read_column(&r->csv, cell), CALC_DID_YOU_MEAN(nearest),
                                    "unknown column \"%s\"", calc_utf8_shown(cell, strlen(cell)));
        }
    }
    return status;
}

static calc_status read_head(reading *r)
{
    calc_status status = CALC_OK;
    bool any = false;
    r->head = r->count =
        calc_csv_read_row(&r->csv, r->cell, CALC_CSV_CELLS_MAX, &r->line, r->errors);
    if (r->count < 0) {
        return CALC_ERR_SYNTAX;
    }
    memcpy(r->title, r->cell, sizeof r->title);
    for (int i = 0; i < r->table->columns; i++) {
        const calc_csv_column *c = &r->table->column[i];
        int at = find(r, c->name, -1);
        at = at < 0 ? find(r, c->also, -1) : at;
        int again = at < 0 ? -1 : find(r, r->cell[at], at);
        r->at[i] = at;
        any = any || at >= 0;
        if (again >= 0) {
            status = calc_errors_at(r->errors, CALC_ERR_FIELD, r->csv.name, r->line,
                                    calc_csv_read_column(&r->csv, r->cell[again]), NULL,
                                    "column \"%s\" is there twice", r->cell[again]);
        } else if (at < 0 && c->name && !(c->flags & CALC_CSV_OPTIONAL)) {
            status = miss(r, c, status == CALC_OK ? r->table->hint : NULL);
        }
    }
    if (status == CALC_OK && !any) { /* all are optional; a page of errors is no table, either */
        status = calc_errors_at(r->errors, CALC_ERR_FIELD, r->csv.name, r->line, 0, r->table->hint,
                                "none of the columns is known: the first row names them");
    }
    calc_status spelled = r->table->nearly ? check_titles(r) : CALC_OK;
    return status == CALC_OK ? spelled : status;
}

static bool is_whole(const calc_csv_column *c)
{
    return c->type == CALC_CSV_WHOLE || c->flags & CALC_CSV_INTEGER;
}

/* "step_time, memory or any"; "a number from 0 to 1e9". */
static const char *expected(const calc_csv_column *c, char *buffer, size_t size)
{
    const char *kind = is_whole(c) ? "a whole number" : "a number";
    buffer[0] = '\0';
    calc_append_choices(buffer, size, c->words);
    if (!c->words && c->lo == 0 && c->hi == 0) {
        return kind;
    }
    if (!c->words) {
        bool open = c->hi == HUGE_VAL;
        snprintf(buffer, size, open ? "%s of %g or more" : "%s from %g to %g", kind, c->lo, c->hi);
        char *sign = strstr(buffer, "e+0"); /* of the exponent: people write 1e9 */
        if (sign) {
            memmove(sign + 1, sign + 3, strlen(sign + 3) + 1);
        }
    }
    return buffer;
}

static bool is_blank(const char *cell)
{
    return cell[strspn(cell, " ")] == '\0';
}

static bool read_number(const calc_csv_column *c, const char *cell, double *out)
{
    char *end;
    cell += strspn(cell, " ");
    *out = calc_decimal_at(cell, &end);
    bool number = end != cell && is_blank(end) && isfinite(*out);
    bool whole = !is_whole(c) || *out == floor(*out);
    return number && whole && ((c->lo == 0 && c->hi == 0) || (*out >= c->lo && *out <= c->hi));
}

/* @return whether the cell is what it should be */
static bool fill(const calc_csv_column *c, const char *cell, void *member)
{
    double number = NAN;
    int word = 0;
    while (c->words && c->words[word] && strcmp(cell, c->words[word]) != 0) {
        word++;
    }
    bool right = !c->words || c->words[word];
    switch (c->type) {
    case CALC_CSV_TEXT:
        *(const char **)member = cell;
        return right || (c->flags & CALC_CSV_OPTIONAL && *cell == '\0');
    case CALC_CSV_WORD:
        *(int *)member = word;
        return right;
    case CALC_CSV_FLAG:
        *(bool *)member = word > 0;
        return right;
    case CALC_CSV_WHOLE:
        right = read_number(c, cell, &number);
        *(int *)member = right ? (int)number : 0;
        return right;
    default:
        right = (c->flags & CALC_CSV_BLANK && is_blank(cell)) || read_number(c, cell, &number);
        *(double *)member = number;
        return right;
    }
}

static calc_status fill_row(reading *r, char *row)
{
    memset(row, 0, r->table->row_bytes);
    if (r->count > r->head) {
        return calc_errors_at(r->errors, CALC_ERR_FIELD, r->csv.name, r->line,
                              calc_csv_read_column(&r->csv, r->cell[r->head]),
                              "a text with a comma stands in quotes",
                              "the row has %d cells, the first has %d", r->count, r->head);
    }
    int wrong = -1;
    for (int i = 0; i < r->table->columns; i++) {
        const calc_csv_column *c = &r->table->column[i];
        int at = r->at[i];
        if (at >= r->count) {
            return calc_errors_at(r->errors, CALC_ERR_FIELD, r->csv.name, r->line, 0,
                                  r->table->hint, "the row has %d cells, \"%s\" is the %d. column",
                                  r->count, c->name, at + 1);
        }
        if (!c->name) {
            *(int *)(row + c->offset) = r->line;
        } else if (!fill(c, at < 0 ? "" : r->cell[at], row + c->offset) && at >= 0) {
            wrong = wrong < 0 ? i : wrong;
        }
    }
    if (wrong >= 0) {
        const calc_csv_column *c = &r->table->column[wrong];
        const char *cell = r->cell[r->at[wrong]];
        char allowed[128];
        return calc_errors_at(
            r->errors, CALC_ERR_TYPE, r->csv.name, r->line, calc_csv_read_column(&r->csv, cell),
            c->flags & CALC_CSV_BLANK ? "leave it blank if it is not known" : NULL,
            "%s: expected %s, found \"%s\"", r->title[r->at[wrong]],
            expected(c, allowed, sizeof allowed), calc_utf8_shown(cell, strlen(cell)));
    }
    const calc_csv_row from = {&r->csv, r->title, r->cell, r->head, r->count, r->line};
    return r->table->finish ? r->table->finish(r->table->context, row, &from, r->errors) : CALC_OK;
}

static calc_status read_rows(reading *r, calc_csv_rows *out)
{
    size_t capacity = 0;
    calc_status status = CALC_OK;
    while ((r->count =
                calc_csv_read_row(&r->csv, r->cell, CALC_CSV_CELLS_MAX, &r->line, r->errors)) > 0) {
        void *grown = calc_grown(out->item, out->count, &capacity, r->table->row_bytes);
        if (!grown) {
            return calc_errors_at(r->errors, CALC_ERR_NOMEM, r->csv.name, r->line, 0, NULL, "%s",
                                  calc_status_text(CALC_ERR_NOMEM));
        }
        out->item = grown;
        calc_status one = fill_row(r, (char *)out->item + out->count * r->table->row_bytes);
        out->count += one == CALC_OK;
        status = status == CALC_OK ? one : status;
    }
    return r->count < 0 && status == CALC_OK ? CALC_ERR_SYNTAX : status;
}

bool calc_csv_has_column(const calc_csv_column *column, size_t columns, const char *name)
{
    bool has = false;
    for (size_t i = 0; i < columns; i++) {
        has = has || (column[i].name && strcmp(column[i].name, name) == 0) ||
              (column[i].also && strcmp(column[i].also, name) == 0);
    }
    return has;
}

calc_status calc_csv_table_parse(calc_csv_rows *out, const calc_csv_table *table, calc_text text,
                                 const char *name, calc_errors *errors)
{
    *out = (calc_csv_rows){.text = text};
    reading r = {.table = table, .errors = errors};
    calc_csv_read_start(&r.csv, text.data, text.length, name);
    calc_status status = read_head(&r);
    return status == CALC_OK ? read_rows(&r, out) : status;
}

calc_status calc_csv_table_read(calc_csv_rows *out, const calc_csv_table *table, const char *path,
                                calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_csv_rows){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_csv_table_parse(out, table, text, path, errors) : status;
}

void calc_csv_rows_free(calc_csv_rows *rows)
{
    free(rows->item);
    calc_text_free(&rows->text);
    *rows = (calc_csv_rows){0};
}

void calc_csv_read_start(calc_csv_reader *reader, char *text, size_t length, const char *name)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skip = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    *reader = (calc_csv_reader){text + skip, text + length, 1, name, text + skip};
}

int calc_csv_read_column(const calc_csv_reader *reader, const char *cell)
{
    const char *start = reader->row;
    for (const char *at = start; at < cell; at++) {
        start = *at == '\n' ? at + 1 : start;
    }
    return (int)(cell - start) + 1;
}

static int fail(const calc_csv_reader *reader, int line, const char *text, calc_errors *errors)
{
    calc_errors_at(errors, CALC_ERR_SYNTAX, reader->name, line, 0, NULL, "%s", text);
    return -1;
}

/* LF, CR LF, or CR alone, as old spreadsheets write it; the text ends with a NUL. */
static bool ends_line(const char *at)
{
    return *at == '\n' || (*at == '\r' && at[1] != '\n');
}

/* Decode a quoted cell whose first quote is at reader->next. @return its end, NULL if it has none
 */
static char *quoted(calc_csv_reader *reader)
{
    char *write = ++reader->next;
    while (reader->next < reader->end) {
        if (*reader->next == '"') {
            if (reader->next[1] != '"') {
                reader->next++;
                return write;
            }
            reader->next++;
        }
        reader->line += ends_line(reader->next);
        *write++ = *reader->next++;
    }
    return NULL;
}

/* Step over the end of a cell. @return whether the row ends with it */
static bool step(calc_csv_reader *reader)
{
    if (reader->next >= reader->end) {
        return true;
    }
    if (*reader->next == ',') {
        reader->next++;
        return false;
    }
    reader->next += *reader->next == '\r' && reader->next[1] == '\n';
    reader->line += ends_line(reader->next);
    reader->next++;
    return true;
}

int calc_csv_read_row(calc_csv_reader *reader, char **cell, int capacity, int *line,
                      calc_errors *errors)
{
    while (reader->next < reader->end && (*reader->next == '\n' || *reader->next == '\r')) {
        reader->line += ends_line(reader->next);
        reader->next++;
    }
    *line = reader->line;
    reader->row = reader->next;
    bool done = reader->next >= reader->end;
    int count = 0;
    while (!done) {
        if (count == capacity) {
            return fail(reader, *line, "too many cells in one row", errors);
        }
        int start = reader->line;
        bool quote = *reader->next == '"';
        cell[count] = reader->next + quote;
        char *end = quote ? quoted(reader) : NULL;
        if (quote && !end) {
            return fail(reader, start, "the quote that starts a cell here has no end", errors);
        }
        size_t rest = reader->next < reader->end ? strcspn(reader->next, ",\r\n") : 0;
        if (quote && rest > 0) {
            return fail(reader, reader->line, "a comma must follow the end of a quote", errors);
        }
        reader->next += rest;
        end = quote ? end : reader->next;
        bool zero = reader->next < reader->end && *reader->next == '\0';
        if (zero || memchr(cell[count], '\0', (size_t)(end - cell[count]))) {
            return fail(reader, start, "a zero byte: this is not a text", errors);
        }
        done = step(reader);
        *end = '\0';
        count++;
    }
    return count;
}

void calc_csv_text(calc_output *out, const char *text, bool first)
{
    calc_output_text(out, first ? "" : ",");
    if (!strpbrk(text, ",\"\r\n")) {
        calc_output_text(out, text);
        return;
    }
    calc_output_text(out, "\"");
    for (; *text; text++) {
        calc_output_write(out, "\"", *text == '"');
        calc_output_write(out, text, 1);
    }
    calc_output_text(out, "\"");
}

/* The names of a table's columns, or the values of an object in them: as its fields are in words,
 * but for numbers that are not there and for the engine that is none.
 * @return whether the next column is still the first */
static bool cells(calc_output *out, const calc_table *table, const char *prefix, const char *object,
                  bool first)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *member = object ? object + field->offset : NULL;
        char text[CALC_VALUE_TEXT];
        if (!object || field->type == CALC_TYPE_OBJECT) {
            snprintf(text, sizeof text, "%s%s", prefix, field->key);
        }
        if (field->type == CALC_TYPE_OBJECT) {
            calc_append(text, sizeof text, ".");
            first = cells(out, field->table, text, member, first);
        } else if (calc_field_is_single(field) || field->type == CALC_TYPE_SYSTEM ||
                   field->type == CALC_TYPE_ENGINE) {
            bool engine = field->type == CALC_TYPE_ENGINE;
            bool null = member && field->type == CALC_TYPE_REAL &&
                        !isfinite(*(const double *)(const void *)member);
            if (member) {
                calc_value_text(field, member, text);
            }
            calc_csv_text(out, null ? "" : engine && !*text ? "none" : text, first);
            first = false;
        }
    }
    return first;
}

void calc_csv_header(calc_output *out, calc_kind kind, bool first)
{
    cells(out, calc_table_of(kind), "", NULL, first);
}

void calc_csv_values(calc_output *out, calc_kind kind, const void *object, bool first)
{
    cells(out, calc_table_of(kind), "", object, first);
}
