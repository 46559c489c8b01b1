#include "mindspeed/loop.h"

#include <math.h>
#include <stdlib.h>

/* ---- State ----------------------------------------------------------------------------------- */

calc_status calc_mindspeed_loop_start(calc_mindspeed_loop *loop,
                                      const calc_mindspeed_loop_rules *rules, size_t count,
                                      const double *memory_bytes)
{
    size_t n = count + 1;
    *loop = (calc_mindspeed_loop){.rules = *rules, .count = count, .memory_bytes = memory_bytes};
    loop->mark = calloc(n, sizeof *loop->mark);
    loop->samples_s = malloc(n * rules->samples * sizeof *loop->samples_s);
    loop->tally = calloc(n, sizeof *loop->tally);
    return loop->mark && loop->samples_s && loop->tally ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_mindspeed_loop_free(calc_mindspeed_loop *loop)
{
    free(loop->mark);
    free(loop->samples_s);
    free(loop->tally);
    *loop = (calc_mindspeed_loop){0};
}

static void remove_larger(calc_mindspeed_loop *loop, size_t candidate)
{
    for (size_t i = 0; i < loop->count && loop->memory_bytes; i++) {
        if (loop->mark[i] == CALC_MINDSPEED_UNEXPLORED &&
            loop->memory_bytes[i] >= loop->memory_bytes[candidate]) {
            loop->mark[i] = CALC_MINDSPEED_REMOVED;
        }
    }
}

void calc_mindspeed_loop_record(calc_mindspeed_loop *loop, size_t candidate, calc_mindspeed_end end)
{
    if (loop->mark[candidate] == CALC_MINDSPEED_EXPLORED) {
        return;
    }
    bool ran = end == CALC_MINDSPEED_RAN;
    loop->mark[candidate] = ran ? CALC_MINDSPEED_EXPLORED : CALC_MINDSPEED_REMOVED;
    loop->trials++;
    if (end == CALC_MINDSPEED_OUT_OF_MEMORY) {
        remove_larger(loop, candidate);
    }
}

/* ---- The pool -------------------------------------------------------------------------------- */

static void time_all(calc_mindspeed_loop *loop, calc_mindspeed_loop_time *time, void *context)
{
    for (size_t c = 0; c < loop->count; c++) {
        double *s = loop->samples_s + c * loop->rules.samples;
        bool timed =
            loop->mark[c] != CALC_MINDSPEED_REMOVED && time(context, c, s, loop->rules.samples);
        for (size_t i = 0; i < loop->rules.samples && !timed; i++) {
            s[i] = INFINITY;
        }
    }
}

/* The fastest candidate of a sample that is slower than `after_s`, or equally fast and after
 * candidate `last`. @return `count` if there is none */
static size_t next_fastest(const calc_mindspeed_loop *loop, size_t sample, double after_s,
                           size_t last)
{
    size_t best = loop->count;
    double best_s = INFINITY;
    for (size_t c = 0; c < loop->count; c++) {
        double s = loop->samples_s[c * loop->rules.samples + sample];
        bool comes = s > after_s || (s == after_s && c > last);
        if (comes && s < best_s) {
            best = c;
            best_s = s;
        }
    }
    return best;
}

static void add_fastest(calc_mindspeed_loop *loop, size_t sample)
{
    double after_s = -INFINITY;
    size_t last = 0;
    for (size_t k = 0; k < loop->rules.top_k; k++) {
        last = next_fastest(loop, sample, after_s, last);
        if (last == loop->count) {
            return;
        }
        after_s = loop->samples_s[last * loop->rules.samples + sample];
        loop->tally[last]++;
        loop->pool++;
        loop->rest += loop->mark[last] == CALC_MINDSPEED_UNEXPLORED;
    }
}

void calc_mindspeed_loop_judge(calc_mindspeed_loop *loop, calc_mindspeed_loop_time *time,
                               void *context)
{
    time_all(loop, time, context);
    loop->pool = loop->rest = 0;
    for (size_t c = 0; c < loop->count; c++) {
        loop->tally[c] = 0;
    }
    for (size_t i = 0; i < loop->rules.samples; i++) {
        add_fastest(loop, i);
    }
}

double calc_mindspeed_loop_chance(const calc_mindspeed_loop *loop, size_t candidate)
{
    return loop->pool ? (double)loop->tally[candidate] / (double)loop->pool : 0;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static size_t first_unexplored(const calc_mindspeed_loop *loop)
{
    size_t c = 0;
    while (c < loop->count && loop->mark[c] != CALC_MINDSPEED_UNEXPLORED) {
        c++;
    }
    return c;
}

/* Draws one of the pool's unmeasured entries with equal probability. */
static size_t drawn(const calc_mindspeed_loop *loop)
{
    calc_rng rng;
    calc_rng_init(&rng, loop->rules.seed, loop->trials);
    size_t left = calc_rng_below(&rng, (uint32_t)loop->rest);
    size_t c = 0;
    for (;; c++) {
        size_t here = loop->mark[c] == CALC_MINDSPEED_UNEXPLORED ? loop->tally[c] : 0;
        if (left < here) {
            return c;
        }
        left -= here;
    }
}

calc_mindspeed_stop calc_mindspeed_loop_choose(calc_mindspeed_loop *loop)
{
    const calc_mindspeed_loop_rules *r = &loop->rules;
    double share = loop->pool ? (double)loop->rest / (double)loop->pool : 0;
    size_t first = first_unexplored(loop);
    loop->stop = CALC_MINDSPEED_GOES_ON;
    if (first == loop->count) {
        loop->stop = CALC_MINDSPEED_EXHAUSTED;
    } else if (r->max_trials && loop->trials >= r->max_trials) {
        loop->stop = CALC_MINDSPEED_TRIALS;
    } else if (r->every) {
        loop->next = first;
    } else if (loop->rest == 0 || share <= r->stop_threshold) {
        loop->stop = CALC_MINDSPEED_CONCENTRATED;
    } else {
        loop->next = drawn(loop);
    }
    return loop->stop;
}
