#include "balance/relaxed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/evaluate.h"
#include "base/make.h"
#include "model/operators/processor.h"

enum { HALVINGS = 50, BROAD = CALC_BALANCE_MOST_LAYERS + 1 };

/* Relative difference that summing in another order may cause. */
#define SAME 1e-12

typedef struct relaxed {
    calc_balance_problem each; /**< linear in layers: with what they need at least; */
    calc_balance_problem one;  /**< with one chunk per stage */
    int chunks;
    double quick_s; /**< calc_balance_quick_s() */
    double fill_s[CALC_BALANCE_STAGES];
    double *least_s; /**< [stage][layers of kind 0][of kind 1] the step at least; 0: not known */
    size_t mixes;    /**< of least_s, on a stage */
    /** Layers that recompute in full on a place of this chip, where they are alike on it. */
    int chip;
    calc_balance_range full;
    /** The most layers of kind 1 of the stages so far, by layers of kind 0; -1: not possible. */
    int reach[CALC_BALANCE_STAGES + 1][BROAD];
} relaxed;

static double saved_bytes(const calc_balance_layer *l)
{
    return l->flight_bytes[CALC_BALANCE_NONE] - l->flight_bytes[CALC_BALANCE_FULL];
}

void calc_balance_least(const calc_balance_problem *from, calc_balance_problem *p)
{
    *p = *from;
    for (int s = 0; s < p->shape.stages; s++) {
        p->stage[s].fixed_bytes = calc_balance_least_once_bytes(from, s);
        p->stage[s].whole_bytes = 0;
        memset(p->stage[s].less_bytes, 0, sizeof p->stage[s].less_bytes);
    }
    p->spread = false; /* of those alike, which are all that save most and take least */
    for (int i = 0; i < p->chips; i++) {
        calc_balance_layer *l = p->layer[i];
        double bytes = calc_max(saved_bytes(&l[0]), saved_bytes(&l[1]));
        double again_s = calc_min(l[0].again_s[CALC_BALANCE_FULL], l[1].again_s[CALC_BALANCE_FULL]);
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            l[kind].whole_bytes = 0;
            if (from->spread && p->layers[0] > 0 && p->layers[1] > 0) {
                l[kind].again_s[CALC_BALANCE_FULL] = again_s;
                l[kind].flight_bytes[CALC_BALANCE_FULL] =
                    l[kind].flight_bytes[CALC_BALANCE_NONE] - bytes;
            }
        }
    }
    for (int64_t i = 0; i < p->shape.stages * p->shape.chunks; i++) {
        calc_balance_place *at = &p->place[i];
        at->agrad_s += calc_min(0, at->again_s);
        at->flight_bytes += calc_min(0, at->again_bytes);
        at->again_s = at->again_bytes = 0;
    }
}

void calc_balance_joined(const calc_balance_problem *from, calc_balance_problem *p)
{
    *p = *from;
    p->shape.chunks = 1;
    for (int64_t i = from->shape.stages; i < from->shape.stages * from->shape.chunks; i++) {
        calc_balance_place *sum = &p->place[i % from->shape.stages];
        const calc_balance_place *at = &from->place[i];
        sum->fw_s += at->fw_s;
        sum->agrad_s += at->agrad_s;
        sum->wgrad_s += at->wgrad_s;
        sum->flight_bytes += at->flight_bytes;
    }
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

double calc_balance_through_s(const calc_balance_problem *p, int stage, int full)
{
    int least = calc_balance_least_of(p, stage);
    int again = smaller(least, full);
    double least_s = INFINITY;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const calc_balance_layer *l = &p->layer[p->stage[stage].chip][kind];
        double s = least * (l->fw_s + l->agrad_s + l->wgrad_s);
        s += again > 0 ? again * l->again_s[CALC_BALANCE_FULL] : 0;
        least_s = p->layers[kind] > 0 ? calc_min(least_s, s) : least_s;
    }
    const calc_balance_place *at = &p->place[stage];
    return at->fw_s + at->agrad_s + at->wgrad_s + least_s;
}

/* How many of the layers of a stage recompute in full if a number of them does on each of its
 * places: fewest where one place has all that the others need not have. */
