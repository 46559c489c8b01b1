#include "balance/solve.h"

#include <stdlib.h>
#include <string.h>

enum { EVALUATIONS = 20000 };

typedef struct search {
    const calc_balance_problem *p;
    int places;
    int64_t left;
    calc_balance_solution *best;
    calc_balance_share share[CALC_BALANCE_PLACES];
    int layers[CALC_BALANCE_PLACES], full[CALC_BALANCE_PLACES], selective[CALC_BALANCE_PLACES];
} search;

/* Kind 0 first along the model; what is computed again begins with it, too. */
static void lay(search *s)
{
    int of_kind_0 = s->p->layers[0];
    for (int i = 0; i < s->places; i++) {
        calc_balance_share *x = &s->share[i];
        memset(x, 0, sizeof *x);
        x->layers[0] = s->layers[i] < of_kind_0 ? s->layers[i] : of_kind_0;
        of_kind_0 -= x->layers[0];
        x->layers[1] = s->layers[i] - x->layers[0];
        x->full[0] = s->full[i] < x->layers[0] ? s->full[i] : x->layers[0];
        x->full[1] = s->full[i] - x->full[0];
        int rest = x->layers[0] - x->full[0];
        x->selective[0] = s->selective[i] < rest ? s->selective[i] : rest;
        x->selective[1] = s->selective[i] - x->selective[0];
    }
}

static bool allowed(const search *s, int i)
{
    const calc_balance_problem *p = s->p;
    int most = p->most_layers > 0 ? p->most_layers : CALC_BALANCE_MOST_LAYERS;
    return s->layers[i] >= p->least_layers && s->layers[i] <= most && s->full[i] >= 0 &&
           s->selective[i] >= 0 && s->full[i] + s->selective[i] <= s->layers[i] &&
           (p->may_full || s->full[i] == 0) && (p->may_select || s->selective[i] == 0) &&
           (p->may_mix || s->full[i] == 0 || s->selective[i] == 0);
}

/* Whether a is better: fits better, or is shorter. */
static bool better(const calc_balance_answer *a, const calc_balance_answer *b)
{
    if (a->lacks_bytes != b->lacks_bytes) {
        return a->lacks_bytes < b->lacks_bytes;
    }
    return a->step_s != b->step_s ? a->step_s < b->step_s : a->most_bytes < b->most_bytes;
}

/* Whether the division as it stands is the best so far. */
static bool take(search *s)
{
    calc_balance_answer answer;
    if (s->left-- <= 0) {
        return false;
    }
    lay(s);
    if (calc_balance_evaluate(s->p, s->share, &answer) != CALC_OK ||
        (s->best->evaluations++ > 0 && !better(&answer, &s->best->answer))) {
        return false;
    }
    s->best->answer = answer;
    memcpy(s->best->share, s->share, sizeof s->share);
    return true;
}

static bool recompute(search *s, int i, int full, int selective)
{
    s->full[i] += full;
    s->selective[i] += selective;
    if (allowed(s, i) && take(s)) {
        return true;
    }
    s->full[i] -= full;
    s->selective[i] -= selective;
    return false;
}

static bool shift(search *s, int from, int to)
{
    int full = s->full[from];
    int selective = s->selective[from];
    s->layers[from]--;
    s->layers[to]++;
    if (s->full[from] > 0 && s->full[from] + selective > s->layers[from]) {
        s->full[from]--;
    } else if (s->full[from] + selective > s->layers[from]) {
        s->selective[from]--;
    }
    for (int again = 0; again < 2; again++) {
        s->full[to] += again;
        if (allowed(s, from) && allowed(s, to) && take(s)) {
            return true;
        }
        s->full[to] -= again;
    }
    s->layers[from]++;
    s->layers[to]--;
    s->full[from] = full;
    s->selective[from] = selective;
    return false;
}

static bool improve(search *s)
{
    for (int i = 0; i < s->places; i++) {
        if (recompute(s, i, -1, 0) || recompute(s, i, 0, -1) || recompute(s, i, 1, 0) ||
            recompute(s, i, 0, 1) || recompute(s, i, -1, 1) || recompute(s, i, 1, -1)) {
            return true;
        }
        for (int j = 0; j < s->places; j++) {
            if (i != j && shift(s, i, j)) {
                return true;
            }
        }
    }
    return false;
}

calc_status calc_balance_solve(const calc_balance_problem *p, const calc_balance_options *options,
                               calc_balance_solution *out)
{
    if (calc_schedule_check(&p->shape) != CALC_SCHEDULE_OK) {
        return CALC_ERR_RULE;
    }
    search *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CALC_ERR_NOMEM;
    }
    memset(out, 0, sizeof *out);
    s->p = p;
    s->best = out;
    s->left = options->evaluations > 0 ? options->evaluations : EVALUATIONS;
    s->places = (int)(p->shape.stages * p->shape.chunks);
    int layers = p->layers[0] + p->layers[1];
    for (int i = 0; i < s->places; i++) {
        s->layers[i] = layers / s->places + (i < layers % s->places);
        s->full[i] = p->may_full ? s->layers[i] : 0;
    }
    take(s);
    while (improve(s)) {
    }
    out->feasible = out->answer.fits;
    out->stage = out->feasible ? -1 : out->answer.worst_stage;
    out->needs_bytes = out->feasible ? 0 : out->answer.peak_bytes[out->answer.worst_stage];
    free(s);
    return CALC_OK;
}
