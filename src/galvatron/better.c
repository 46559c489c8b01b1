#include "galvatron/better.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 4, FRONT = 400 };

static double ends_s(const calc_galvatron_posed *p, int end, int stage)
{
    return p->ends_cost[end * p->task.pp + stage].nosync_s;
}

static double step_of(const calc_galvatron_posed *p, int end, const calc_layerwise_point *point)
{
    double sync_s[CALC_GALVATRON_STAGES];
    double nosync_s[CALC_GALVATRON_STAGES];
    for (int i = 0; i < p->task.pp; i++) {
        nosync_s[i] = point[i].micro_s + ends_s(p, end, i);
        sync_s[i] = point[i].micro_s + point[i].sync_s;
    }
    return calc_galvatron_pipeline_s(p->task.pp, p->task.chunks, sync_s, nosync_s);
}

/* What a stage reduces, and nothing hides. */
static double exposed_s(const calc_galvatron_posed *p, int end, int stage,
                        const calc_layerwise_point *point)
{
    double s = point[stage].sync_s - ends_s(p, end, stage);
    for (int i = 0; i < stage; i++) {
        s -= point[i].micro_s + ends_s(p, end, i);
    }
    return s;
}

static bool choose_from(const calc_galvatron_posed *p, int end, int stage,
                        calc_galvatron_joined *j, bool *proven)
{
    calc_layerwise_front front;
    if (!calc_layerwise_front_of(&p->stage[stage], FRONT, &front)) {
        return false;
    }
    calc_layerwise_point best = j->point[stage];
    for (size_t i = 0; i < front.count; i++) {
        j->point[stage] = front.point[i];
        double step_s = step_of(p, end, j->point);
        if (step_s < j->step_s) {
            j->step_s = step_s;
            best = front.point[i];
        }
    }
    j->point[stage] = best;
    *proven &= front.proven;
    free(front.point);
    return true;
}

/* The one stage there is: weights that are exact on one side of the point where reduction is just
 * hidden. @return whether that was it */
static bool is_single(const calc_galvatron_posed *p, int end, calc_galvatron_joined *j)
{
    if (p->task.pp > 1) {
        return false;
    }
    calc_layerwise_point point;
    double chunks = (double)p->task.chunks;
    if (!calc_layerwise_best(&p->stage[0], chunks, 1, &point)) {
        return false;
    }
    double s = step_of(p, end, &point);
    double bound_s = chunks * (point.micro_s + ends_s(p, end, 0)) + point.sync_s -
                     ends_s(p, end, 0);
    j->bound_s = fmax(j->bound_s, bound_s);
    if (s < j->step_s) {
        j->step_s = s;
        j->point[0] = point;
    }
    return j->step_s <= j->bound_s * (1 + 1e-12);
}

/* Stages of which something is exposed choose anew. */
static bool settle(const calc_galvatron_posed *p, int end, calc_galvatron_joined *j)
{
    bool proven = true;
    bool first_only = true;
    for (int stage = 1; stage < p->task.pp; stage++) {
        first_only &= exposed_s(p, end, stage, j->point) <= 0;
    }
    for (int round = 0; round < (first_only ? 1 : ROUNDS); round++) {
        double before_s = j->step_s;
        for (int stage = 0; stage < p->task.pp; stage++) {
            if ((stage == 0 || exposed_s(p, end, stage, j->point) > 0) &&
                !choose_from(p, end, stage, j, &proven)) {
                return false;
            }
        }
        if (j->step_s == before_s) {
            break;
        }
    }
    if (first_only && proven) {
        j->bound_s = j->step_s;
    }
    return true;
}

calc_status calc_galvatron_better(calc_galvatron_posed *p, int end, calc_galvatron_joined *j)
{
    double exposed = 0;
    for (int stage = 0; stage < p->task.pp; stage++) {
        p->stage[stage].budget_bytes = calc_galvatron_room_mb(p, end, stage);
        p->stage[stage].switch_s = p->switch_s;
        if (!calc_layerwise_best(&p->stage[stage], 1, 0, &j->point[stage])) {
            return CALC_ERR_RULE;
        }
        exposed = fmax(exposed, exposed_s(p, end, stage, j->point));
    }
    j->step_s = j->bound_s = step_of(p, end, j->point);
    if (exposed <= 0) {
        return CALC_OK;
    }
    j->bound_s -= exposed;
    calc_layerwise_point least;
    if (calc_layerwise_best(&p->stage[0], 0, 1, &least)) {
        j->bound_s += fmax(0, least.sync_s - ends_s(p, end, 0));
    }
    return is_single(p, end, j) || settle(p, end, j) ? CALC_OK : CALC_ERR_NOMEM;
}