static calc_balance_range again_of(const relaxed *r, int stage, int layers)
{
    const calc_balance_problem *p = &r->each;
    if (p->stage[stage].chip != r->chip) {
        return CALC_BALANCE_ANY;
    }
    int others = calc_balance_least_on(p, stage) - p->least_layers;
    int again = 0;
    for (int chunk = 0; chunk < r->chunks; chunk++) {
        int place = calc_balance_place_of(&p->shape, stage, chunk);
        again += smaller(r->full.least, calc_balance_least_of(p, place));
    }
    again -= smaller(r->full.least, p->least_layers);
    return (calc_balance_range){
        .least =
            (again > 0 ? again : 0) + smaller(r->full.least, layers - (others > 0 ? others : 0)),
        .most = r->chunks * r->full.most,
    };
}

static bool can(const relaxed *r, int stage, int dense, int moe, double step_s)
{
    const calc_balance_problem *p = &r->one;
    double *least_s =
        &r->least_s[(size_t)stage * r->mixes + (size_t)(dense * (p->layers[1] + 1) + moe)];
    if (*least_s == 0) {
        double m = (double)r->one.shape.microbatches;
        calc_balance_range full = again_of(r, stage, dense + moe);
        calc_balance_choice c = calc_balance_choose(
            p, stage, dense, moe, calc_balance_least_flight(&r->each, stage), full, 0);
        double busy_s = m * calc_schedule_pass_s(&c.pass);
        *least_s = c.fits ? (r->fill_s[stage] + busy_s) * (1 - SAME) : INFINITY;
    }
    return *least_s < INFINITY && *least_s <= step_s;
}

/* The most layers of kind 1 that a stage can take in addition to given ones of kind 0, up to
 * `most`; -1: not even 0. */
