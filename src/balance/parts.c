#include "balance/parts.h"

#include "model/operators/processor.h"

#define NOT_YET (-1.0)

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

/* The k-th pass, chunks counted in the order in which they come. */
static calc_balance_turn turn_of(const calc_balance_parts *p, int64_t k)
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

calc_balance_turn calc_balance_forward(const calc_balance_parts *p, int64_t k)
{
    return turn_of(p, k);
}

calc_balance_turn calc_balance_backward(const calc_balance_parts *p, int64_t k)
{
    calc_balance_turn t = turn_of(p, k);
    t.chunk = p->chunks - 1 - t.chunk;
    return t;
}

int64_t calc_balance_warm_up(const calc_balance_parts *p, int64_t stage)
{
    int64_t passes = p->chunks * p->microbatches;
    int64_t warm_up = (p->chunks - 1) * p->first + p->slack * (p->stages - 1 - stage);
    return warm_up < passes ? warm_up : passes;
}

typedef struct worker {
    int64_t warm_up, fw, bw; /**< done */
    double now_s;
} worker;

typedef struct run {
    const calc_balance_parts *parts;
    const calc_schedule_pass *pass;
    worker *workers;
    double *fw_at_s, *bw_at_s; /**< [place][micro-batch] */
} run;

size_t calc_balance_parts_bytes(const calc_balance_parts *p)
{
    size_t times = 2 * (size_t)(p->stages * p->chunks * p->microbatches);
    return times * sizeof(double) + (size_t)p->stages * sizeof(worker);
}

static double *at(const run *r, double *times, int64_t place, int64_t microbatch)
{
    return times + place * r->parts->microbatches + microbatch;
}

/* Do the next forward or backward of a stage; false if its input is not there yet. */
static bool step(run *r, int64_t stage)
{
    const calc_balance_parts *p = r->parts;
    worker *w = &r->workers[stage];
    int64_t passes = p->chunks * p->microbatches;
    bool forward = w->fw < passes && w->fw <= w->bw + w->warm_up;
    calc_balance_turn t =
        forward ? calc_balance_forward(p, w->fw) : calc_balance_backward(p, w->bw);
    int64_t place = t.chunk * p->stages + stage;
    int64_t last = p->stages * p->chunks - 1;
    double ready_s = 0;
    if (forward && place > 0) {
        ready_s = *at(r, r->fw_at_s, place - 1, t.microbatch);
    } else if (!forward) {
        ready_s = place < last ? *at(r, r->bw_at_s, place + 1, t.microbatch)
                               : *at(r, r->fw_at_s, place, t.microbatch);
    }
    if (ready_s == NOT_YET) {
        return false;
    }
    const calc_schedule_pass *pass = &r->pass[place];
    w->now_s = calc_max(w->now_s, ready_s) + (forward ? pass->fw_s : pass->bw_s + pass->wgrad_s);
    *at(r, forward ? r->fw_at_s : r->bw_at_s, place, t.microbatch) = w->now_s;
    w->fw += forward;
    w->bw += !forward;
    return true;
}

double calc_balance_parts_s(const calc_balance_parts *p, const calc_schedule_pass *pass,
                            void *workspace)
{
    int64_t passes = p->chunks * p->microbatches;
    int64_t times = p->stages * passes;
    run r = {.parts = p, .pass = pass, .fw_at_s = workspace};
    r.bw_at_s = r.fw_at_s + times;
    void *rest = r.bw_at_s + times;
    r.workers = rest;
    for (int64_t i = 0; i < 2 * times; i++) {
        r.fw_at_s[i] = NOT_YET;
    }
    for (int64_t s = 0; s < p->stages; s++) {
        r.workers[s] = (worker){.warm_up = calc_balance_warm_up(p, s)};
    }
    /* A waiting stage waits for a neighbour along the model. */
    for (bool moved = true; moved;) {
        moved = false;
        for (int64_t s = 0; s < p->stages; s++) {
            while (r.workers[s].bw < passes && step(&r, s)) {
                moved = true;
            }
        }
    }
    double end_s = 0;
    for (int64_t s = 0; s < p->stages; s++) {
        end_s = calc_max(end_s, r.workers[s].now_s);
    }
    return end_s;
}
