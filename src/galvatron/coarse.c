#include "galvatron/coarse.h"

#include <math.h>

/* Step with strategy i for every layer; INFINITY: it does not fit. */
static double step_of(const calc_galvatron_posed *p, int i, double *remain_mb)
{
    bool whole = p->c.request->compat;
    calc_galvatron_strategy ends = p->layer[i];
    ends.checkpoint = false;
    double sync_s[CALC_GALVATRON_STAGES];
    double nosync_s[CALC_GALVATRON_STAGES];
    double buffer_mb = p->task.mode == CALC_GALVATRON_SP_ONLY
                           ? 0
                           : calc_galvatron_buffer_mb(&p->c, p->task.pp, p->task.buffer_tp);
    buffer_mb = whole ? ceil(buffer_mb) : p->buffer_mb;
    for (int stage = 0; stage < p->task.pp; stage++) {
        const calc_layerwise_stage *s = &p->stage[stage];
        calc_galvatron_ends_cost cost = calc_galvatron_ends_cost_of(&p->c, &ends, stage);
        remain_mb[stage] = p->limit_mb - buffer_mb - (whole ? ceil(cost.mb) : cost.mb);
        sync_s[stage] = 0;
        nosync_s[stage] = cost.nosync_s;
        for (int kind = 0; kind < s->kinds; kind++) {
            int type = calc_galvatron_type_of(p, stage, kind);
            const calc_galvatron_layer_cost *layer = &p->cost[type * p->strategies + i];
            sync_s[stage] += s->kind[kind].layers * layer->sync_s;
            nosync_s[stage] += s->kind[kind].layers * layer->nosync_s;
            remain_mb[stage] -= s->kind[kind].layers * s->kind[kind].option[i].bytes;
        }
        if (remain_mb[stage] < 0) {
            return INFINITY;
        }
    }
    return calc_galvatron_pipeline_s(p->task.pp, p->task.chunks, sync_s, nosync_s);
}

bool calc_galvatron_coarse(const calc_galvatron_posed *p, calc_galvatron_answer *out)
{
    double remain_mb[CALC_GALVATRON_STAGES];
    int best = -1;
    for (int i = 0; i < p->strategies; i++) {
        double step_s = step_of(p, i, remain_mb);
        if (step_s < INFINITY && (best < 0 || step_s < out->step_s)) {
            best = i;
            out->step_s = step_s;
        }
    }
    if (best < 0) {
        return false;
    }
    int64_t layers = calc_galvatron_layer_count(p->c.request);
    double reserve_mb = calc_galvatron_limits_of(p->c.request).reserve_mb;
    out->ends = p->layer[best];
    out->ends.checkpoint = false;
    out->reshard_s = 0;
    step_of(p, best, out->remain_mb);
    for (int64_t i = 0; i < layers; i++) {
        out->layer[i] = p->layer[best];
    }
    for (int i = 0; i < p->task.pp; i++) {
        out->used_mb[i] = p->limit_mb - out->remain_mb[i] + reserve_mb;
    }
    return true;
}
