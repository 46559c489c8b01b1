#include "galvatron/posed.h"

#include <math.h>
#include <stdlib.h>

#include "galvatron/cost_terms.h"

calc_galvatron_limits calc_galvatron_limits_of(const calc_galvatron_request *request)
{
    static const double FREE_MB = 20480; /* nothing is reserved up to this size */
    double budget_mb = request->memory_constraint * 1024;
    double share = request->dialect == CALC_GALVATRON_PADDLE ? 0.7 : 0.8;
    double limit_mb = fmax(fmin(budget_mb, FREE_MB), ceil(share * budget_mb));
    if (request->compat) {
        budget_mb = floor(budget_mb);
        limit_mb = budget_mb - (floor(budget_mb / 1024) > 20 ? floor(0.2 * budget_mb) : 0);
    }
    return (calc_galvatron_limits){limit_mb, budget_mb - limit_mb};
}

double calc_galvatron_room_mb(const calc_galvatron_posed *p, int end, int stage)
{
    return p->limit_mb - p->buffer_mb - p->ends_cost[end * p->task.pp + stage].mb;
}

/* First layer of a stage. */
static int64_t begin_of(const calc_galvatron_posed *p, int stage)
{
    return stage * calc_galvatron_stage_layers(p->c.request, p->task.pp, 0);
}

int calc_galvatron_type_of(const calc_galvatron_posed *p, int stage, int kind)
{
    int64_t at = begin_of(p, stage);
    int type = 0;
    while (at >= p->c.request->layers[type].layer_num) {
        at -= p->c.request->layers[type++].layer_num;
    }
    for (; kind > 0; kind--) {
        do {
            type++;
        } while (p->c.request->layers[type].layer_num == 0);
    }
    return type;
}

static double whole(const calc_galvatron_posed *p, double mb)
{
    return p->c.request->compat ? ceil(mb) : mb;
}

static int keep_allowed(const calc_galvatron_posed *p, calc_galvatron_strategy *list, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (calc_galvatron_allows(p->c.request, &p->task, &list[i])) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Options of a type of layers on a stage. */
static void fill_options(const calc_galvatron_posed *p, int stage, int type,
                         calc_layerwise_option *option)
{
    const calc_galvatron_layer_cost *cost = &p->cost[type * p->strategies];
    for (int i = 0; i < p->strategies; i++) {
        const calc_galvatron_strategy *s = &p->layer[i];
        option[i] = (calc_layerwise_option){
            .micro_s = cost[i].nosync_s,
            .sync_s = fmax(0, cost[i].sync_s - cost[i].nosync_s),
            .bytes = whole(p, calc_galvatron_layer_mb(&p->c, s, type, stage)),
            .group = calc_galvatron_doublings(calc_galvatron_tpsp(s)),
        };
    }
}

static void fill_stage(calc_galvatron_posed *p, int stage)
{
    const calc_galvatron_request *r = p->c.request;
    calc_layerwise_stage *s = &p->stage[stage];
    *s = (calc_layerwise_stage){.groups = CALC_GALVATRON_GROUPS};
    int64_t at = begin_of(p, stage);
    int64_t left = calc_galvatron_stage_layers(r, p->task.pp, stage);
    for (int type = 0; left > 0; type++) {
        if (at >= r->layers[type].layer_num) {
            at -= r->layers[type].layer_num;
            continue;
        }
        int64_t here = r->layers[type].layer_num - at;
        here = here < left ? here : left;
        calc_layerwise_option *option =
            &p->option[((size_t)stage * CALC_GALVATRON_TYPES + (size_t)s->kinds) *
                       (size_t)p->strategies];
        fill_options(p, stage, type, option);
        s->kind[s->kinds++] = (calc_layerwise_kind){(int)here, p->strategies, option};
        left -= here;
        at = 0;
    }
}

void calc_galvatron_shorten(double *switch_s)
{
    int n = CALC_GALVATRON_GROUPS;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n * n; i++) {
            switch_s[i] = fmin(switch_s[i], switch_s[i / n * n + k] + switch_s[k * n + i % n]);
        }
    }
}

/* Re-sharding times from bytes, at upstream's rate but in seconds, for forward and backward. A
 * detour through other degrees is used if it is shorter. */
static void fill_switches(calc_galvatron_posed *p)
{
    static const double SECONDS = 2 * 1e-3 / 1048576 / 1e-7;
    int n = CALC_GALVATRON_GROUPS;
    for (int i = 0; i < n * n; i++) {
        p->switch_s[i] = i % (n + 1) ? INFINITY : 0;
    }
    for (int i = 0; i < p->strategies; i++) {
        for (int j = 0; j < p->strategies; j++) {
            int g = calc_galvatron_doublings(calc_galvatron_tpsp(&p->layer[i]));
            int h = calc_galvatron_doublings(calc_galvatron_tpsp(&p->layer[j]));
            for (int type = 0; type < p->c.request->types && p->switch_s[g * n + h] == INFINITY;
                 type++) {
                double cost = calc_galvatron_transition(&p->c, &p->layer[i], &p->layer[j], type);
                p->switch_s[g * n + h] = p->c.request->sequence_parallel ? cost * SECONDS : 0;
            }
        }
    }
    calc_galvatron_shorten(p->switch_s);
}

