#include "model/schedule/schedule_fill.h"

#include "model/operators/processor.h"

/* Forwards only: a path goes down the stages, stays on one for some passes, and may go around to
 * the next chunk. */
void calc_schedule_fill(const calc_schedule_line *l, double next, const calc_schedule_way *go,
                        const calc_schedule_way *back, calc_schedule_filling *out)
{
    double p = l->p;
    double v = l->v;
    int end = l->count - 1;
    double slowest_s[CALC_SCHEDULE_PLACES]; /* first chunk of this place, and of those before it */
    double turn_s[CALC_SCHEDULE_PLACES];
    for (int j = 0; j <= end; j++) {
        double first_s = go->chunk_s[j] + (j == 0 ? go->first_s : 0);
        slowest_s[j] = calc_max(j > 0 ? slowest_s[j - 1] : 0, first_s);
    }
    for (int t = 0; t <= end; t++) {
        double down_s = go->before_s[t] + go->chunk_s[t] + go->first_s;
        double more = 2 * (p - 1 - l->stage[t]);
        double here = calc_min(more, p - 1); /* passes of the last round */
        double beyond = calc_min(calc_max(0, more - p + 1), next);
        double to_turn_s = 0;
        double to_last_s = 0;
        for (int j = 0; j <= end; j++) {
            /* Round for round on stage j, or around; around the last one in any case... */
            double rest_s = (v - 2) * calc_max(p * go->chunk_s[j], go->all_s);
            double skip_turn_s = here * slowest_s[j] + go->all_s;
            double skip_last_s = (p - 1) * slowest_s[j] + go->all_s;
            /* ... unless j comes before t. */
            double first_s = calc_max((p - 1) * slowest_s[j] + go->chunk_s[j], go->all_s);
            double go_turn_s = j <= t ? first_s + here * go->chunk_s[j] : 0;
            double go_last_s = j <= t ? first_s + (p - 1) * go->chunk_s[j] : 0;
            double beyond_s = j <= t ? beyond * (go->chunk_s[j] + (j == 0 ? go->first_s : 0)) : 0;
            to_turn_s = calc_max(to_turn_s, rest_s + calc_max(go_turn_s, skip_turn_s) + beyond_s);
            to_last_s = calc_max(to_last_s, rest_s + calc_max(go_last_s, skip_last_s));
        }
        turn_s[t] = down_s + to_turn_s + (t == end ? go->last_s : 0);
        out->last_s[t] = down_s + to_last_s + (t == end ? go->last_s : 0);
    }
    double around_s = go->all_s + go->first_s + (v - 1) * go->all_s;
    double last_s = go->last_s + (p - 1) * (go->chunk_s[end] + go->last_s);
    out->last_s[end] = calc_max(out->last_s[end], around_s + last_s);
    for (int s = 0; s <= end; s++) {
        out->turn_s[s] = 0;
        for (int t = s; t <= end; t++) {
            double up_s = back->before_s[t] + back->chunk_s[t] - back->before_s[s];
            out->turn_s[s] =
                calc_max(out->turn_s[s], turn_s[t] + up_s + (t == end ? back->last_s : 0));
        }
    }
}