static int most_moe(const relaxed *r, int stage, int dense, int most, double step_s)
{
    int least = -1;
    while (least < most) {
        int middle = most - (most - least) / 2;
        if (can(r, stage, dense, middle, step_s)) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    return most;
}

/* Whether all layers can be processed in a step. A stage that can process some layers can also
 * process fewer. */
static bool reaches(relaxed *r, double step_s)
{
    const calc_balance_problem *p = &r->one;
    int all = p->layers[0] + p->layers[1];
    int stages = (int)p->shape.stages;
    int most = smaller(p->most_layers > 0 ? p->most_layers * r->chunks : all,
                       all - (stages - 1 - 2 * p->ends_alone) * p->least_layers * r->chunks);
    for (int i = 0; i <= p->layers[0]; i++) {
        r->reach[0][i] = i == 0 ? 0 : -1;
    }
    for (int s = 0; s < stages; s++) {
        for (int i = 0; i <= p->layers[0]; i++) {
            r->reach[s + 1][i] = -1;
        }
        int moe = smaller(most, p->layers[1]);
        for (int dense = 0; dense <= smaller(most, p->layers[0]) && moe >= 0; dense++) {
            moe = most_moe(r, s, dense, smaller(moe, most - dense), step_s);
            for (int i = dense; moe >= 0 && i <= p->layers[0]; i++) {
                int before = r->reach[s][i - dense];
                if (before >= 0 && before + moe > r->reach[s + 1][i]) {
                    r->reach[s + 1][i] = before + moe;
                }
            }
        }
    }
    return r->reach[stages][p->layers[0]] >= p->layers[1];
}

/* Layers of stages, from what they could reach. */
static void trace(const relaxed *r, double step_s, int *layers)
{
    const calc_balance_problem *p = &r->one;
    int dense_left = p->layers[0];
    int moe_left = p->layers[1];
    for (int s = (int)p->shape.stages - 1; s >= 0; s--) {
        layers[s] = 0;
        for (int dense = 0; dense <= dense_left; dense++) {
            int before = r->reach[s][dense_left - dense];
            int moe = moe_left - before > 0 ? moe_left - before : 0;
            if (before >= 0 && can(r, s, dense, moe, step_s)) {
                layers[s] = dense + moe;
                dense_left -= dense;
                moe_left -= moe;
                break;
            }
        }
    }
}

/* The bound with these numbers that recompute. @param layers  may be NULL */
static double bound_s(relaxed *r, double below_s, int *layers)
{
    const int stages = (int)r->one.shape.stages;
    memset(r->least_s, 0, (size_t)stages * r->mixes * sizeof *r->least_s);
    for (int s = 1; s < stages; s++) {
        int again = r->each.stage[s - 1].chip == r->chip ? r->full.least : 0;
        r->fill_s[s] = r->fill_s[s - 1] + calc_balance_through_s(&r->each, s - 1, again);
    }
    if (!reaches(r, below_s)) {
        return reaches(r, INFINITY) ? below_s : INFINITY;
    }
    double low_s = 0;
    double high_s = below_s;
    for (int i = 0; high_s == INFINITY; i++) {
        double tried_s = ldexp(1, 8 * (i - 8));
        high_s = reaches(r, tried_s) || i > 100 ? tried_s : INFINITY;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle_s = (low_s + high_s) / 2;
        if (reaches(r, middle_s)) {
            high_s = middle_s;
        } else {
            low_s = middle_s;
        }
    }
    if (layers) {
        reaches(r, high_s);
        trace(r, high_s, layers);
    }
    return calc_max(low_s, r->quick_s);
}

/* The bound where places of a chip recompute the same number: the least over all numbers. */
static double alike_s(relaxed *r, int chip, double below_s)
{
    const calc_balance_range any = CALC_BALANCE_ANY;
    double least_s = below_s;
    double rest_s = 0;
    r->chip = chip;
    for (int n = 0; n <= any.most && rest_s < least_s; n++) {
        r->full = (calc_balance_range){n, n};
        least_s = calc_min(least_s, bound_s(r, least_s, NULL));
        r->full = (calc_balance_range){n + 1, any.most};
        rest_s = bound_s(r, least_s, NULL);
    }
    return least_s;
}

double calc_balance_relaxed(const calc_balance_problem *problem, double below_s, int *layers)
{
    relaxed *r = calc_make(1, sizeof *r);
    r->mixes = ((size_t)problem->layers[0] + 1) * ((size_t)problem->layers[1] + 1);
    r->least_s = calc_make((size_t)problem->shape.stages * r->mixes, sizeof *r->least_s);
    r->chip = -1;
    calc_balance_least(problem, &r->each);
    calc_balance_joined(&r->each, &r->one);
    r->one.may_mix = true;
    r->chunks = (int)problem->shape.chunks;
    r->quick_s = calc_balance_quick_s(problem);
    double least_s = bound_s(r, below_s, layers);
    for (int chip = 0;
         chip < problem->chips && problem->alike_on_chip && problem->may_full && least_s < below_s;
         chip++) {
        least_s = calc_max(least_s, alike_s(r, chip, below_s));
    }
    free(r->least_s);
    free(r);
    return least_s;
}

static int all(const int *by_kind)
{
    return by_kind[0] + by_kind[1];
}

bool calc_balance_change(const calc_balance_problem *p, calc_balance_share *x, int kind,
                         calc_balance_recompute what, int by)
{
    bool in_full = what == CALC_BALANCE_FULL;
    int *count = in_full ? &x->full[kind] : &x->selective[kind];
    const int *other = in_full ? x->selective : x->full;
    if (*count + by < 0) {
        return false;
    }
    if (in_full && p->spread &&
        (kind == 0 ? x->full[1] > 0 : by > 0 && x->full[0] < x->layers[0])) {
        return false;
    }
    if (by > 0 && (x->full[kind] + x->selective[kind] + by > x->layers[kind] ||
                   !(in_full ? p->may_full : p->may_select) || (!p->may_mix && all(other) > 0))) {
        return false;
    }
    *count += by;
    return true;
}

typedef struct fitting {
    const calc_balance_problem *p;
    const calc_balance_flights *flights;
    int stage;
    calc_balance_share *share;
    bool alike; /**< the number recomputing in full is fixed */
    /** Before the changes that are tried: */
    bool again;
    double once_bytes[2]; /**< with and without full recomputation */
    double flight_bytes[CALC_BALANCE_PLACES], *row_bytes, most_bytes;
} fitting;

static bool is_again(const fitting *f)
{
    int full = 0;
    for (int place = f->stage; place < f->p->shape.stages * f->p->shape.chunks;
         place += (int)f->p->shape.stages) {
        full += all(f->share[place].full);
    }
    return full > 0;
}

static void begin(fitting *f)
{
    const calc_balance_flights *of = f->flights;
    double layers[CALC_BALANCE_KINDS] = {0, 0};
    for (int part = 0; part < of->parts; part++) {
        int place = calc_balance_place_of(&f->p->shape, f->stage, part);
        f->flight_bytes[part] = calc_balance_flight_bytes(f->p, place, &f->share[place]);
        layers[0] += f->share[place].layers[0];
        layers[1] += f->share[place].layers[1];
    }
    f->again = is_again(f);
    f->once_bytes[0] = calc_balance_once_bytes(f->p, f->stage, layers, false);
    f->once_bytes[1] = calc_balance_once_bytes(f->p, f->stage, layers, true);
    f->most_bytes = 0;
    for (int row = of->first[f->stage]; row < of->first[f->stage + 1]; row++) {
        f->row_bytes[row] = 0;
        for (int part = 0; part < of->parts; part++) {
            f->row_bytes[row] += of->live[row * of->parts + part] * f->flight_bytes[part];
        }
        f->most_bytes = calc_max(f->most_bytes, f->row_bytes[row]);
    }
}

/* What the stage needs less with the new share of a place. */
static double saved_bytes_by(const fitting *f, int place)
{
    const calc_balance_flights *of = f->flights;
    int part = place / (int)f->p->shape.stages;
    double more = calc_balance_flight_bytes(f->p, place, &f->share[place]) - f->flight_bytes[part];
    double most_bytes = 0;
    for (int row = of->first[f->stage]; row < of->first[f->stage + 1]; row++) {
        int live = of->live[row * of->parts + part];
        most_bytes = calc_max(most_bytes, f->row_bytes[row] + live * more);
    }
    return f->most_bytes - most_bytes + f->once_bytes[f->again] - f->once_bytes[is_again(f)];
}

static void reset(const fitting *f, const int *full)
{
    for (int i = 0; i < f->p->shape.chunks; i++) {
        int place = calc_balance_place_of(&f->p->shape, f->stage, i);
        calc_balance_share *x = &f->share[place];
        memset(x->selective, 0, sizeof x->selective);
        memset(x->full, 0, sizeof x->full);
        if (full != NULL) {
            int left = full[f->p->stage[f->stage].chip];
            x->full[0] = left < x->layers[0] ? left : x->layers[0];
            left -= x->full[0];
            x->full[1] = left < x->layers[1] ? left : x->layers[1];
        }
    }
}

/* A change to try: a place of the stage, a kind, and the new treatment of one of its layers. */
typedef struct change {
    int place, kind;
    calc_balance_recompute what;
} change;

static int changes(const fitting *f)
{
    return (int)f->p->shape.chunks * CALC_BALANCE_KINDS * 2;
}

static change change_of(const fitting *f, int i)
{
    return (change){
        .place = calc_balance_place_of(&f->p->shape, f->stage, i / (2 * CALC_BALANCE_KINDS)),
        .kind = i / 2 % CALC_BALANCE_KINDS,
        .what = i % 2 == 0 ? CALC_BALANCE_FULL : CALC_BALANCE_SELECTIVE,
    };
}

static bool make(const fitting *f, change c, int by)
{
    return !(f->alike && c.what == CALC_BALANCE_FULL) &&
           calc_balance_change(f->p, &f->share[c.place], c.kind, c.what, by);
}

/* Make the change that saves most memory for its time; or undo that which saves most time while all
 * fits. @return whether there is one */
static bool make_best(fitting *f, int by, double room_bytes)
{
    double most = 0;
    int best = -1;
    begin(f);
    for (int i = 0; i < changes(f); i++) {
        change c = change_of(f, i);
        double time_s = f->p->layer[f->p->stage[f->stage].chip][c.kind].again_s[c.what];
        if ((by < 0 && time_s <= most) || !make(f, c, by)) {
            continue;
        }
        double saved_bytes = saved_bytes_by(f, c.place);
        double worth = by > 0                       ? saved_bytes / calc_max(time_s, 1e-300)
                       : -saved_bytes <= room_bytes ? time_s
                                                    : 0;
        make(f, c, -by);
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best >= 0 && make(f, change_of(f, best), by);
}

double calc_balance_fit(const calc_balance_problem *p, const calc_balance_flights *flights,
                        int stage, calc_balance_share *share, const int *full)
{
    fitting f = {p, flights, stage, share, full != NULL, .row_bytes = flights->row_bytes};
    double limit_bytes = p->stage[stage].limit_bytes;
    reset(&f, full);
    double bytes = calc_balance_flights_bytes(flights, p, stage, share);
    bool is_room = bytes <= limit_bytes; /* then nothing is to be taken back */
    while (bytes > limit_bytes && make_best(&f, 1, 0)) {
        bytes = calc_balance_flights_bytes(flights, p, stage, share);
    }
    if (bytes > limit_bytes) {
        reset(&f, full);
        for (int i = 0; i < changes(&f); i++) { /* as many as there are, in full or some parts */
            while (make(&f, change_of(&f, i), 1)) {
            }
        }
        bytes = calc_balance_flights_bytes(flights, p, stage, share);
    }
    while (!is_room && bytes <= limit_bytes && make_best(&f, -1, limit_bytes - bytes)) {
        bytes = calc_balance_flights_bytes(flights, p, stage, share);
    }
    return bytes;
}
