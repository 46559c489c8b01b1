#include "validate/peers.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "validate/result_labels.h"

/* One row of the file. */
typedef struct entry {
    const char *simulator, *machine, *runs, *note;
    calc_quantity quantity;
    double rows, error_percent, worst_percent; /* NaN: blank */
} entry;

#define TEXT(member)                                                                               \
    {                                                                                              \
        .name = #member, CALC_CSV_MEMBER(entry, member)                                            \
    }
#define NUMBER(member) .name = #member, CALC_CSV_MEMBER(entry, member), .flags = CALC_CSV_BLANK

static const calc_csv_column columns[] = {
    TEXT(simulator),
    TEXT(machine),
    {.name = "quantity", CALC_CSV_MEMBER(entry, quantity), .words = calc_quantity_words},
    TEXT(runs),
    {NUMBER(rows), .hi = 1e9},
    {NUMBER(error_percent)},
    {NUMBER(worst_percent)},
    TEXT(note)};

static const calc_csv_table table = CALC_CSV_TABLE(columns, entry, NULL);

static bool is_of(const entry *e, const calc_peer *p)
{
    return strcmp(p->simulator, e->simulator) == 0 && strcmp(p->machine, e->machine) == 0 &&
           p->quantity == e->quantity;
}

/* The peer that a row belongs to, which may be new; there is room for it. */
static calc_peer *peer_of(calc_peers *peers, const entry *e)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (is_of(e, &peers->item[i])) {
            return &peers->item[i];
        }
    }
    calc_peer *p = &peers->item[peers->count++];
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
    double error = fabs(e->error_percent) / 100;
    size_t rows = e->rows > 0 ? (size_t)e->rows : 0;
    double before = p->rows > 0 ? p->mean_abs * (double)p->rows : 0;
    p->rows += rows;
    p->mean_abs = rows > 0 ? (before + error * (double)rows) / (double)p->rows : error;
    p->worst_abs = fmax(p->worst_abs, rows == 1 ? error : fabs(e->worst_percent) / 100);
    p->note = e->note;
    p->listed += *e->runs ? rows : 0;
}

static bool is_measured(const calc_results *results, calc_quantity quantity)
{
    bool any = false;
    for (size_t i = 0; i < results->count && !any; i++) {
        any = results->item[i].quantity == quantity;
    }
    return any;
}

/* calc's errors on the runs that the rows of a peer name; `error` has room for all results. */
static calc_spread find_ours(const calc_results *results, const calc_peer *p, const entry *e,
                             size_t entries, double *error)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        bool found = false;
        for (size_t k = 0; k < entries && !found && r->quantity == p->quantity; k++) {
            found = *e[k].runs && is_of(&e[k], p) && fnmatch(e[k].runs, calc_result_id(r), 0) == 0;
        }
        if (found && isfinite(r->error)) {
            error[count++] = r->error;
        }
    }
    return calc_spread_of(error, count);
}

calc_status calc_peers_read(calc_peers *out, const char *path, const calc_results *results,
                            calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    const entry *entries = rows.item;
    double *error = calloc(results->count + 1, sizeof *error);
    *out = (calc_peers){.item = calloc(rows.count + 1, sizeof *out->item), .text = rows.text};
    if (status == CALC_OK && (!error || !out->item)) {
        status = calc_errors_no_memory(errors);
    }
    for (size_t i = 0; status == CALC_OK && i < rows.count; i++) {
        if (is_measured(results, entries[i].quantity)) {
            add(peer_of(out, &entries[i]), &entries[i]);
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        out->item[i].ours = find_ours(results, &out->item[i], entries, rows.count, error);
    }
    free(rows.item);
    free(error);
    return status;
}

void calc_peers_free(calc_peers *peers)
{
    free(peers->item);
    calc_text_free(&peers->text);
    *peers = (calc_peers){0};
}
