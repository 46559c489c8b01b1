#include "balance/problem.h"

#include <math.h>

#include "model/operators/processor.h"

int calc_balance_place_of(const calc_schedule_shape *s, int stage, int chunk)
{
    return chunk * (int)s->stages + stage;
}

int calc_balance_stage_of(const calc_schedule_shape *s, int place)
{
    return place % (int)s->stages;
}

int calc_balance_least_of(const calc_balance_problem *p, int place)
{
    bool end = place == 0 || place == (int)(p->shape.stages * p->shape.chunks) - 1;
    return p->ends_alone && end ? 0 : p->least_layers;
}

int calc_balance_least_on(const calc_balance_problem *p, int stage)
{
    int sum = 0;
    for (int chunk = 0; chunk < p->shape.chunks; chunk++) {
        sum += calc_balance_least_of(p, calc_balance_place_of(&p->shape, stage, chunk));
    }
    return sum;
}

static const calc_balance_layer *layers_of(const calc_balance_problem *p, int place)
{
    return p->layer[p->stage[calc_balance_stage_of(&p->shape, place)].chip];
}

/* Layers of a kind that recompute in full. */
static double full_of(const calc_balance_problem *p, const calc_balance_share *x, int kind)
{
    double full = x->full[0] + x->full[1];
    double layers = x->layers[0] + x->layers[1];
    return p->spread && full > 0 ? full * x->layers[kind] / layers : x->full[kind];
}

calc_schedule_pass calc_balance_pass_of(const calc_balance_problem *p, int place,
                                        const calc_balance_share *share)
{
    const calc_balance_place *at = &p->place[place];
    const calc_balance_layer *layer = layers_of(p, place);
    bool again = share->full[0] + share->full[1] > 0;
    calc_schedule_pass pass = {at->fw_s, at->agrad_s + (again ? at->again_s : 0), at->wgrad_s};
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        double full = full_of(p, share, kind);
        double waits_s = again ? layer[kind].again_fw_s : 0;
        pass.fw_s += share->layers[kind] * layer[kind].fw_s + share->layers[kind] * waits_s;
        pass.bw_s += share->layers[kind] * layer[kind].agrad_s -
                     (share->layers[kind] - full) * waits_s +
                     share->selective[kind] * layer[kind].again_s[CALC_BALANCE_SELECTIVE] +
                     full * layer[kind].again_s[CALC_BALANCE_FULL];
        pass.wgrad_s += share->layers[kind] * layer[kind].wgrad_s;
    }
    return pass;
}

double calc_balance_held_bytes(const calc_balance_problem *p, int place,
                               const calc_balance_share *share)
{
    const calc_balance_layer *layer = layers_of(p, place);
    double bytes = 0;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        bytes += share->layers[kind] * layer[kind].held_bytes;
    }
    return bytes;
}

double calc_balance_once_bytes(const calc_balance_problem *p, int stage,
                               const double layers[CALC_BALANCE_KINDS], bool again)
{
    const calc_balance_stage *at = &p->stage[stage];
    const calc_balance_layer *layer = p->layer[at->chip];
    double whole =
        at->whole_bytes + layers[0] * layer[0].whole_bytes + layers[1] * layer[1].whole_bytes;
    double bytes = at->fixed_bytes + (again ? at->working_bytes : 0) +
                   whole / calc_max(1, layers[0] + layers[1]);
    bool both = layers[0] > 0 && layers[1] > 0;
    int alone = layers[0] > 0 ? 0 : layers[1] > 0 ? 1 : CALC_BALANCE_KINDS;
    return bytes - (both ? 0 : at->less_bytes[alone][again]);
}

double calc_balance_least_once_bytes(const calc_balance_problem *p, int stage)
{
    const calc_balance_stage *at = &p->stage[stage];
    bool alone = calc_balance_least_on(p, stage) == 0;
    double least = alone ? -at->less_bytes[CALC_BALANCE_KINDS][0] : INFINITY;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        double less = calc_max(at->less_bytes[kind][0], at->less_bytes[kind][1]);
        double bytes = p->layer[at->chip][kind].whole_bytes - less;
        least = p->layers[kind] > 0 ? calc_min(least, bytes) : least;
    }
    return at->fixed_bytes + least;
}

