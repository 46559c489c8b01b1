#include "model/serve/sim_request.h"

#include <math.h>

#include "model/operators/processor.h"

/* ---- Lists ----------------------------------------------------------------------------------- */

void calc_sim_append(calc_sim_list *l, calc_sim_request *q)
{
    q->next = NULL;
    if (l->last) {
        l->last->next = q;
    } else {
        l->first = q;
    }
    l->last = q;
}

calc_sim_request *calc_sim_take(calc_sim_list *l)
{
    calc_sim_request *q = l->first;
    l->first = q->next;
    l->last = l->first ? l->last : NULL;
    return q;
}

void calc_sim_put_before(calc_sim_list *l, calc_sim_request *q)
{
    q->next = l->first;
    l->first = q;
    l->last = l->last ? l->last : q;
}

/* Into its place by time; it is among the last ones. */
static void insert(calc_sim_list *l, calc_sim_request *q)
{
    if (!l->first || q->joins_s >= l->last->joins_s) {
        calc_sim_append(l, q);
        return;
    }
    calc_sim_request **at = &l->first;
    while ((*at)->joins_s <= q->joins_s) {
        at = &(*at)->next;
    }
    q->next = *at;
    *at = q;
}

/* ---- Servers --------------------------------------------------------------------------------- */

void calc_sim_wake(calc_sim_server *v, double at_s)
{
    for (size_t i = 0; i < v->streams && v->waiting.first; i++) {
        v->stream[i].ready_s = isinf(v->stream[i].ready_s) ? at_s : v->stream[i].ready_s;
    }
}

void calc_sim_join(calc_sim_server *to, calc_sim_request *q)
{
    insert(&to->waiting, q);
    to->queued++;
    for (size_t i = 0; i < to->streams; i++) {
        if (isinf(to->stream[i].ready_s)) {
            to->stream[i].ready_s = calc_max(q->joins_s, to->free_s);
            return;
        }
    }
}

calc_sim_request *calc_sim_admit(calc_sim_server *v, double at_s)
{
    calc_sim_request *q = calc_sim_take(&v->waiting);
    v->queued--;
    v->running++;
    if (isnan(q->first_s)) {
        q->waits_s += at_s - q->joins_s;
    }
    return q;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

void calc_sim_start_decoding(calc_sim_stream *t, calc_sim_request *q)
{
    double given = q->held > q->prompt ? q->held - q->prompt : 0; /* before it was preempted */
    q->place = t->tokens + q->generate - 1 - given;
    q->held = q->prompt + given;
    t->next = t->count > 0 ? calc_min(t->next, q->place) : q->place;
    t->contexts += q->held;
    t->count++;
    calc_sim_append(&t->decoded, q);
}

double calc_sim_context(const calc_sim_stream *t, const calc_sim_request *q)
{
    return q->prompt + q->generate - 1 - (q->place - t->tokens);
}

calc_sim_request *calc_sim_drop(calc_sim_stream *t)
{
    calc_sim_request *before = t->decoded.first;
    while (before->next != t->decoded.last) {
        before = before->next;
    }
    calc_sim_request *q = t->decoded.last;
    before->next = NULL;
    t->decoded.last = before;
    q->held = calc_sim_context(t, q);
    q->left = q->held;
    t->contexts -= q->held;
    t->count--;
    return q;
}

calc_sim_list calc_sim_give(calc_sim_stream *t, double tokens)
{
    const double rounding = 1e-6;
    calc_sim_list all = t->decoded;
    calc_sim_list over = {0};
    t->tokens += tokens;
    t->contexts += tokens * t->count;
    if (t->count == 0 || t->tokens < t->next - rounding) {
        return over;
    }
    t->decoded = (calc_sim_list){0};
    t->next = INFINITY;
    while (all.first) {
        calc_sim_request *q = calc_sim_take(&all);
        if (t->tokens < q->place - rounding) {
            t->next = calc_min(t->next, q->place);
            calc_sim_append(&t->decoded, q);
        } else {
            t->contexts -= calc_sim_context(t, q);
            t->count--;
            calc_sim_append(&over, q);
        }
    }
    return over;
}
