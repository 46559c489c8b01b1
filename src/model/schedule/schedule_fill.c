#include "model/schedule/schedule_fill.h"

#include "model/operators/processor.h"

/* Time of paths on a place before they go on. */
typedef struct stay {
    double slowest_s; /**< first chunk of this place, and of those before it */
    double step_s;    /**< of the next period's first round */
    double first_s;   /**< the first round */
    double rest_s;    /**< the rounds between the first and the last: here, or around */
    double last_s;    /**< all of the rounds where the last forward is here or further down, */
    double around_s;  /**< or before */
} stay;

static void set_stays(const calc_schedule_line *l, int count, const calc_schedule_way *go, stay *of)
{
    double p = l->p;
    double slowest_s = 0;
    for (int j = 0; j < count; j++) {
        double chunk_s = go->chunk_s[j];
        stay *x = &of[j];
        x->step_s = chunk_s + (j == 0 ? go->first_s : 0);
        slowest_s = calc_max(slowest_s, x->step_s);
        x->slowest_s = slowest_s;
        /* Round for round on stage j, or around; around the last one in any case... */
        x->rest_s = (l->v - 2) * calc_max(p * chunk_s, go->all_s);
        double skip_s = (p - 1) * slowest_s + go->all_s;
        x->around_s = x->rest_s + calc_max(0, skip_s);
        /* ... unless j comes before t. */
        x->first_s = calc_max((p - 1) * slowest_s + chunk_s, go->all_s);
        x->last_s = x->rest_s + calc_max(x->first_s + (p - 1) * chunk_s, skip_s);
    }
}

/* Forwards only: a path goes down the stages, stays on one for some passes, and may go around to
 * the next chunk. */
void calc_schedule_fill(const calc_schedule_line *l, double next, const calc_schedule_way *go,
                        const calc_schedule_way *back, calc_schedule_filling *out)
{
    double p = l->p;
    const int count = l->count;
    const int end = count - 1;
    stay of[CALC_SCHEDULE_PLACES];
    double turn_s[CALC_SCHEDULE_PLACES];
    set_stays(l, count, go, of);
    for (int t = 0; t < count; t++) {
        double down_s = go->before_s[t] + go->chunk_s[t] + go->first_s;
        double more = 2 * (p - 1 - l->stage[t]);
        double here = calc_min(more, p - 1); /* passes of the last round */
        double beyond = calc_min(calc_max(0, more - p + 1), next);
        double to_turn_s = 0;
        double to_last_s = 0;
        for (int j = 0; j <= t; j++) {
            double go_s = of[j].first_s + here * go->chunk_s[j];
            double skip_s = here * of[j].slowest_s + go->all_s;
            double until_s = of[j].rest_s + calc_max(go_s, skip_s);
            to_turn_s = calc_max(to_turn_s, until_s + beyond * of[j].step_s);
            to_last_s = calc_max(to_last_s, of[j].last_s);
        }
        for (int j = t + 1; j <= end; j++) {
            double skip_s = here * of[j].slowest_s + go->all_s;
            to_turn_s = calc_max(to_turn_s, of[j].rest_s + calc_max(0, skip_s));
            to_last_s = calc_max(to_last_s, of[j].around_s);
        }
        turn_s[t] = down_s + to_turn_s + (t == end ? go->last_s : 0);
        out->last_s[t] = down_s + to_last_s + (t == end ? go->last_s : 0);
    }
    double around_s = go->all_s + go->first_s + (l->v - 1) * go->all_s;
    double last_s = go->last_s + (p - 1) * (go->chunk_s[end] + go->last_s);
    out->last_s[end] = calc_max(out->last_s[end], around_s + last_s);
    for (int s = 0; s < count; s++) {
        out->turn_s[s] = 0;
        for (int t = s; t < count; t++) {
            double up_s = back->before_s[t] + back->chunk_s[t] - back->before_s[s];
            out->turn_s[s] =
                calc_max(out->turn_s[s], turn_s[t] + up_s + (t == end ? back->last_s : 0));
        }
    }
}
