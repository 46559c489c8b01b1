#include "validate/runs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

/* Numbers are at most 1e9: the product of two of them is a whole number still. */
#define COLUMN_TEXT(member)                                                                        \
    {.name = #member, CALC_CSV_MEMBER(calc_runs_row, member), .flags = CALC_CSV_OPTIONAL},
#define COLUMN_NUMBER(member)                                                                      \
    {.name = #member,                                                                              \
     CALC_CSV_MEMBER(calc_runs_row, member),                                                       \
     .flags = CALC_CSV_OPTIONAL | CALC_CSV_BLANK,                                                  \
     .hi = 1e9},

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_runs_row, line)},
#define CALC_X(type, name) COLUMN_##type(name)
                                          CALC_RUNS_COLUMN_LIST(CALC_X) CALC_RUNS_OWN_LIST(CALC_X)
#undef CALC_X
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* What columns have beyond the others: shorter names, as people give them to runs of their own;
 * whole numbers; a least value: no step takes less than a microsecond. */
static const struct {
    const char *name, *also;
    int flags;
    double least;
} special[] = {{"id", "name", 0, 0},
               {"num_gpus", "procs", CALC_CSV_INTEGER, 1},
               {"measured_iteration_s", "measured_s", 0, 1e-6},
               {"measured_memory_gib", "measured_mem_gib", 0, 0},
               {"gpus_per_node", NULL, CALC_CSV_INTEGER, 1},
               {"layers", NULL, CALC_CSV_INTEGER, 1},
               {"hidden", NULL, CALC_CSV_INTEGER, 1},
               {"heads", NULL, CALC_CSV_INTEGER, 1},
               {"seq", NULL, CALC_CSV_INTEGER, 1},
               {"global_batch", NULL, CALC_CSV_INTEGER, 1},
               {"micro_batch", NULL, CALC_CSV_INTEGER, 1},
               {"tp", NULL, CALC_CSV_INTEGER, 1},
               {"pp", NULL, CALC_CSV_INTEGER, 1},
               {"cp", NULL, CALC_CSV_INTEGER, 1},
               {"ffn", NULL, CALC_CSV_INTEGER, 0},
               {"kv_heads", NULL, CALC_CSV_INTEGER, 0},
               {"head_dim", NULL, CALC_CSV_INTEGER, 0},
               {"vocab", NULL, CALC_CSV_INTEGER, 0},
               {"num_experts", NULL, CALC_CSV_INTEGER, 0},
               {"topk", NULL, CALC_CSV_INTEGER, 0},
               {"moe_ffn", NULL, CALC_CSV_INTEGER, 0},
               {"dp", NULL, CALC_CSV_INTEGER, 0},
               {"ep", NULL, CALC_CSV_INTEGER, 0},
               {"etp", NULL, CALC_CSV_INTEGER, 0}};

calc_status calc_runs_parse(calc_runs *out, calc_text text, const char *name,
                            calc_csv_finish finish, void *context, calc_errors *errors)
{
    calc_csv_column column[COLUMNS];
    memcpy(column, columns, sizeof column);
    for (size_t i = 0; i < COLUMNS; i++) {
        for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
            if (column[i].name && strcmp(column[i].name, special[k].name) == 0) {
                column[i].also = special[k].also;
                column[i].flags |= special[k].flags;
                column[i].lo = special[k].least;
            }
        }
    }
    const calc_csv_table table = {.column = column,
                                  .columns = COLUMNS,
                                  .row_bytes = sizeof(calc_runs_row),
                                  .finish = finish,
                                  .context = context};
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_runs){rows.item, rows.count, rows.text};
    return status == CALC_OK && rows.count == 0
               ? calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL, "it has no rows")
               : status;
}

calc_status calc_runs_read(calc_runs *out, const char *path, calc_csv_finish finish, void *context,
                           calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_runs){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_runs_parse(out, text, path, finish, context, errors) : status;
}

void calc_runs_free(calc_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        free(runs->row[i].own);
    }
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
