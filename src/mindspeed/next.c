#include "mindspeed/next.h"

#include <math.h>
#include <stdlib.h>

/* Candidates of the loop are those of the ranking. */
typedef struct standing {
    const calc_mindspeed_ranking *ranking;
    const calc_mindspeed_rank_times *times;
} standing;

/* A measured candidate has its measured time and stays in the pool. */
static bool time_of(void *context, size_t candidate, double *samples_s, size_t count)
{
    const standing *s = context;
    const calc_mindspeed_candidate *c = &s->ranking->item[candidate];
    if (c->source == CALC_MINDSPEED_UNTIMED) {
        return false;
    }
    if (c->source == CALC_MINDSPEED_MODELLED && s->times->timer) {
        return s->times->timer(s->times->judge, &c->config, samples_s, count);
    }
    for (size_t i = 0; i < count; i++) {
        samples_s[i] = c->step_s;
    }
    return true;
}

static void record(calc_mindspeed_loop *loop, const standing *s)
{
    const calc_mindspeed_results *results = s->times->results;
    for (size_t i = 0; results && i < s->ranking->count; i++) {
        const calc_mindspeed_result *r =
            calc_mindspeed_results_find(results, &s->ranking->item[i].config);
        if (r) {
            calc_mindspeed_loop_record(loop, i, r->end);
        }
    }
}

calc_status calc_mindspeed_next_find(const calc_mindspeed_ranking *ranking,
                                     const calc_mindspeed_rank_times *times,
                                     const calc_mindspeed_loop_rules *rules,
                                     calc_mindspeed_next *out)
{
    standing s = {ranking, times};
    calc_mindspeed_loop loop;
    double *memory = malloc((ranking->count + 1) * sizeof *memory);
    *out = (calc_mindspeed_next){.unmeasured = NAN};
    if (!memory) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < ranking->count; i++) {
        memory[i] = ranking->item[i].peak_bytes;
    }
    calc_status status = calc_mindspeed_loop_start(&loop, rules, ranking->count, memory);
    if (status == CALC_OK) {
        record(&loop, &s);
        calc_mindspeed_loop_judge(&loop, time_of, &s);
        out->stop = calc_mindspeed_loop_choose(&loop);
        out->trials = loop.trials;
        out->unmeasured = loop.pool > 0 ? (double)loop.rest / (double)loop.pool : 0;
        if (out->stop == CALC_MINDSPEED_GOES_ON) {
            out->config = ranking->item[loop.next].config;
            out->chance = calc_mindspeed_loop_chance(&loop, loop.next);
        }
    }
    calc_mindspeed_loop_free(&loop);
    free(memory);
    return status;
}
