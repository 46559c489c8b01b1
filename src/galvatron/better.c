#include "galvatron/better.h"

#include <math.h>
#include <stdlib.h>

#include "galvatron/profiles.h"

enum { ROUNDS = 4, FRONT = 400, NODES = 50000 };

static double ends_s(const calc_galvatron_posed *p, int end, int stage)
{
    return p->ends_cost[end * p->task.pp + stage].nosync_s;
}

/* The step as a function of the first stage, with all other stages fixed. */
typedef struct first_stage {
    const calc_galvatron_posed *posed;
    int end;
    const calc_layerwise_point *point;
} first_stage;

static double step_with(const void *data, double micro_s, double sync_s)
{
    const first_stage *f = data;
    double sync[CALC_GALVATRON_STAGES];
    double nosync[CALC_GALVATRON_STAGES];
    for (int i = 0; i < f->posed->task.pp; i++) {
        double own_s = i ? f->point[i].micro_s : micro_s;
        nosync[i] = own_s + ends_s(f->posed, f->end, i);
        sync[i] = own_s + (i ? f->point[i].sync_s : sync_s);
    }
    return calc_galvatron_pipeline_s(f->posed->task.pp, f->posed->task.chunks, sync, nosync);
}

static double step_of(const calc_galvatron_posed *p, int end, const calc_layerwise_point *point)
{
    const first_stage f = {p, end, point};
    return step_with(&f, point[0].micro_s, point[0].sync_s);
}

/* Time of a stage's gradient reduction that nothing hides [s]. */
static double exposed_s(const calc_galvatron_posed *p, int end, int stage,
                        const calc_layerwise_point *point)
{
    double s = point[stage].sync_s - ends_s(p, end, stage);
    for (int i = 0; i < stage; i++) {
        s -= point[i].micro_s + ends_s(p, end, i);
    }
    return s;
}

static bool choose_from(const calc_galvatron_posed *p, int end, int stage, calc_galvatron_joined *j)
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
    free(front.point);
    return true;
}

enum { LINES = 3, TRIES = 12 };

/* Lines in the first stage's micro_s; their maximum is the step without exposed reductions. */
typedef struct lines {
    double slope[LINES], at_0[LINES];
} lines;

static lines lines_of(const calc_galvatron_posed *p, int end, const calc_layerwise_point *point)
{
    double chunks = (double)p->task.chunks;
    double stages = p->task.pp;
    double others_s = 0;
    double last_s = 0;
    for (int i = 1; i < p->task.pp; i++) {
        last_s = point[i].micro_s + ends_s(p, end, i);
        others_s += last_s;
    }
    double fill = fmin(stages - 1, chunks - 1);
    double rest = fmax(0, chunks + 1 - stages);
    lines l = {{stages > 1 ? 1 : chunks, fill + rest, rest},
               {others_s + last_s * (chunks - 1), 0, others_s}};
    for (int i = 0; i < LINES; i++) {
        l.at_0[i] += l.slope[i] * ends_s(p, end, 0);
    }
    return l;
}

static double greatest(const lines *l, double micro_s)
{
    double most = -INFINITY;
    for (int i = 0; i < LINES; i++) {
        most = fmax(most, l->slope[i] * micro_s + l->at_0[i]);
    }
    return most;
}

/* The largest offset for which slope * micro_s + offset stays below the maximum of all lines. The
 * minimum is at an intersection of two lines. */
static double offset_of(const lines *l, double slope)
{
    double least = greatest(l, 0);
    for (int i = 0; i < LINES; i++) {
        for (int j = 0; j < i; j++) {
            double at = (l->at_0[j] - l->at_0[i]) / (l->slope[i] - l->slope[j]);
            if (l->slope[i] != l->slope[j] && at > 0) {
                least = fmin(least, greatest(l, at) - slope * at);
            }
        }
    }
    return least;
}

/* Weights of a linear function below the step, and the lower bound that they prove. */
typedef struct weights {
    double micro, sync, offset, bound_s;
} weights;

/* The strongest weights in which one second of sync_s counts `ratio` times as much as one of
 * micro_s. The proven bound is concave in the weights. */
static weights strongest_in(const calc_galvatron_posed *p, int end, const lines *l, double low,
                            double high, double ratio)
{
    double least_s = calc_layerwise_bound(&p->stage[0], 1, ratio);
    weights best = {.bound_s = -INFINITY};
    high = fmax(low, fmin(high, 1 / ratio));
    for (int i = 0; i < 2 * TRIES; i++) {
        weights of[2];
        for (int side = 0; side < 2; side++) {
            weights *w = &of[side];
            w->micro = low + (high - low) * (side ? 0.618 : 0.382);
            w->sync = fmin(1, w->micro * ratio);
            w->offset = offset_of(l, w->micro) - w->sync * ends_s(p, end, 0);
            w->bound_s = w->micro * least_s + w->offset;
            best = w->bound_s > best.bound_s ? *w : best;
        }
        *(of[0].bound_s >= of[1].bound_s ? &high : &low) =
            of[0].bound_s >= of[1].bound_s ? of[1].micro : of[0].micro;
    }
    return best;
}

static weights strongest(const calc_galvatron_posed *p, int end, const lines *l)
{
    double low = fmin(l->slope[0], l->slope[2]);
    double high = fmax(l->slope[0], l->slope[1]);
    double least = 0;
    double most = 1 / low;
    weights best = strongest_in(p, end, l, low, high, 1 / high);
    for (int i = 0; i < TRIES; i++) {
        double a = least + (most - least) * 0.382;
        double b = least + (most - least) * 0.618;
        weights of_a = strongest_in(p, end, l, low, high, a);
        weights of_b = strongest_in(p, end, l, low, high, b);
        if (of_a.bound_s >= of_b.bound_s) {
            most = b;
        } else {
            least = a;
        }
        best = of_a.bound_s > best.bound_s ? of_a : best;
        best = of_b.bound_s > best.bound_s ? of_b : best;
    }
    return best;
}

