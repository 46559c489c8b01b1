#include "balance/mps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    calc_mps_write write;
    void *context;
    bool stopped;
} text;

CALC_PRINTF(2, 3) static void put(text *t, const char *fmt, ...)
{
    char line[160];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    t->stopped = t->stopped || !t->write(t->context, line, (size_t)length);
}

/* ---- Numbers ----------------------------------------------------------------------------------*/

/* "-0.5" as "-.5": a digit more. */
static void drop_zero(char *number)
{
    char *zero = number + (*number == '-');
    if (zero[0] == '0' && zero[1] == '.') {
        memmove(zero, zero + 1, strlen(zero));
    }
}

char *calc_mps_number(double value, char out[CALC_MPS_NUMBER_SIZE])
{
    char number[40];
    for (int digits = 17; digits > 0; digits--) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        drop_zero(number);
        if (strlen(number) < CALC_MPS_NUMBER_SIZE) {
            break;
        }
    }
    memcpy(out, number, CALC_MPS_NUMBER_SIZE - 1);
    out[CALC_MPS_NUMBER_SIZE - 1] = '\0';
    return out;
}

/* ---- Sections ---------------------------------------------------------------------------------*/

static void put_rows(text *t, const calc_milp *milp)
{
    static const char sense[] = {
        [CALC_MILP_LESS] = 'L', [CALC_MILP_EQUAL] = 'E', [CALC_MILP_MORE] = 'G'};
    char name[CALC_MILP_NAME_SIZE];
    put(t, "ROWS\n N  OBJ\n");
    for (size_t row = 0; row < milp->rows; row++) {
        put(t, " %c  %s\n", sense[milp->row[row].sense], calc_milp_row_name(row, name));
    }
}

static void put_value(text *t, const char *set, const char *name, double value)
{
    char number[CALC_MPS_NUMBER_SIZE];
    put(t, "    %-8s  %-8s  %12s\n", set, name, calc_mps_number(value, number));
}

static void put_marker(text *t, size_t column, bool begins)
{
    put(t, "    M%06zu   'MARKER'                 '%s'\n", column, begins ? "INTORG" : "INTEND");
}

/* Places of terms by column: those of a column are from first[column] to first[column + 1]. */
static void sort_terms(const calc_milp *milp, size_t *first, size_t *sorted)
{
    for (size_t i = 0; i < milp->terms; i++) {
        first[milp->term[i].column + 2]++;
    }
    for (size_t column = 2; column < milp->columns + 2; column++) {
        first[column] += first[column - 1];
    }
    for (size_t i = 0; i < milp->terms; i++) {
        sorted[first[milp->term[i].column + 1]++] = i;
    }
}

static void put_columns(text *t, const calc_milp *milp, const size_t *first, const size_t *sorted)
{
    char name[CALC_MILP_NAME_SIZE];
    char row[CALC_MILP_NAME_SIZE];
    bool integer = false;
    put(t, "COLUMNS\n");
    for (size_t column = 0; column < milp->columns && !t->stopped; column++) {
        const calc_milp_column *c = &milp->column[column];
        if (c->integer != integer) {
            put_marker(t, column, c->integer);
            integer = c->integer;
        }
        calc_milp_column_name(column, name);
        if (c->cost != 0 || first[column] == first[column + 1]) {
            put_value(t, name, "OBJ", c->cost);
        }
        for (size_t i = first[column]; i < first[column + 1]; i++) {
            const calc_milp_term *term = &milp->term[sorted[i]];
            put_value(t, name, calc_milp_row_name((size_t)term->row, row), term->factor);
        }
    }
    if (integer) {
        put_marker(t, milp->columns, false);
    }
}

static void put_bounds(text *t, const calc_milp *milp)
{
    char name[CALC_MILP_NAME_SIZE];
    char number[CALC_MPS_NUMBER_SIZE];
    put(t, "RHS\n");
    for (size_t row = 0; row < milp->rows; row++) {
        if (milp->row[row].bound != 0) {
            put_value(t, "RHS", calc_milp_row_name(row, name), milp->row[row].bound);
        }
    }
    put(t, "BOUNDS\n");
    for (size_t column = 0; column < milp->columns; column++) {
        const calc_milp_column *c = &milp->column[column];
        calc_milp_column_name(column, name);
        if (c->lower != 0) {
            put(t, " LO BND       %-8s  %12s\n", name, calc_mps_number(c->lower, number));
        }
        put(t, " UP BND       %-8s  %12s\n", name, calc_mps_number(c->upper, number));
    }
}

calc_status calc_mps_program(const calc_milp *milp, calc_mps_write write, void *context)
{
    text t = {write, context, false};
    size_t *first = calloc(milp->columns + 2, sizeof *first);
    size_t *sorted = malloc((milp->terms + 1) * sizeof *sorted);
    bool fine = first && sorted;
    if (fine) {
        sort_terms(milp, first, sorted);
        put(&t, "NAME          CALC\n");
        put_rows(&t, milp);
        put_columns(&t, milp, first, sorted);
        put_bounds(&t, milp);
        put(&t, "ENDATA\n");
    }
    free(first);
    free(sorted);
    return !fine ? CALC_ERR_NOMEM : t.stopped ? CALC_ERR_IO : CALC_OK;
}

/* ---- Names ------------------------------------------------------------------------------------*/

static void put_index(text *t, int index, const char *end)
{
    if (index >= 0) {
        put(t, "%d", index);
    }
    put(t, "%s", end);
}

calc_status calc_mps_names(const calc_milp *milp, calc_mps_write write, void *context)
{
    text t = {write, context, false};
    char name[CALC_MILP_NAME_SIZE];
    put(&t, "name,variable,stage,chunk,microbatch\n");
    for (size_t column = 0; column < milp->columns && !t.stopped; column++) {
        const calc_milp_column *c = &milp->column[column];
        put(&t, "%s,%s%s", calc_milp_column_name(column, name), calc_milp_what_names[c->what],
            c->kind >= 0 ? "_" : "");
        put_index(&t, c->kind, ",");
        put_index(&t, c->stage, ",");
        put_index(&t, c->chunk, ",");
        put_index(&t, c->microbatch, "\n");
    }
    return t.stopped ? CALC_ERR_IO : CALC_OK;
}
