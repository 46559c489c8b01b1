#include "validate/peers.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_read.h"

enum { SIMULATOR, MACHINE, QUANTITY, RUNS, ROWS, ERROR, WORST, NOTE, CELLS };

/* One row of the file. */
typedef struct entry {
    const char *simulator, *machine, *runs, *note;
    calc_quantity quantity;
    double rows, error, worst; /* NaN: blank; errors are fractions */
} entry;

/* A file being read: the errors of calc on the runs of each peer, as they are found. */
typedef struct reading {
    calc_peers *out;
    const calc_results *results;
    calc_csv_reader csv;
    double *error; /* of the runs of one peer */
} reading;

static bool parse_number(const char *text, double *out)
{
    char *end;
    *out = (double)NAN;
    if (*text == '\0') {
        return true;
    }
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

/* @return what is wrong with a row; NULL: nothing */
static const char *parse(char *const *cell, int count, entry *out)
{
    if (count != CELLS) {
        return "a peer has 8 cells: simulator, machine, quantity, runs, rows, error_percent, "
               "worst_percent, note";
    }
    bool time = strcmp(cell[QUANTITY], "step_time") == 0;
    if (!time && strcmp(cell[QUANTITY], "memory") != 0) {
        return "the third cell must be step_time or memory";
    }
    *out = (entry){.simulator = cell[SIMULATOR],
                   .machine = cell[MACHINE],
                   .runs = cell[RUNS],
                   .note = cell[NOTE],
                   .quantity = time ? CALC_QUANTITY_STEP_TIME : CALC_QUANTITY_MEMORY};
    bool fine = parse_number(cell[ROWS], &out->rows) && parse_number(cell[ERROR], &out->error) &&
                parse_number(cell[WORST], &out->worst);
    out->error = fabs(out->error) / 100;
    out->worst = fabs(out->worst) / 100;
    return fine ? NULL : "rows, error_percent and worst_percent must be numbers or blank";
}

/* The peer that a row belongs to, which may be new; NULL without memory. */
static calc_peer *peer_of(calc_peers *peers, const entry *e)
{
    for (size_t i = 0; i < peers->count; i++) {
        calc_peer *p = &peers->item[i];
        if (strcmp(p->simulator, e->simulator) == 0 && strcmp(p->machine, e->machine) == 0 &&
            p->quantity == e->quantity) {
            return p;
        }
    }
    calc_peer *grown = realloc(peers->item, (peers->count + 1) * sizeof *grown);
    if (!grown) {
        return NULL;
    }
    peers->item = grown;
    calc_peer *p = &grown[peers->count++];
    *p = (calc_peer){.simulator = e->simulator,
                     .machine = e->machine,
                     .quantity = e->quantity,
                     .mean_abs = (double)NAN,
                     .worst_abs = (double)NAN};
    return p;
}

/* Single rows give their worst; an average alone does not. */
static void add(calc_peer *p, const entry *e)
{
    size_t rows = e->rows > 0 ? (size_t)e->rows : 0;
    double before = p->rows > 0 ? p->mean_abs * (double)p->rows : 0;
    p->rows += rows;
    p->mean_abs = rows > 0 ? (before + e->error * (double)rows) / (double)p->rows : e->error;
    p->worst_abs = fmax(p->worst_abs, rows == 1 ? e->error : e->worst);
    p->note = e->note;
    p->listed += *e->runs ? rows : 0;
}

/* calc's errors on the runs that the rows of a peer name. */
static size_t find_ours(const reading *r, const calc_peer *p, const entry *e, size_t entries)
{
    size_t count = 0;
    for (size_t i = 0; i < r->results->count; i++) {
        const calc_result *result = &r->results->item[i];
        bool found = false;
        for (size_t k = 0; k < entries && !found && result->quantity == p->quantity; k++) {
            found = *e[k].runs && strcmp(e[k].simulator, p->simulator) == 0 &&
                    strcmp(e[k].machine, p->machine) == 0 && e[k].quantity == p->quantity &&
                    fnmatch(e[k].runs, result->prediction->map.row->id, 0) == 0;
        }
        if (found && isfinite(result->error)) {
            r->error[count++] = result->error;
        }
    }
    return count;
}

static calc_status read_entries(reading *r, entry **out, size_t *entries, calc_errors *errors)
{
    char *cell[CELLS];
    int line, count;
    bool head = true;
    while ((count = calc_csv_read_row(&r->csv, cell, CELLS, &line, errors)) > 0) {
        entry one;
        const char *wrong = head ? NULL : parse(cell, count, &one);
        if (wrong) {
            return calc_csv_read_fail(&r->csv, line, CALC_ERR_FIELD, errors, NULL, "%s", wrong);
        }
        if (!head) {
            entry *grown = realloc(*out, (*entries + 1) * sizeof *grown);
            calc_peer *peer = grown ? peer_of(r->out, &one) : NULL;
            *out = grown ? grown : *out;
            if (!peer) {
                return calc_csv_read_fail(&r->csv, line, CALC_ERR_NOMEM, errors, NULL, "%s",
                                          calc_status_text(CALC_ERR_NOMEM));
            }
            add(peer, &one);
            grown[(*entries)++] = one;
        }
        head = false;
    }
    return count < 0 ? CALC_ERR_SYNTAX : CALC_OK;
}

calc_status calc_peers_read(calc_peers *out, const char *path, const calc_results *results,
                            calc_errors *errors)
{
    *out = (calc_peers){0};
    calc_status status = calc_text_read(&out->text, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    reading r = {.out = out, .results = results};
    calc_csv_read_start(&r.csv, out->text.data, out->text.length, path);
    r.error = calloc(results->count + 1, sizeof *r.error);
    entry *entries = NULL;
    size_t count = 0;
    status = r.error ? read_entries(&r, &entries, &count, errors) : CALC_ERR_NOMEM;
    for (size_t i = 0; status == CALC_OK && i < out->count; i++) {
        size_t ours = find_ours(&r, &out->item[i], entries, count);
        out->item[i].ours = calc_spread_of(r.error, ours);
    }
    free(entries);
    free(r.error);
    return status;
}

void calc_peers_free(calc_peers *peers)
{
    free(peers->item);
    calc_text_free(&peers->text);
    *peers = (calc_peers){0};
}