/* Chooses the best first stage with the others fixed.
 * @return a lower bound on the step for any first stage, provided that the others cannot be
 * shorter */
static double choose_first(const calc_galvatron_posed *p, int end, double limit_s,
                           calc_galvatron_joined *j, bool *proven)
{
    lines l = lines_of(p, end, j->point);
    weights w = strongest(p, end, &l);
    *proven = w.bound_s > limit_s;
    if (*proven) {
        return w.bound_s;
    }
    first_stage f = {p, end, j->point};
    calc_layerwise_aim aim = {.value = step_with,
                              .data = &f,
                              .micro_weight = w.micro,
                              .sync_weight = w.sync,
                              .offset = w.offset,
                              .limit = fmin(j->step_s, limit_s),
                              .most_nodes = NODES};
    calc_layerwise_point best;
    if (calc_layerwise_best_of(&p->stage[0], &aim, &best, proven)) {
        j->point[0] = best;
        j->step_s = aim.limit;
    }
    return *proven ? aim.limit : w.bound_s;
}

/* Chooses the best first stage as if the others exposed no reduction. @return the bound */
static double hide_others(const calc_galvatron_posed *p, int end, double limit_s,
                          calc_galvatron_joined *j)
{
    double sync_s[CALC_GALVATRON_STAGES] = {0};
    calc_layerwise_point before = j->point[0];
    double step_s = j->step_s;
    bool proven;
    for (int stage = 1; stage < p->task.pp; stage++) {
        sync_s[stage] = j->point[stage].sync_s;
        j->point[stage].sync_s = 0;
    }
    double bound_s = choose_first(p, end, limit_s, j, &proven);
    for (int stage = 1; stage < p->task.pp; stage++) {
        j->point[stage].sync_s = sync_s[stage];
    }
    j->step_s = step_of(p, end, j->point);
    if (j->step_s >= step_s) {
        j->step_s = step_s;
        j->point[0] = before;
    }
    return bound_s;
}

/* Lets the stages with exposed reductions choose again, one after the other. */
static bool settle(const calc_galvatron_posed *p, int end, calc_galvatron_joined *j)
{
    for (int round = 0; round < ROUNDS; round++) {
        double before_s = j->step_s;
        bool proven;
        choose_first(p, end, INFINITY, j, &proven);
        for (int stage = 1; stage < p->task.pp; stage++) {
            if (exposed_s(p, end, stage, j->point) > 0 && !choose_from(p, end, stage, j)) {
                return false;
            }
        }
        if (j->step_s == before_s) {
            break;
        }
    }
    return true;
}

calc_status calc_galvatron_better(calc_galvatron_posed *p, int end, double limit_s,
                                  calc_galvatron_joined *j)
{
    double exposed = 0;
    bool first_only = true;
    for (int stage = 0; stage < p->task.pp; stage++) {
        p->stage[stage].budget_bytes = calc_galvatron_room_mb(p, end, stage);
        p->stage[stage].switch_s = p->switch_s;
        if (!calc_layerwise_best(&p->stage[stage], 1, 0, &j->point[stage])) {
            return CALC_ERR_RULE;
        }
        double s = exposed_s(p, end, stage, j->point);
        exposed = fmax(exposed, s);
        first_only &= stage == 0 || s <= 0;
    }
    j->step_s = j->bound_s = step_of(p, end, j->point);
    j->bound_s -= exposed;
    if (exposed > 0 && j->bound_s <= limit_s) {
        j->bound_s = fmax(j->bound_s, hide_others(p, end, limit_s, j));
        if (!first_only && !settle(p, end, j)) {
            return CALC_ERR_NOMEM;
        }
    }
    return CALC_OK;
}

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
    return p->switch_s[calc_galvatron_doublings(calc_galvatron_degree(a)) * CALC_GALVATRON_GROUPS +
                       calc_galvatron_doublings(calc_galvatron_degree(b))];
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

/* Step with strategy i for every layer; INFINITY: it does not fit. */
static double coarse_step_of(const calc_galvatron_posed *p, int i, double *remain_mb)
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
    const calc_galvatron_request *r = p->c.request;
    double remain_mb[CALC_GALVATRON_STAGES];
    int best = -1;
    for (int i = 0; i < p->strategies && p->ends > 0; i++) {
        /* Upstream asks only whether embedding and head have any strategy. */
        bool off = !r->compat && ((r->disable_embedding_lmhead_tp && p->layer[i].tp > 1) ||
                                  (r->disable_embedding_lmhead_sp && p->layer[i].sp > 1));
        double step_s = off ? INFINITY : coarse_step_of(p, i, remain_mb);
        if (step_s < INFINITY && (best < 0 || step_s < out->step_s)) {
            best = i;
            out->step_s = step_s;
        }
    }
    if (best < 0) {
        return false;
    }
    int64_t layers = calc_galvatron_layer_count(p->c.request);
    out->ends = p->layer[best];
    out->ends.checkpoint = false;
    out->reshard_s = 0;
    coarse_step_of(p, best, out->remain_mb);
    for (int64_t i = 0; i < layers; i++) {
        out->layer[i] = p->layer[best];
    }
    return true;
}