double calc_balance_flight_bytes(const calc_balance_problem *p, int place,
                                 const calc_balance_share *share)
{
    const calc_balance_layer *layer = layers_of(p, place);
    bool again = share->full[0] + share->full[1] > 0;
    double bytes = p->place[place].flight_bytes + (again ? p->place[place].again_bytes : 0);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const double *each = layer[kind].flight_bytes;
        double full = full_of(p, share, kind);
        double plain = share->layers[kind] - share->selective[kind] - full;
        bytes += plain * each[CALC_BALANCE_NONE] +
                 share->selective[kind] * each[CALC_BALANCE_SELECTIVE] +
                 full * each[CALC_BALANCE_FULL];
    }
    return bytes;
}

double calc_balance_stage_bytes(const calc_balance_problem *p, int stage, double flight,
                                const calc_balance_share *share)
{
    const double layers[] = {share->layers[0], share->layers[1]};
    bool again = share->full[0] + share->full[1] > 0;
    return calc_balance_once_bytes(p, stage, layers, again) +
           calc_balance_held_bytes(p, stage, share) +
           flight * calc_balance_flight_bytes(p, stage, share);
}

typedef struct chooser {
    const calc_balance_problem *p;
    int stage;
    double flight, limit_bytes;
    calc_balance_choice best;
    bool any;
} chooser;

static bool fits(const chooser *c, const calc_balance_share *x)
{
    return calc_balance_stage_bytes(c->p, c->stage, c->flight, x) <= c->limit_bytes;
}

static void note(chooser *c, const calc_balance_share *x)
{
    calc_balance_choice got = {
        .share = *x,
        .pass = calc_balance_pass_of(c->p, c->stage, x),
        .bytes = calc_balance_stage_bytes(c->p, c->stage, c->flight, x),
    };
    got.fits = got.bytes <= c->limit_bytes;
    bool better = !c->any;
    if (c->any && got.fits != c->best.fits) {
        better = got.fits;
    } else if (c->any && got.fits && got.pass.bw_s != c->best.pass.bw_s) {
        better = got.pass.bw_s < c->best.pass.bw_s;
    } else if (c->any) {
        better = got.bytes < c->best.bytes;
    }
    if (better) {
        c->best = got;
        c->any = true;
    }
}

/* The least count from 0 to most with which the share fits; most if none does. More recomputing
 * layers need less memory, except that the first one may need working memory. */
static void least_that_fits(const chooser *c, calc_balance_share *x, int *count, int most)
{
    *count = 0;
    if (most == 0 || fits(c, x)) {
        return;
    }
    int low = 1;
    int high = most;
    while (low < high) {
        *count = low + (high - low) / 2;
        if (fits(c, x)) {
            high = *count;
        } else {
            low = *count + 1;
        }
    }
    *count = low;
}

/* With so many layers in full, the fewest others with some parts. */
static bool select_some(chooser *c, calc_balance_share x)
{
    bool none = !c->p->may_select || (!c->p->may_mix && x.full[0] + x.full[1] > 0);
    int most[CALC_BALANCE_KINDS];
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        most[kind] = none ? 0 : x.layers[kind] - x.full[kind];
    }
    bool plain_fits = fits(c, &x);
    for (int first = 0; first <= most[0]; first++) {
        x.selective[0] = first;
        least_that_fits(c, &x, &x.selective[1], most[1]);
        note(c, &x);
        if (x.selective[1] == 0 && fits(c, &x)) {
            break;
        }
    }
    return plain_fits;
}

static int within(int x, int least, int most)
{
    int up = x > least ? x : least;
    return up < most ? up : most;
}

calc_balance_choice calc_balance_choose(const calc_balance_problem *p, int stage, int dense,
                                        int moe, double flight, calc_balance_range full,
                                        double more_bytes)
{
    chooser c = {
        .p = p,
        .stage = stage,
        .flight = flight,
        .limit_bytes = p->stage[stage].limit_bytes + more_bytes,
    };
    int layers = dense + moe;
    int least = p->may_full ? within(full.least, 0, layers) : 0;
    int most = p->may_full ? within(full.most, 0, layers) : 0;
    calc_balance_share x = {.layers = {dense, moe}};
    for (x.full[0] = 0; x.full[0] <= within(dense, 0, most); x.full[0]++) {
        int from = within(least - x.full[0], 0, layers);
        int to = p->spread && x.full[0] < dense ? 0 : within(most - x.full[0], 0, moe);
        for (x.full[1] = from; x.full[1] <= to; x.full[1]++) {
            if (select_some(&c, x)) {
                break; /* more would only take longer */
            }
        }
    }
    return c.best;
}
