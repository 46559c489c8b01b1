#include "taylor/solution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char *const variables[] = {"layers", "selective", "full"};

static int *member_of(calc_balance_share *share, size_t variable, int kind)
{
    return variable == 0   ? &share->layers[kind]
           : variable == 1 ? &share->selective[kind]
                           : &share->full[kind];
}

void calc_taylor_solution_write(const calc_taylor_ask *a, const calc_balance_share *share,
                                double objective, calc_output *out)
{
    calc_output_printf(out, "objective %.15g\n", objective);
    for (size_t variable = 0; variable < sizeof variables / sizeof *variables; variable++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            for (int64_t place = 0; place < a->stages * a->chunks; place++) {
                calc_balance_share one = share[place];
                calc_output_printf(out, "%s_%d_%lld_%lld %d\n", variables[variable], kind,
                                   (long long)(place % a->stages), (long long)(place / a->stages),
                                   *member_of(&one, variable, kind));
            }
        }
    }
}

/* A variable's index in a zero-terminated text. */
typedef struct cell {
    size_t variable;
    int kind, stage, chunk, value;
} cell;

/* Reads "_<n>" from 0 to `hi`. @return the rest; NULL if it is not there */
static const char *take_index(const char *at, int hi, int *out)
{
    char *end;
    if (*at != '_' || at[1] < '0' || at[1] > '9') {
        return NULL;
    }
    long value = strtol(at + 1, &end, 10);
    *out = (int)value;
    return value <= hi ? end : NULL;
}

/* Whether a name is one of our variables. */
static bool is_cell(const char *name, cell *out)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        size_t length = strlen(variables[i]);
        if (strncmp(name, variables[i], length) == 0) {
            const char *at = take_index(name + length, CALC_BALANCE_KINDS - 1, &out->kind);
            at = at ? take_index(at, CALC_BALANCE_STAGES - 1, &out->stage) : NULL;
            at = at ? take_index(at, CALC_BALANCE_PLACES - 1, &out->chunk) : NULL;
            out->variable = i;
            return at && !*at;
        }
    }
    return false;
}

/* Reads a zero-terminated line. @return CALC_OK, with *is set if it is a cell */
static calc_status take_line(char *line, int number, const char *name, double *objective, cell *out,
                             bool *is, calc_errors *errors)
{
    char *key = line + strspn(line, " \t\r");
    char *blank = key + strcspn(key, " \t\r");
    char *value = blank + strspn(blank, " \t\r");
    char *end;
    double found = strtod(value, &end);
    *is = false;
    if (!*key || *key == '#') {
        return CALC_OK;
    }
    if (end == value || end[strspn(end, " \t\r")] != '\0') {
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, number, (int)(value - line) + 1, NULL,
                              "expected a name and its value");
    }
    *blank = '\0';
    if (strcmp(key, "objective") == 0) {
        *objective = found;
        return CALC_OK;
    }
    if (!is_cell(key, out)) {
        return CALC_OK;
    }
    if (!(found >= -0.5 && found <= CALC_BALANCE_MOST_LAYERS)) {
        return calc_errors_at(errors, CALC_ERR_RANGE, name, number, (int)(value - line) + 1, NULL,
                              "%s: expected a count from 0 to %d, found %g", key,
                              CALC_BALANCE_MOST_LAYERS, found);
    }
    out->value = (int)lround(found);
    *is = true;
    return CALC_OK;
}

/* Called once for the sizes and once for the values. @param share  NULL the first time */
static calc_status take_text(const char *text, size_t length, const char *name,
                             calc_taylor_ask *ask, calc_balance_share *share, double *objective,
                             calc_errors *errors)
{
    int number = 1;
    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - text) - at : length - at;
        char line[256];
        cell c;
        bool is;
        if (size >= sizeof line || memchr(text + at, '\0', size)) {
            return calc_errors_at(errors, CALC_ERR_SYNTAX, name, number, 0, NULL,
                                  "expected a name and its value");
        }
        snprintf(line, sizeof line, "%.*s", (int)size, text + at);
        calc_status status = take_line(line, number, name, objective, &c, &is, errors);
        if (status != CALC_OK) {
            return status;
        }
        if (is && share) {
            int64_t place = c.chunk * ask->stages + c.stage;
            *member_of(&share[place], c.variable, c.kind) = c.value;
        } else if (is) {
            ask->stages = c.stage >= ask->stages ? c.stage + 1 : ask->stages;
            ask->chunks = c.chunk >= ask->chunks ? c.chunk + 1 : ask->chunks;
            ask->layers[c.kind] += c.variable == 0 ? c.value : 0;
        }
        at += size + 1;
    }
    return CALC_OK;
}

calc_status calc_taylor_solution_parse(const char *text, size_t length, const char *name,
                                       calc_taylor_ask *ask, calc_balance_share *share,
                                       double *objective, calc_errors *errors)
{
    *ask = (calc_taylor_ask){.stages = 0};
    *objective = NAN;
    calc_status status = take_text(text, length, name, ask, NULL, objective, errors);
    if (status != CALC_OK) {
        return status;
    }
    if (ask->stages == 0 || ask->layers[0] + ask->layers[1] == 0) {
        return calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL,
                              "no layers: expected lines \"layers_1_0_0 4\"");
    }
    if (ask->stages * ask->chunks > CALC_BALANCE_PLACES) {
        return calc_errors_at(errors, CALC_ERR_RANGE, name, 0, 0, NULL,
                              "%lld stages of %lld chunks: expected at most %d together",
                              (long long)ask->stages, (long long)ask->chunks, CALC_BALANCE_PLACES);
    }
    memset(share, 0, CALC_BALANCE_PLACES * sizeof *share);
    return take_text(text, length, name, ask, share, objective, errors);
}
