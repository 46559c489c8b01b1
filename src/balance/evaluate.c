#include "balance/evaluate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/make.h"
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

/* Memory that a stage with one chunk needs. @param flight  micro-batches in flight at most */
static double calc_balance_stage_bytes(const calc_balance_problem *p, int stage, double flight,
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

calc_balance_parts calc_balance_parts_of(const calc_schedule_shape *s, bool less_memory)
{
    bool many = s->microbatches >= s->stages;
    return (calc_balance_parts){
        .stages = s->stages,
        .chunks = s->chunks,
        .microbatches = s->microbatches,
        .first = many ? s->stages + s->microbatches % s->stages : s->microbatches,
        .slack = less_memory || s->chunks == 1 ? 1 : 2,
    };
}

calc_balance_turn calc_balance_forward(const calc_balance_parts *p, int64_t k)
{
    int64_t before = 0; /* micro-batches of the parts before */
    int64_t size = p->first;
    if (k >= p->first * p->chunks) {
        k -= p->first * p->chunks;
        before = p->first + k / (p->stages * p->chunks) * p->stages;
        k %= p->stages * p->chunks;
        size = p->stages;
    }
    return (calc_balance_turn){.chunk = k / size, .microbatch = before + k % size};
}

calc_balance_turn calc_balance_backward(const calc_balance_parts *p, int64_t k)
{
    calc_balance_turn t = calc_balance_forward(p, k); /* the same but for the order of chunks */
    t.chunk = p->chunks - 1 - t.chunk;
    return t;
}

int64_t calc_balance_warm_up(const calc_balance_parts *p, int64_t stage)
{
    int64_t passes = p->chunks * p->microbatches;
    int64_t warm_up = (p->chunks - 1) * p->first + p->slack * (p->stages - 1 - stage);
    return warm_up < passes ? warm_up : passes;
}

size_t calc_balance_passes(const calc_balance_parts *p)
{
    return 2 * (size_t)(p->stages * p->chunks * p->microbatches);
}

typedef struct worker {
    int64_t warm_up, fw, bw; /**< done */
    int last;                /**< the pass done last; -1: none */
} worker;

/* The next forward or backward of a stage; false if its input is not there yet.
 * @param at  [backward][place][micro-batch] the index of a pass; -1: not done
 * @param to  the next index */
static bool step(const calc_balance_parts *p, worker *w, int64_t stage, int *at,
                 calc_balance_pass *pass, int to)
{
    int64_t passes = p->chunks * p->microbatches;
    bool forward = w->fw < passes && w->fw <= w->bw + w->warm_up;
    calc_balance_turn t =
        forward ? calc_balance_forward(p, w->fw) : calc_balance_backward(p, w->bw);
    int64_t place = t.chunk * p->stages + stage;
    int64_t last = p->stages * p->chunks - 1;
    int *here = at + (forward ? 0 : p->stages * passes) + place * p->microbatches + t.microbatch;
    bool first = forward && place == 0;
    const int *input = forward        ? here - p->microbatches
                       : place < last ? here + p->microbatches
                                      : here - p->stages * passes;
    if (!first && *input < 0) {
        return false;
    }
    pass[to] = (calc_balance_pass){(int)(2 * place) + !forward, w->last, first ? -1 : *input};
    *here = w->last = to;
    w->fw += forward;
    w->bw += !forward;
    return true;
}

void calc_balance_passes_of(const calc_balance_parts *p, calc_balance_pass *pass, int *room)
{
    worker workers[CALC_BALANCE_STAGES];
    int done = 0;
    memset(room, -1, calc_balance_passes(p) * sizeof *room);
    for (int64_t s = 0; s < p->stages; s++) {
        workers[s] = (worker){.warm_up = calc_balance_warm_up(p, s), .last = -1};
    }
    /* A waiting stage waits for a neighbour along the model. */
    for (int before = -1; before < done;) {
        before = done;
        for (int64_t s = 0; s < p->stages; s++) {
            while (workers[s].bw < p->chunks * p->microbatches &&
                   step(p, &workers[s], s, room, pass, done)) {
                done++;
            }
        }
    }
}

double calc_balance_passes_s(const calc_balance_pass *pass, size_t passes, const double *take_s,
                             double *end_s)
{
    double last_s = 0;
    for (size_t i = 0; i < passes; i++) {
        const calc_balance_pass *x = &pass[i];
        double stage_s = x->before < 0 ? 0 : end_s[x->before];
        double input_s = x->input < 0 ? 0 : end_s[x->input];
        end_s[i] = calc_max(stage_s, input_s) + take_s[x->what];
        last_s = calc_max(last_s, end_s[i]);
    }
    return last_s;
}

CALC_FREES(calc_balance_room_end, calc_balance_room, of->bytes, of->pass[0], of->pass[1])

/* ---- Rows -------------------------------------------------------------------------------------*/

typedef struct walker {
    calc_balance_flights *out;
    int rows, first; /**< rows of all stages; the first of this one */
    size_t room;
    int now[CALC_BALANCE_PLACES];
} walker;

/* Whether none of these counts is above its counterpart. */
static bool no_more(const int *a, const int *b, int parts)
{
    for (int i = 0; i < parts; i++) {
        if (a[i] > b[i]) {
            return false;
        }
    }
    return true;
}

/* A forward begins. */
static void enter(walker *w, int64_t part)
{
    int parts = w->out->parts;
    size_t row_bytes = (size_t)parts * sizeof(int);
    w->now[part]++;
    size_t kept = (size_t)w->first;
    for (int i = w->first; i < w->rows; i++) {
        const int *row = w->out->live + (size_t)i * (size_t)parts;
        if (no_more(w->now, row, parts)) {
            return; /* then no row is below this one */
        }
        if (!no_more(row, w->now, parts)) {
            memmove(w->out->live + kept++ * (size_t)parts, row, row_bytes);
        }
    }
    if (!calc_push(&w->out->live, &kept, &w->room, w->now, row_bytes)) {
        calc_end_without_memory();
    }
    w->rows = (int)kept;
}

static void walk_parts(const calc_schedule_shape *shape, bool less_memory, int stage, walker *w)
{
    calc_balance_parts parts = calc_balance_parts_of(shape, less_memory);
    int64_t passes = parts.chunks * parts.microbatches;
    int64_t warm_up = calc_balance_warm_up(&parts, stage);
    for (int64_t k = 0; k < passes; k++) {
        enter(w, calc_balance_forward(&parts, k).chunk);
        if (k >= warm_up) {
            w->now[calc_balance_backward(&parts, k - warm_up).chunk]--;
        }
    }
}

void calc_balance_flights_begin(calc_balance_flights *f, const calc_balance_problem *p)
{
    enum { ROUNDS = 8 }; /* of a micro-batch per stage; the first 4 at most are not as the others */
    calc_schedule_shape shape = p->shape;
    int stages = (int)shape.stages;
    if (shape.microbatches > (ROUNDS + 1) * stages) { /* between begin and end the order repeats */
        shape.microbatches = ROUNDS * stages + shape.microbatches % stages;
    }
    *f = (calc_balance_flights){.parts = (int)shape.chunks};
    walker w = {.out = f};
    for (int s = 0; s < stages; s++) {
        f->first[s] = w.first = w.rows;
        memset(w.now, 0, sizeof w.now);
        walk_parts(&shape, p->less_memory, s, &w);
    }
    f->first[stages] = w.rows;
    f->row_bytes = calc_make((size_t)w.rows, sizeof *f->row_bytes);
}

CALC_FREES(calc_balance_flights_end, calc_balance_flights, of->live, of->row_bytes)

double calc_balance_flights_bytes(const calc_balance_flights *f, const calc_balance_problem *p,
                                  int stage, const calc_balance_share *share)
{
    double flight_bytes[CALC_BALANCE_PLACES];
    double bytes = 0;
    double layers[CALC_BALANCE_KINDS] = {0, 0};
    bool again = false;
    for (int part = 0; part < f->parts; part++) {
        int place = calc_balance_place_of(&p->shape, stage, part);
        flight_bytes[part] = calc_balance_flight_bytes(p, place, &share[place]);
        bytes += calc_balance_held_bytes(p, place, &share[place]);
        layers[0] += share[place].layers[0];
        layers[1] += share[place].layers[1];
        again = again || share[place].full[0] + share[place].full[1] > 0;
    }
    double most_bytes = 0;
    for (int row = f->first[stage]; row < f->first[stage + 1]; row++) {
        double live_bytes = 0;
        for (int part = 0; part < f->parts; part++) {
            live_bytes += f->live[row * f->parts + part] * flight_bytes[part];
        }
        most_bytes = calc_max(most_bytes, live_bytes);
    }
    return bytes + calc_balance_once_bytes(p, stage, layers, again) + most_bytes;
}

/* Relative difference up to which two rounds count as equal. */
#define ROUNDS_SAME 1e-14

enum {
    LOOK = 16,             /* rounds between two checks */
    MOST_ROUNDS = 1 << 20, /* from then on all rounds count as equal */
    MOST_MICROBATCHES =
        1 << 14 /* that are simulated, so that a step takes a moment whatever the batch */
};

/** When each stage is done with its last forward, and its last operation. */
typedef struct line {
    double forward_s[CALC_BALANCE_STAGES], done_s[CALC_BALANCE_STAGES];
} line;

/* Whether all stages are delayed by the time of the busiest one. */
static bool steady(const line *l, const line *before, int stages, double busy_s)
{
    double within_s = ROUNDS_SAME * l->done_s[0];
    for (int s = 0; s < stages; s++) {
        if (fabs(l->done_s[s] - before->done_s[s] - busy_s) > within_s ||
            fabs(l->forward_s[s] - before->forward_s[s] - busy_s) > within_s) {
            return false;
        }
    }
    return true;
}

double calc_balance_rounds_s(int stages, int64_t microbatches, const double *fw_s,
                             const double *bw_s)
{
    line l = {{0}, {0}};
    int64_t m = microbatches;
    double busy_s = 0;
    for (int s = 0; s < stages; s++) {
        busy_s = calc_max(busy_s, fw_s[s] + bw_s[s]);
    }
    line before;
    for (int64_t i = 1 - stages; i < m; i++) {
        /* Stages with a forward in this round: 0 <= i + p-1-s < m. */
        int64_t last = i + stages - 1;
        int64_t first = last - m + 1;
        bool looks = i > 0 && i % LOOK == 0 && first < 0;
        if (looks) {
            before = l;
        }
        /* The last stages come first, since they need the round before. */
        for (int s = last < stages ? (int)last : stages - 1; s >= (first > 0 ? first : 0); s--) {
            double input_s = s > 0 ? l.forward_s[s - 1] : 0;
            l.forward_s[s] = l.done_s[s] = calc_max(l.done_s[s], input_s) + fw_s[s];
        }
        double input_s = 0;
        for (int s = stages - 1; s >= 0 && i >= 0; s--) {
            input_s = l.done_s[s] = calc_max(l.done_s[s], input_s) + bw_s[s];
        }
        if (looks && (i >= MOST_ROUNDS || steady(&l, &before, stages, busy_s))) {
            for (int s = 0; s < stages; s++) {
                l.forward_s[s] -= (double)first * busy_s;
                l.done_s[s] -= (double)first * busy_s;
            }
            i -= first;
        }
    }
    return l.done_s[0];
}

/* Deviation of a further micro-batch from the busiest stage's time that counts as rounding. */
#define SAME 1e-12

static bool interleaved(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->chunks > 1;
}

/* ---- Time -------------------------------------------------------------------------------------*/

static void make_room(calc_balance_room *r, size_t size)
{
    if (size > r->size) {
        r->bytes = calc_longer(r->bytes, size, 1);
        r->size = size;
    }
}

/* The same of 1F1B with chunks. The passes of two numbers of micro-batches that differ by a part
 * are kept. */
static double simulated_parts_s(const calc_balance_parts *parts, const calc_schedule_pass *pass,
                                calc_balance_room *r)
{
    size_t passes = calc_balance_passes(parts);
    int which = (int)(parts->microbatches / parts->stages % 2);
    double take_s[2 * CALC_BALANCE_PLACES];
    for (int64_t i = 0; i < parts->stages * parts->chunks; i++) {
        take_s[2 * i] = pass[i].fw_s;
        take_s[2 * i + 1] = pass[i].bw_s + pass[i].wgrad_s;
    }
    make_room(r, passes * sizeof(double));
    if (memcmp(&r->parts[which], parts, sizeof *parts) != 0) {
        r->pass[which] = calc_longer(r->pass[which], passes, sizeof **r->pass);
        calc_balance_passes_of(parts, r->pass[which], r->bytes);
        r->parts[which] = *parts;
    }
    return calc_balance_passes_s(r->pass[which], passes, take_s, r->bytes);
}

/* Every operation of a shape simulated. */
static double simulated_s(const calc_balance_problem *p, int64_t microbatches,
                          const calc_schedule_pass *pass, calc_balance_room *r)
{
    calc_schedule_shape shape = p->shape;
    shape.microbatches = microbatches;
    if (interleaved(&shape)) {
        calc_balance_parts parts = calc_balance_parts_of(&shape, p->less_memory);
        return simulated_parts_s(&parts, pass, r);
    }
    calc_schedule_sim sim = {.shape = shape, .pass = pass};
    make_room(r, calc_schedule_sim_bytes(&shape));
    return calc_schedule_sim_s(&sim, r->bytes, NULL, NULL);
}

/* Work of a stage per micro-batch. */
static double busy_s(const calc_schedule_shape *s, const calc_schedule_pass *pass, int stage)
{
    double all_s = 0;
    for (int chunk = 0; chunk < s->chunks; chunk++) {
        all_s += calc_schedule_pass_s(&pass[calc_balance_place_of(s, stage, chunk)]);
    }
    return all_s;
}

/* As schedule_steady.h, for any number of stages: each further period of micro-batches adds no less
 * than the one before, until it adds the time of the busiest stage. */
static double steady_s(const calc_balance_problem *p, const calc_schedule_pass *pass,
                       calc_balance_room *r)
{
    const calc_schedule_shape *s = &p->shape;
    int64_t m = s->microbatches;
    int64_t period = interleaved(s) ? s->stages : 1;
    double most_s = 0;
    for (int stage = 0; stage < s->stages; stage++) {
        most_s = calc_max(most_s, busy_s(s, pass, stage));
    }
    for (int64_t few = 3 * s->stages + m % period; few + period < m / 2; few *= 2) {
        few += (m - few) % period;
        double few_s = simulated_s(p, few, pass, r);
        double more_s = simulated_s(p, few + period, pass, r);
        double slope_s = (more_s - few_s) / (double)period;
        if (calc_max(slope_s - most_s, most_s - slope_s) * (double)period <= SAME * more_s) {
            return more_s + (double)(m - few - period) * most_s;
        }
        if (few >= MOST_MICROBATCHES) { /* the order may make the busiest stage wait for ever */
            return more_s + (double)(m - few - period) * slope_s;
        }
    }
    return simulated_s(p, m, pass, r);
}

/* ---- Memory -----------------------------------------------------------------------------------*/

static void look(const calc_balance_problem *p, int stage, double bytes, calc_balance_answer *out)
{
    out->peak_bytes[stage] = bytes;
    out->most_bytes = calc_max(out->most_bytes, bytes);
    double over_bytes = bytes - p->stage[stage].limit_bytes;
    int worst = out->worst_stage;
    if (over_bytes > out->peak_bytes[worst] - p->stage[worst].limit_bytes) {
        out->worst_stage = stage;
    }
    out->lacks_bytes = calc_max(out->lacks_bytes, over_bytes);
    out->fits = out->lacks_bytes <= 0;
}

static void memory(const calc_balance_problem *p, const calc_balance_share *share,
                   calc_balance_answer *out)
{
    if (p->shape.chunks == 1) {
        for (int stage = 0; stage < p->shape.stages; stage++) {
            double flight = calc_schedule_in_flight(&p->shape, stage);
            look(p, stage, calc_balance_stage_bytes(p, stage, flight, &share[stage]), out);
        }
        return;
    }
    calc_balance_flights flights;
    calc_balance_flights_begin(&flights, p);
    for (int stage = 0; stage < p->shape.stages; stage++) {
        look(p, stage, calc_balance_flights_bytes(&flights, p, stage, share), out);
    }
    calc_balance_flights_end(&flights);
}

double calc_balance_step_s(const calc_balance_problem *p, const calc_balance_share *share,
                           calc_balance_room *r)
{
    calc_schedule_pass pass[CALC_BALANCE_PLACES] = {{0}};
    int places = (int)(p->shape.stages * p->shape.chunks);
    for (int place = 0; place < places; place++) {
        pass[place] = calc_balance_pass_of(p, place, &share[place]);
    }
    if (p->shape.kind != CALC_PIPELINE_SCHEDULE_1F1B || p->shape.chunks > 1) {
        return steady_s(p, pass, r);
    }
    double fw_s[CALC_BALANCE_STAGES], bw_s[CALC_BALANCE_STAGES];
    for (int i = 0; i < places; i++) {
        fw_s[i] = pass[i].fw_s;
        bw_s[i] = pass[i].bw_s + pass[i].wgrad_s;
    }
    return calc_balance_rounds_s(places, p->shape.microbatches, fw_s, bw_s);
}

calc_status calc_balance_evaluate(const calc_balance_problem *p, const calc_balance_share *share,
                                  calc_balance_answer *out)
{
    *out = (calc_balance_answer){.fits = true};
    if (calc_schedule_check(&p->shape) != CALC_SCHEDULE_OK) {
        return CALC_ERR_RULE;
    }
    calc_balance_room r = {0};
    out->step_s = calc_balance_step_s(p, share, &r);
    calc_balance_room_end(&r);
    memory(p, share, out);
    return CALC_OK;
}
