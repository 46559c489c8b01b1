#include "balance/problem.h"

/* Whether a place lies on the way back of a schedule in the shape of a V. */
static bool goes_back(const calc_schedule_shape *s, int chunk)
{
    return chunk == 1 && s->kind != CALC_PIPELINE_SCHEDULE_1F1B;
}

int calc_balance_place_of(const calc_schedule_shape *s, int stage, int chunk)
{
    int stages = (int)s->stages;
    return chunk * stages + (goes_back(s, chunk) ? stages - 1 - stage : stage);
}

int calc_balance_stage_of(const calc_schedule_shape *s, int place)
{
    int stages = (int)s->stages;
    int along = place % stages;
    return goes_back(s, place / stages) ? stages - 1 - along : along;
}

static const calc_balance_layer *layers_of(const calc_balance_problem *p, int place)
{
    return p->layer[p->stage[calc_balance_stage_of(&p->shape, place)].chip];
}

calc_schedule_pass calc_balance_pass_of(const calc_balance_problem *p, int place,
                                        const calc_balance_share *share)
{
    const calc_balance_place *at = &p->place[place];
    const calc_balance_layer *layer = layers_of(p, place);
    calc_schedule_pass pass = {at->fw_s, at->agrad_s, at->wgrad_s};
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        pass.fw_s += share->layers[kind] * layer[kind].fw_s;
        pass.bw_s += share->layers[kind] * layer[kind].agrad_s +
                     share->selective[kind] * layer[kind].again_s[CALC_BALANCE_SELECTIVE] +
                     share->full[kind] * layer[kind].again_s[CALC_BALANCE_FULL];
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

double calc_balance_flight_bytes(const calc_balance_problem *p, int place,
                                 const calc_balance_share *share)
{
    const calc_balance_layer *layer = layers_of(p, place);
    double bytes = p->place[place].flight_bytes;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const double *each = layer[kind].flight_bytes;
        int plain = share->layers[kind] - share->selective[kind] - share->full[kind];
        bytes += plain * each[CALC_BALANCE_NONE] +
                 share->selective[kind] * each[CALC_BALANCE_SELECTIVE] +
                 share->full[kind] * each[CALC_BALANCE_FULL];
    }
    return bytes;
}
