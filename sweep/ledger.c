#include "ledger.h"

#include <stdlib.h>

#include "base/buffer.h"

/* A silent rank is lost after so many times its longest silence, and this. */
static const double times = 8, least_s = 2;

calc_status calc_ledger_create(calc_ledger *out, size_t ranks, double now_s)
{
    *out = (calc_ledger){.ranks = ranks, .total = UINT64_MAX};
    out->rank = calloc(ranks, sizeof *out->rank);
    for (size_t r = 0; out->rank && r < ranks; r++) {
        out->rank[r].heard_s = now_s;
    }
    return out->rank ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_ledger_free(calc_ledger *l)
{
    for (size_t r = 0; l->rank && r < l->ranks; r++) {
        free(l->rank[r].open);
    }
    free(l->rank);
    free(l->again);
    *l = (calc_ledger){0};
}

void calc_ledger_hear(calc_ledger *l, size_t rank, double now_s)
{
    calc_ledger_rank *r = &l->rank[rank];
    double silent_s = now_s - r->heard_s;
    if (r->working && !r->lost && silent_s > r->longest_s) {
        r->longest_s = silent_s;
    }
    r->heard_s = now_s;
}

bool calc_ledger_is_silent(const calc_ledger *l, size_t rank, double now_s)
{
    double longest_s = l->rank[rank].longest_s;
    for (size_t r = 0; r < l->ranks && l->rank[rank].longest_s == 0; r++) {
        longest_s = l->rank[r].longest_s > longest_s ? l->rank[r].longest_s : longest_s;
    }
    return now_s - l->rank[rank].heard_s > least_s + times * longest_s;
}

calc_ledger_order calc_ledger_order_of(calc_ledger *l, size_t rank, double now_s)
{
    calc_ledger_rank *r = &l->rank[rank];
    bool open = false;
    for (size_t i = 0; i < l->ranks; i++) {
        open = open || l->rank[i].working;
    }
    calc_ledger_hear(l, rank, now_s);
    if (l->stopped) {
        return CALC_LEDGER_END;
    }
    r->again = l->next >= l->total;
    if (!r->again || l->left > 0) {
        r->working = true;
        r->lost = false;
        r->least = 0;
        return CALC_LEDGER_ROUND;
    }
    return open ? CALC_LEDGER_WAIT : CALC_LEDGER_END;
}

/* Insert a chunk into an ascending list. @return whether there was memory */
static bool insert(uint64_t **list, size_t *count, size_t *capacity, uint64_t chunk)
{
    uint64_t *grown = calc_grown(*list, *count, capacity, sizeof *grown);
    if (!grown) {
        return false;
    }
    *list = grown;
    size_t at = (*count)++;
    for (; at > 0 && grown[at - 1] > chunk; at--) {
        grown[at] = grown[at - 1];
    }
    grown[at] = chunk;
    return true;
}

/* Take the first chunk, not below the least of the rank, from those to do again. */
static uint64_t take_again(calc_ledger *l, const calc_ledger_rank *r)
{
    size_t at = 0;
    while (at < l->left && l->again[at] < r->least) {
        at++;
    }
    if (at == l->left) {
        return UINT64_MAX;
    }
    uint64_t chunk = l->again[at];
    l->left--;
    for (; at < l->left; at++) {
        l->again[at] = l->again[at + 1];
    }
    return chunk;
}

calc_status calc_ledger_take(calc_ledger *l, size_t rank, double now_s, uint64_t *chunk)
{
    calc_ledger_rank *r = &l->rank[rank];
    calc_ledger_hear(l, rank, now_s);
    *chunk = UINT64_MAX;
    if (r->lost || !r->working || l->stopped) {
        return CALC_OK;
    }
    if (r->again) {
        *chunk = take_again(l, r);
    } else if (l->next < l->total) {
        *chunk = l->next++;
    }
    r->least = *chunk == UINT64_MAX ? r->least : *chunk + 1;
    bool fine = *chunk == UINT64_MAX || insert(&r->open, &r->count, &r->capacity, *chunk);
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}

bool calc_ledger_report(calc_ledger *l, size_t rank, double now_s, uint64_t chunk)
{
    calc_ledger_rank *r = &l->rank[rank];
    size_t done = 0;
    calc_ledger_hear(l, rank, now_s);
    if (r->lost) {
        return false;
    }
    while (done < r->count && r->open[done] <= chunk) {
        done++;
    }
    r->count -= done;
    for (size_t i = 0; i < r->count; i++) {
        r->open[i] = r->open[i + done];
    }
    return true;
}

bool calc_ledger_finish(calc_ledger *l, size_t rank, double now_s, uint64_t total)
{
    calc_ledger_rank *r = &l->rank[rank];
    bool welcome = calc_ledger_report(l, rank, now_s, UINT64_MAX);
    r->working = false;
    r->lost = false;
    l->total = total < l->total ? total : l->total;
    while (l->left > 0 && l->again[l->left - 1] >= l->total) {
        l->left--; /* chunks that there are not */
    }
    return welcome;
}

calc_status calc_ledger_give_up(calc_ledger *l, size_t rank)
{
    calc_ledger_rank *r = &l->rank[rank];
    bool fine = true;
    for (size_t i = 0; i < r->count && fine; i++) {
        fine = r->open[i] >= l->total || insert(&l->again, &l->left, &l->capacity, r->open[i]);
    }
    r->count = 0;
    r->working = false;
    r->lost = true;
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}
