#include "galvatron/judge.h"

#include <math.h>

#include "galvatron/cost_terms.h"

static int type_of(const calc_galvatron_request *r, int64_t layer)
{
    int type = 0;
    while (layer >= r->layers[type].layer_num) {
        layer -= r->layers[type++].layer_num;
    }
    return type;
}

/* Re-sharding time between two layers of a stage. */
static double switch_s(const calc_galvatron_posed *p, const calc_galvatron_strategy *a,
                       const calc_galvatron_strategy *b)
{
    return p->switch_s[calc_galvatron_doublings(calc_galvatron_tpsp(a)) * CALC_GALVATRON_GROUPS +
                       calc_galvatron_doublings(calc_galvatron_tpsp(b))];
}

double calc_galvatron_judge_posed_s(const calc_galvatron_posed *p, const calc_galvatron_answer *a,
                                    double *reshard_s)
{
    double sync_s[CALC_GALVATRON_STAGES];
    double nosync_s[CALC_GALVATRON_STAGES];
    double switches_s[CALC_GALVATRON_STAGES];
    int64_t at = 0;
    for (int stage = 0; stage < a->task.pp; stage++) {
        sync_s[stage] = switches_s[stage] = 0;
        nosync_s[stage] = calc_galvatron_ends_cost_of(&p->c, &a->ends, stage).nosync_s;
        for (int i = 0; i < a->division[stage]; i++, at++) {
            calc_galvatron_layer_cost cost =
                calc_galvatron_layer_cost_of(&p->c, &a->layer[at], type_of(p->c.request, at));
            sync_s[stage] += cost.sync_s;
            nosync_s[stage] += cost.nosync_s;
            switches_s[stage] += i ? switch_s(p, &a->layer[at - 1], &a->layer[at]) : 0;
        }
    }
    double without_s = calc_galvatron_pipeline_s(a->task.pp, a->task.chunks, sync_s, nosync_s);
    for (int stage = 0; stage < a->task.pp; stage++) {
        sync_s[stage] += switches_s[stage];
        nosync_s[stage] += switches_s[stage];
    }
    double step_s = calc_galvatron_pipeline_s(a->task.pp, a->task.chunks, sync_s, nosync_s);
    if (reshard_s) {
        *reshard_s = step_s - without_s;
    }
    return step_s;
}

double calc_galvatron_judge_s(const calc_galvatron_request *request,
                              const calc_galvatron_profiles *profiles,
                              const calc_galvatron_answer *answer, double *reshard_s)
{
    calc_galvatron_case c = {.request = request, .profiles = profiles};
    calc_galvatron_posed p;
    if (calc_galvatron_pose(&p, &c, &answer->task) != CALC_OK) {
        return INFINITY;
    }
    double step_s = calc_galvatron_judge_posed_s(&p, answer, reshard_s);
    calc_galvatron_posed_free(&p);
    return step_s;
}