static void fill(calc_galvatron_posed *p)
{
    for (int type = 0; type < p->c.request->types; type++) {
        for (int i = 0; i < p->strategies; i++) {
            p->cost[type * p->strategies + i] =
                calc_galvatron_layer_cost_of(&p->c, &p->layer[i], type);
        }
    }
    for (int stage = 0; stage < p->task.pp; stage++) {
        fill_stage(p, stage);
        for (int e = 0; e < p->ends; e++) {
            calc_galvatron_ends_cost *ends = &p->ends_cost[e * p->task.pp + stage];
            *ends = calc_galvatron_ends_cost_of(&p->c, &p->end[e], stage);
            ends->mb = whole(p, ends->mb);
        }
    }
    fill_switches(p);
    /* Upstream rounds the buffer down to whole MB. The default does so too, so that everything that
     * fits there fits here. */
    p->buffer_mb = p->task.mode == CALC_GALVATRON_SP_ONLY
                       ? 0
                       : floor(calc_galvatron_buffer_mb(&p->c, p->task.pp, p->task.buffer_tp));
}

calc_status calc_galvatron_pose(calc_galvatron_posed *p, const calc_galvatron_case *c,
                                const calc_galvatron_task *task)
{
    const calc_galvatron_request *r = c->request;
    *p = (calc_galvatron_posed){.c = *c, .task = *task};
    p->c.gbsz = task->gbsz;
    p->c.chunks = task->chunks;
    p->limit_mb = calc_galvatron_limits_of(r).limit_mb;
    size_t pp = (size_t)task->pp;
    size_t most = (size_t)calc_galvatron_strategies(r, task->pp, false, NULL) + 1;
    size_t most_ends = (size_t)calc_galvatron_strategies(r, task->pp, true, NULL) + 1;
    p->cost = calloc(most * CALC_GALVATRON_TYPES, sizeof *p->cost);
    p->layer = calloc(most, sizeof *p->layer);
    p->end = calloc(most_ends, sizeof *p->end);
    p->ends_cost = malloc(most_ends * pp * sizeof *p->ends_cost);
    p->stage = malloc(pp * sizeof *p->stage);
    if (p->layer && p->end) {
        p->strategies =
            keep_allowed(p, p->layer, calc_galvatron_strategies(r, task->pp, false, p->layer));
        p->ends = keep_allowed(p, p->end, calc_galvatron_strategies(r, task->pp, true, p->end));
        size_t options = pp * CALC_GALVATRON_TYPES * ((size_t)p->strategies + 1);
        p->option = malloc(options * sizeof *p->option);
    }
    if (!p->layer || !p->end || !p->cost || !p->ends_cost || !p->stage || !p->option) {
        calc_galvatron_posed_free(p);
        return CALC_ERR_NOMEM;
    }
    fill(p);
    return CALC_OK;
}

void calc_galvatron_posed_free(calc_galvatron_posed *p)
{
    free(p->layer);
    free(p->end);
    free(p->cost);
    free(p->ends_cost);
    free(p->stage);
    free(p->option);
    *p = (calc_galvatron_posed){.strategies = 0};
}

/* The least memory and time of the ends on a stage. */
static calc_galvatron_ends_cost least_ends(const calc_galvatron_posed *p, int stage)
{
    calc_galvatron_ends_cost least = {.mb = INFINITY, .nosync_s = INFINITY};
    for (int e = 0; e < p->ends; e++) {
        const calc_galvatron_ends_cost *cost = &p->ends_cost[e * p->task.pp + stage];
        least.mb = fmin(least.mb, cost->mb);
        least.nosync_s = fmin(least.nosync_s, cost->nosync_s);
    }
    return least;
}

/* Lower bounds on the sums of a stage. */
typedef struct sums {
    double micro_s, both_s; /* one micro-batch; all chunks plus the reduction of the last one */
} sums;

static sums least_of(calc_galvatron_posed *p, int stage, double room_mb)
{
    p->stage[stage].budget_bytes = room_mb;
    p->stage[stage].switch_s = NULL;
    double chunks = (double)p->task.chunks;
    return (sums){calc_layerwise_bound(&p->stage[stage], 1, 0),
                  p->task.pp == 1 ? calc_layerwise_bound(&p->stage[stage], chunks, 1) : 0};
}

double calc_galvatron_bound_s(calc_galvatron_posed *p, int end, bool limited)
{
    static const double NONE[CALC_GALVATRON_STAGES] = {0};
    double nosync_s[CALC_GALVATRON_STAGES];
    sums least = {0};
    if (p->strategies == 0 || p->ends == 0) {
        return INFINITY;
    }
    for (int stage = 0; stage < p->task.pp; stage++) {
        calc_galvatron_ends_cost ends =
            end < 0 ? least_ends(p, stage) : p->ends_cost[end * p->task.pp + stage];
        least = least_of(p, stage, limited ? p->limit_mb - p->buffer_mb - ends.mb : INFINITY);
        if (least.micro_s == INFINITY) {
            return INFINITY;
        }
        nosync_s[stage] = least.micro_s + ends.nosync_s;
    }
    double step_s = calc_galvatron_pipeline_s(p->task.pp, p->task.chunks, NONE, nosync_s);
    if (p->task.pp == 1) { /* (chunks - 1) micro-batches, and one that reduces */
        step_s = fmax(step_s,
                      least.both_s + (double)(p->task.chunks - 1) * (nosync_s[0] - least.micro_s));
    }
    return step_s;
}

double calc_galvatron_least_mb(const calc_galvatron_posed *p)
{
    double most_mb = 0;
    for (int stage = 0; stage < p->task.pp; stage++) {
        const calc_layerwise_stage *s = &p->stage[stage];
        double mb = p->buffer_mb + least_ends(p, stage).mb;
        for (int kind = 0; kind < s->kinds; kind++) {
            double least_mb = INFINITY;
            for (int i = 0; i < s->kind[kind].options; i++) {
                least_mb = fmin(least_mb, s->kind[kind].option[i].bytes);
            }
            mb += s->kind[kind].layers * least_mb;
        }
        most_mb = fmax(most_mb, mb);
    }
    return most_mb;
}
