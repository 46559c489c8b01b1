#include "validate/serving_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "io/utf8.h"

/* Numbers are at most 1e9: the product of two of them is a whole number still. */
#define COLUMN_TEXT(member, another)                                                               \
    {.name = #member,                                                                              \
     .also = another,                                                                              \
     CALC_CSV_MEMBER(calc_serving_row, member),                                                    \
     .flags = CALC_CSV_OPTIONAL},
#define COLUMN_NUMBER(member, another)                                                             \
    {.name = #member,                                                                              \
     .also = another,                                                                              \
     CALC_CSV_MEMBER(calc_serving_row, member),                                                    \
     .flags = CALC_CSV_OPTIONAL | CALC_CSV_BLANK,                                                  \
     .hi = 1e9},

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_serving_row, line)},
#define CALC_X(type, name, also) COLUMN_##type(name, also)
                                          CALC_SERVING_COLUMN_LIST(CALC_X)
#undef CALC_X
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* Number formats of the cache, and these with the narrower ones of weights. */
#define WIDE_WORDS "auto", "bf16", "bfloat16", "fp16", "float16", "fp8"

/* Columns of which more is to be said. */
static const struct {
    const char *name;
    bool needed; /* without it a row says nothing */
    const char *const words[12];
} special[] = {{"app", true, {NULL}},
               {"sys", true, {NULL}},
               {"isl", true, {NULL}},
               {"osl", true, {NULL}},
               {"weight_dtype", false, {WIDE_WORDS, "fp8 (block)", "fp4", "int8", "int4"}},
               {"kv_dtype", false, {WIDE_WORDS}},
               {"dp_attention", false, {"False", "True"}},
               {"ttft_stat", false, {"mean", "median"}},
               {"metric_kind", false, {"static batch", "all requests at once"}},
               {"confidence", false, {"low", "medium", "high"}}};

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

/* Only fields of one value, which a member of a row can hold. */
static bool is_single(const calc_field *field)
{
    return field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL ||
           field->type == CALC_TYPE_BOOL || field->type == CALC_TYPE_ENUM;
}

static bool is_column(const char *title)
{
    bool is = false;
    for (size_t k = 0; k < COLUMNS; k++) {
        const calc_csv_column *c = &columns[k];
        is = is || (c->name && strcmp(c->name, title) == 0) ||
             (c->also && strcmp(c->also, title) == 0);
    }
    return is;
}

static const char *path_of(const char *title)
{
    return strncmp(title, "exe.", 4) == 0 ? title + 4 : title;
}

static calc_status set(calc_exec *exec, const char *title, const char *value, calc_errors *errors)
{
    char assignment[256];
    calc_app app = {0};
    snprintf(assignment, sizeof assignment, "exe.%.100s=%.100s", path_of(title), value);
    return calc_set(&app, NULL, exec, assignment, NULL, errors);
}

static calc_status find_fields(calc_serving_fields *fields, const calc_csv_row *from,
                               calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int i = 0; i < from->titles; i++) {
        const char *title = from->title[i];
        const char *path = path_of(title);
        calc_field_ref ref;
        bool field = !is_column(title) && calc_field_find(CALC_KIND_EXEC, path, &ref) == CALC_OK &&
                     is_single(ref.field);
        bool meant = path != title || strncmp(title, "inference.", 10) == 0;
        if (field && fields->count < CALC_SERVING_FIELDS_MAX) {
            fields->ref[fields->count] = ref;
            fields->cell[fields->count++] = i;
        } else if (field || (meant && !is_column(title))) {
            char shown[CALC_UTF8_SHOW_SIZE];
            calc_errors why = {0};
            calc_exec exec = {0};
            (void)!set(&exec, title, "0", &why);
            status = calc_errors_at(errors, CALC_ERR_FIELD, from->reader->name, 1, 0,
                                    why.count > 0 && why.item[0].hint[0]
                                        ? why.item[0].hint
                                        : "calc fields has the names of all",
                                    field ? "column \"%s\": more fields than a table may have"
                                          : "column \"%s\" is no field of one value",
                                    calc_utf8_show(shown, title, strlen(title)));
        }
    }
    return status;
}

/* Check the cell of a field and keep its number. */
static calc_status read_field(calc_serving_row *row, int k, const calc_csv_row *from,
                              calc_errors *errors)
{
    int at = row->fields->cell[k];
    const char *cell = at < from->cells ? from->cell[at] : "";
    const char *title = from->title[at];
    calc_exec exec = {0};
    calc_errors own = {0};
    row->value[k] = (double)NAN;
    if (cell[strspn(cell, " ")] == '\0') {
        return CALC_OK;
    }
    calc_status status = set(&exec, title, cell, &own);
    if (status == CALC_OK) {
        row->value[k] = calc_field_number(&row->fields->ref[k], &exec);
        return CALC_OK;
    }
    return calc_errors_at(
        errors, status, from->reader->name, from->line, calc_csv_read_column(from->reader, cell),
        own.item[0].hint[0] ? own.item[0].hint : NULL, "%s: %s", title, own.item[0].text);
}

static calc_status finish_row(void *context, void *item, const calc_csv_row *from,
                              calc_errors *errors)
{
    calc_serving_fields *fields = context;
    calc_serving_row *row = item;
    calc_status status = CALC_OK;
    if (fields->count < 0) {
        fields->count = 0;
        status = find_fields(fields, from, errors);
    }
    row->fields = fields;
    for (int k = 0; k < fields->count; k++) {
        calc_status one = read_field(row, k, from, errors);
        status = status == CALC_OK ? one : status;
    }
    for (int i = 0; i < from->cells; i++) {
        if (from->cell[i] == row->assumed) {
            calc_assumptions_read(&row->told, from->cell[i]);
        }
    }
    return status;
}

static void describe(calc_csv_column *column)
{
    for (size_t k = 0; column->name && k < sizeof special / sizeof *special; k++) {
        if (strcmp(column->name, special[k].name) == 0) {
            column->words = *special[k].words ? special[k].words : NULL;
            column->flags &= special[k].needed ? ~CALC_CSV_OPTIONAL : ~0;
        }
    }
}

calc_status calc_serving_rows_parse(calc_serving_rows *out, calc_text text, const char *name,
                                    calc_errors *errors)
{
    calc_csv_column column[COLUMNS];
    memcpy(column, columns, sizeof column);
    for (size_t i = 0; i < COLUMNS; i++) {
        describe(&column[i]);
    }
    *out = (calc_serving_rows){.text = text, .fields = malloc(sizeof *out->fields)};
    if (!out->fields) {
        return calc_errors_no_memory(errors);
    }
    out->fields->count = -1; /* not looked for */
    const calc_csv_table table = {.column = column,
                                  .columns = COLUMNS,
                                  .row_bytes = sizeof(calc_serving_row),
                                  .hint = "runs of serving have app, sys, isl and osl",
                                  .finish = finish_row,
                                  .context = out->fields,
                                  .nearly = true};
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    out->row = rows.item;
    out->count = rows.count;
    return status == CALC_OK ? fill_names(out, name, errors) : status;
}

void calc_serving_rows_free(calc_serving_rows *rows)
{
    free(rows->row);
    free(rows->names);
    free(rows->fields);
    calc_text_free(&rows->text);
    *rows = (calc_serving_rows){0};
}
