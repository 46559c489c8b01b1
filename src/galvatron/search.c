#include "galvatron/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/make.h"
#include "galvatron/posed.h"
#include "galvatron/profiles.h"

static bool within(int64_t value, int64_t most)
{
    return most < 0 || value <= most;
}

/* Adds all strategies of a split: its types, plain and checkpointed. @return the new count */
static int add_types(const calc_galvatron_request *r, calc_galvatron_strategy s, bool ends,
                     calc_galvatron_strategy *out, int count)
{
    /* The port searches all three types for layers, and always shards the states of the ends. */
    bool all = r->dialect == CALC_GALVATRON_PADDLE && !ends;
    calc_galvatron_dp types[] = {s.dp == 1 || all ? CALC_GALVATRON_DDP : r->default_dp_type,
                                 CALC_GALVATRON_ZERO3, CALC_GALVATRON_ZERO2};
    for (int type = 0; type < (s.dp == 1 ? 1 : all ? 3 : 2); type++) {
        for (int checkpoint = 0; checkpoint < (ends ? 1 : 2); checkpoint++) {
            s.type = types[type];
            s.checkpoint = checkpoint;
            if (!((r->disable_pp && s.pp > 1) || (r->disable_tp && s.tp > 1) ||
                  (r->disable_sp && s.sp > 1) || (r->disable_cp && s.cp > 1) ||
                  (r->disable_dp && s.dp > 1) || (r->disable_ckpt && s.checkpoint) ||
                  (r->disable_fsdp && s.type == CALC_GALVATRON_ZERO3) ||
                  (ends && r->disable_embedding_lmhead_tp && s.tp > 1) ||
                  (ends && r->disable_embedding_lmhead_sp && s.sp > 1))) {
                if (out) {
                    out[count] = s;
                }
                count++;
            }
        }
    }
    return count;
}

int calc_galvatron_strategies(const calc_galvatron_request *r, int pp, bool ends,
                              calc_galvatron_strategy *out)
{
    int64_t ranks = calc_galvatron_world(r) / pp;
    int count = 0;
    for (int tp = 1; tp <= ranks && within(tp, r->max_tp_deg); tp *= 2) {
        for (int sp = 1; sp <= (tp > 1 ? 1 : ranks) && within(sp, r->max_sp_deg); sp *= 2) {
            /* dp takes the remaining ranks and falls as cp rises, because upstream sorts by cp
             * first. */
            for (int cp = 1; (int64_t)tp * sp * cp <= ranks && within(cp, r->max_cp_deg); cp *= 2) {
                calc_galvatron_strategy s = {
                    .pp = pp, .tp = tp, .sp = sp, .cp = cp, .dp = (int)(ranks / tp / sp / cp)};
                count = add_types(r, s, ends, out, count);
            }
        }
    }
    return count;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Most ranks of data parallelism: each needs a sample. */
static int64_t most_dp(const calc_galvatron_request *r, const calc_galvatron_task *task)
{
    int64_t dp = least(task->gbsz / task->chunks, calc_galvatron_world(r) / task->pp);
    return dp < 1 ? 1 : dp;
}

bool calc_galvatron_allows(const calc_galvatron_request *r, const calc_galvatron_task *task,
                           const calc_galvatron_strategy *s)
{
    /* Upstream drops leftover samples; a trained layout may have none. */
    bool equal = r->compat || task->gbsz / task->chunks % s->dp == 0;
    return equal && calc_galvatron_degree(s) <= task->buffer_tp && s->dp <= most_dp(r, task) &&
           (task->mode != CALC_GALVATRON_TP_ONLY || s->sp == 1) &&
           (task->mode != CALC_GALVATRON_SP_ONLY || s->tp == 1);
}

static int add_modes(const calc_galvatron_request *r, calc_galvatron_task task,
                     calc_galvatron_task *out, int count)
{
    int64_t ranks = calc_galvatron_world(r) / task.pp;
    int64_t most = r->max_tp_deg < 0 ? ranks : least(ranks, r->max_tp_deg);
    int64_t fewest = ranks / most_dp(r, &task);
    for (int mode = 0; mode <= CALC_GALVATRON_TP_WITH_SP; mode++) {
        task.mode = (calc_galvatron_mode)mode;
        for (int64_t tp = 1; tp <= most; tp *= 2) {
            if (mode == CALC_GALVATRON_SP_ONLY ? tp * 2 > most : tp >= fewest) {
                task.buffer_tp = (int)(mode == CALC_GALVATRON_SP_ONLY ? most : tp);
                if (out) {
                    out[count] = task;
                }
                count++;
            }
        }
    }
    return count;
}

static int add_stages(const calc_galvatron_request *r, calc_galvatron_task task,
                      calc_galvatron_task *out, int count)
{
    int64_t layers = calc_galvatron_layer_count(r);
    int64_t most =
        least(least(calc_galvatron_world(r), least(layers, task.chunks)), CALC_GALVATRON_STAGES);
    for (int pp = 1; pp <= most && within(pp, r->max_pp_deg); pp *= 2) {
        task.pp = pp;
        if (calc_galvatron_strategies(r, pp, true, NULL) > 0) {
            count = add_modes(r, task, out, count);
        }
    }
    return count;
}

int calc_galvatron_tasks(const calc_galvatron_request *r, calc_galvatron_task *out)
{
    int count = 0;
    int64_t scale = r->bsz_scale > 0 ? r->bsz_scale : 1;
    int64_t first = r->settle_bsz > 0 ? r->settle_bsz : (r->min_bsz > scale ? r->min_bsz : scale);
    int64_t last = r->settle_bsz > 0 ? r->settle_bsz : r->max_bsz;
    for (int64_t gbsz = first; gbsz <= last; gbsz += scale) {
        bool settled = r->settle_chunk > 0;
        for (int64_t chunks = settled ? r->settle_chunk : 1;
             chunks <= (settled ? r->settle_chunk : gbsz); chunks++) {
            if (gbsz % chunks == 0) {
                calc_galvatron_task task = {.gbsz = gbsz, .chunks = chunks};
                count = add_stages(r, task, out, count);
            }
        }
    }
    return count;
}

/* ---- The best layers of a task ----------------------------------------------------------------
 */

enum { ROUNDS = 4, NODES = 50000 };

static double ends_s(const calc_galvatron_posed *p, int end, int stage)
{
    return p->ends_cost[end * p->task.pp + stage].nosync_s;
}

/* The step as a function of one stage, with all other stages fixed. */
typedef struct one_stage {
    const calc_galvatron_posed *posed;
    int end, stage;
    const calc_layerwise_point *point;
} one_stage;

static double step_with(const void *data, double micro_s, double sync_s)
{
    const one_stage *o = data;
    double sync[CALC_GALVATRON_STAGES], nosync[CALC_GALVATRON_STAGES];
    for (int i = 0; i < o->posed->task.pp; i++) {
        double own_s = i == o->stage ? micro_s : o->point[i].micro_s;
        nosync[i] = own_s + ends_s(o->posed, o->end, i);
        sync[i] = own_s + (i == o->stage ? sync_s : o->point[i].sync_s);
    }
    return calc_galvatron_pipeline_s(o->posed->task.pp, o->posed->task.chunks, sync, nosync);
}

static double step_of(const calc_galvatron_posed *p, int end, const calc_layerwise_point *point)
{
    const one_stage o = {p, end, 0, point};
    return step_with(&o, point[0].micro_s, point[0].sync_s);
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

/* Chooses the best of a stage with the others fixed.
 * @return a lower bound on the step for any choice, provided that the others cannot be shorter */
static double choose(const calc_galvatron_posed *p, int end, int stage, double limit_s,
                     calc_galvatron_joined *j)
{
    const one_stage o = {p, end, stage, j->point};
    calc_layerwise_aim aim = {
        .value = step_with, .data = &o, .limit = fmin(j->step_s, limit_s), .most_nodes = NODES};
    calc_layerwise_point best;
    bool proven;
    if (calc_layerwise_best_of(&p->stage[stage], &aim, &best, &proven)) {
        j->point[stage] = best;
        j->step_s = aim.limit;
    }
    return proven ? aim.limit : -INFINITY;
}

/* Chooses the best first stage as if the others exposed no reduction. @return the bound */
static double hide_others(const calc_galvatron_posed *p, int end, double limit_s,
                          calc_galvatron_joined *j)
{
    double sync_s[CALC_GALVATRON_STAGES] = {0};
    calc_layerwise_point before = j->point[0];
    double step_s = j->step_s;
    for (int stage = 1; stage < p->task.pp; stage++) {
        sync_s[stage] = j->point[stage].sync_s;
        j->point[stage].sync_s = 0;
    }
    double bound_s = choose(p, end, 0, limit_s, j);
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
static void settle(const calc_galvatron_posed *p, int end, calc_galvatron_joined *j)
{
    double before_s = INFINITY;
    for (int round = 0; round < ROUNDS && j->step_s < before_s; round++) {
        before_s = j->step_s;
        for (int stage = 0; stage < p->task.pp; stage++) {
            if (stage == 0 || exposed_s(p, end, stage, j->point) > 0) {
                choose(p, end, stage, INFINITY, j);
            }
        }
    }
}

bool calc_galvatron_better(calc_galvatron_posed *p, int end, double limit_s,
                           calc_galvatron_joined *j)
{
    double exposed = 0;
    bool first_only = true;
    for (int stage = 0; stage < p->task.pp; stage++) {
        p->stage[stage].budget_bytes = calc_galvatron_room_mb(p, end, stage);
        p->stage[stage].switch_s = p->switch_s;
        if (!calc_layerwise_best(&p->stage[stage], 1, 0, &j->point[stage])) {
            return false;
        }
        double s = exposed_s(p, end, stage, j->point);
        exposed = fmax(exposed, s);
        first_only &= stage == 0 || s <= 0;
    }
    j->step_s = j->bound_s = step_of(p, end, j->point);
    j->bound_s -= exposed;
    if (exposed > 0 && j->bound_s <= limit_s) {
        j->bound_s = fmax(j->bound_s, hide_others(p, end, limit_s, j));
        if (!first_only) {
            settle(p, end, j);
        }
    }
    return true;
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
    double sync_s[CALC_GALVATRON_STAGES], nosync_s[CALC_GALVATRON_STAGES];
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
    calc_galvatron_pose(&p, &c, &answer->task);
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
    double sync_s[CALC_GALVATRON_STAGES], nosync_s[CALC_GALVATRON_STAGES];
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

/* ---- The search -------------------------------------------------------------------------------
 */

/* Relative rounding of bounds. */
static const double ROUNDING = 1e-9;

/* A task during the search. */
typedef struct entry {
    calc_galvatron_task task;
    int order;      /* position in upstream's loops */
    double bound_s; /* lower bound per sample */
} entry;

typedef struct search {
    const calc_galvatron_request *request;
    calc_galvatron_case c;
    calc_galvatron_found *found;
    int best_order, second_order;
    calc_galvatron_joined joined;
    calc_galvatron_answer answer; /* of the current task */
    double bound_s;               /* per sample; lower bound of everything unproven */
    int choice[CALC_GALVATRON_LAYERS];
} search;

static double sample_s(const calc_galvatron_answer *answer)
{
    return answer->feasible ? answer->step_s / (double)answer->task.gbsz : INFINITY;
}

static bool is_alike(const calc_galvatron_task *a, const calc_galvatron_task *b)
{
    return a->gbsz == b->gbsz && a->chunks == b->chunks && a->pp == b->pp;
}

/* The time per sample below which a task can matter. */
static double needed_s(const search *s, const calc_galvatron_task *task)
{
    const calc_galvatron_found *f = s->found;
    bool alike = f->best.feasible && is_alike(task, &f->best.task);
    return sample_s(alike ? &f->best : &f->second) * (1 + ROUNDING);
}

static bool is_better(const calc_galvatron_answer *a, int a_order, const calc_galvatron_answer *b,
                      int b_order)
{
    return !b->feasible || a->throughput > b->throughput ||
           (a->throughput == b->throughput && a_order < b_order);
}

static void enter(search *s, int order)
{
    calc_galvatron_found *f = s->found;
    calc_galvatron_answer *a = &s->answer;
    bool alike = f->best.feasible && is_alike(&a->task, &f->best.task);
    if (is_better(a, order, &f->best, s->best_order)) {
        if (!alike) {
            f->second = f->best;
            s->second_order = s->best_order;
        }
        f->best = *a;
        s->best_order = order;
    } else if (!alike && is_better(a, order, &f->second, s->second_order)) {
        f->second = *a;
        s->second_order = order;
    }
}

static void finish(search *s, const calc_galvatron_posed *p)
{
    calc_galvatron_answer *a = &s->answer;
    a->feasible = true;
    a->task = p->task;
    for (int i = 0; i < p->task.pp; i++) {
        a->division[i] = (int)calc_galvatron_stage_layers(s->request, p->task.pp, i);
        a->used_mb[i] = p->limit_mb - a->remain_mb[i] + s->found->reserve_mb;
    }
    a->throughput = (double)p->task.gbsz / a->step_s;
}

/* Finds the layers of all stages with these ends. @return false if a stage does not fit */
static bool solve_whole(search *s, calc_galvatron_posed *p, int end, double *step_s,
                        double *remain_mb)
{
    double nosync_s[CALC_GALVATRON_STAGES], sync_s[CALC_GALVATRON_STAGES];
    int at = 0;
    for (int stage = 0; stage < p->task.pp; stage++) {
        if (!calc_galvatron_whole(p, stage, calc_galvatron_room_mb(p, end, stage), &s->choice[at],
                                  &remain_mb[stage])) {
            return false;
        }
        nosync_s[stage] = sync_s[stage] = 0;
        for (int kind = 0; kind < p->stage[stage].kinds; kind++) {
            int type = calc_galvatron_type_of(p, stage, kind);
            for (int i = 0; i < p->stage[stage].kind[kind].layers; i++, at++) {
                const calc_galvatron_layer_cost *cost =
                    &p->cost[type * p->strategies + s->choice[at]];
                nosync_s[stage] += cost->nosync_s;
                sync_s[stage] += cost->sync_s;
            }
        }
        nosync_s[stage] += p->ends_cost[end * p->task.pp + stage].nosync_s;
    }
    *step_s = calc_galvatron_pipeline_s(p->task.pp, p->task.chunks, sync_s, nosync_s);
    return true;
}

static void keep_joined(search *s, calc_galvatron_posed *p, int end)
{
    calc_galvatron_answer *a = &s->answer;
    int at = 0;
    for (int stage = 0; stage < p->task.pp; stage++) {
        const calc_layerwise_point *point = &s->joined.point[stage];
        for (int kind = 0; kind < p->stage[stage].kinds; kind++) {
            for (int i = 0; i < point->picks[kind]; i++) {
                for (int n = 0; n < point->pick[kind][i].layers; n++) {
                    a->layer[at++] = p->layer[point->pick[kind][i].option];
                }
            }
        }
        a->remain_mb[stage] = calc_galvatron_room_mb(p, end, stage) - point->bytes;
    }
    a->ends = p->end[end];
    finish(s, p);
    a->step_s = calc_galvatron_judge_posed_s(p, a, &a->reshard_s);
    a->throughput = (double)p->task.gbsz / a->step_s;
}

typedef struct ends_entry {
    double bound_s;
    int end;
} ends_entry;

static CALC_ORDER_BY(by_bound, ends_entry, bound_s, end)

/* Tries one choice of ends. `*best` is the end of s->answer, -1 at first. */
static void try_end(search *s, calc_galvatron_posed *p, int end, double need_s, int *best)
{
    double step_s, remain_mb[CALC_GALVATRON_STAGES];
    double limit_s = *best < 0 ? INFINITY : s->answer.step_s;
    if (s->request->compat) {
        if (solve_whole(s, p, end, &step_s, remain_mb) &&
            (step_s < limit_s || (step_s == limit_s && end < *best))) {
            calc_galvatron_answer *a = &s->answer;
            int layers = (int)calc_galvatron_layer_count(s->request);
            for (int i = 0; i < layers; i++) {
                a->layer[i] = p->layer[s->choice[i]];
            }
            memcpy(a->remain_mb, remain_mb, (size_t)p->task.pp * sizeof *remain_mb);
            a->step_s = step_s;
            a->reshard_s = 0;
            a->ends = p->end[end];
            finish(s, p);
            *best = end;
        }
        return;
    }
    if (!calc_galvatron_better(p, end, need_s, &s->joined)) {
        return;
    }
    if (s->joined.bound_s < fmin(s->joined.step_s, need_s)) {
        s->bound_s = fmin(s->bound_s, s->joined.bound_s / (double)p->task.gbsz);
    }
    if (s->joined.step_s < limit_s) {
        keep_joined(s, p, end);
        *best = end;
    }
}

static void solve_ends(search *s, calc_galvatron_posed *p, ends_entry *list, int *best)
{
    for (int end = 0; end < p->ends; end++) {
        list[end] = (ends_entry){calc_galvatron_bound_s(p, end, true), end};
    }
    CALC_SORT(list, (size_t)p->ends, by_bound);
    for (int i = 0; i < p->ends && list[i].bound_s < INFINITY; i++) {
        double limit_s = needed_s(s, &p->task) * (double)p->task.gbsz;
        limit_s = fmin(limit_s, *best < 0 ? INFINITY : s->answer.step_s * (1 + ROUNDING));
        if (list[i].bound_s > limit_s) {
            break;
        }
        try_end(s, p, list[i].end, limit_s, best);
    }
}

static void solve_task(search *s, const entry *e)
{
    calc_galvatron_posed p;
    int best = -1;
    calc_galvatron_pose(&p, &s->c, &e->task);
    if (!s->request->fine_grained) {
        best = calc_galvatron_coarse(&p, &s->answer) ? 0 : -1;
        if (best == 0) {
            finish(s, &p);
        }
    } else {
        ends_entry *list = calc_make((size_t)p.ends, sizeof *list);
        solve_ends(s, &p, list, &best);
        free(list);
    }
    calc_galvatron_posed_free(&p);
    if (best >= 0) {
        enter(s, e->order);
    }
    s->found->solved++;
}

static CALC_ORDER_BY(by_task_bound, entry, bound_s, order)

static void bound_tasks(search *s, entry *list, int count)
{
    s->found->unlimited_s = s->found->least_mb = INFINITY;
    for (int i = 0; i < count; i++) {
        calc_galvatron_posed p;
        calc_galvatron_pose(&p, &s->c, &list[i].task);
        double samples = (double)list[i].task.gbsz;
        list[i].bound_s =
            s->request->fine_grained ? calc_galvatron_bound_s(&p, -1, true) / samples : 0;
        s->found->least_mb = fmin(s->found->least_mb, calc_galvatron_least_mb(&p));
        s->found->unlimited_s =
            fmin(s->found->unlimited_s, calc_galvatron_bound_s(&p, -1, false) / samples);
        calc_galvatron_posed_free(&p);
    }
}

static void solve_all(search *s)
{
    int count = calc_galvatron_tasks(s->request, NULL);
    calc_galvatron_task *task = calc_make((size_t)count, sizeof *task);
    entry *list = calc_make((size_t)count, sizeof *list);
    calc_galvatron_tasks(s->request, task);
    for (int i = 0; i < count; i++) {
        list[i] = (entry){.task = task[i], .order = i};
    }
    bound_tasks(s, list, count);
    CALC_SORT(list, (size_t)count, by_task_bound);
    for (int i = 0; i < count && list[i].bound_s < INFINITY; i++) {
        if (list[i].bound_s <= needed_s(s, &list[i].task)) {
            solve_task(s, &list[i]);
        }
    }
    free(task);
    free(list);
    s->found->tasks = count;
}

/* Uses upstream's answer if the default's is not proven and takes longer. */
static calc_status take_whole(const calc_galvatron_request *request,
                              const calc_galvatron_profiles *profiles, calc_galvatron_found *out)
{
    calc_galvatron_request whole = *request;
    whole.compat = true;
    calc_galvatron_found *found = calc_make(1, sizeof *found);
    calc_status status = calc_galvatron_search(&whole, profiles, found);
    calc_galvatron_answer *a = &found->best;
    if (status == CALC_OK && a->feasible) {
        a->step_s = calc_galvatron_judge_s(request, profiles, a, &a->reshard_s);
        a->throughput = (double)a->task.gbsz / a->step_s;
        for (int i = 0; i < a->task.pp; i++) {
            a->remain_mb[i] += out->limit_mb - found->limit_mb;
        }
        if (a->throughput > out->best.throughput) {
            out->best = *a;
        }
    }
    free(found);
    return status;
}

calc_status calc_galvatron_search(const calc_galvatron_request *request,
                                  const calc_galvatron_profiles *profiles,
                                  calc_galvatron_found *out)
{
    *out = (calc_galvatron_found){.proven = true};
    if (calc_galvatron_layer_count(request) > CALC_GALVATRON_LAYERS) {
        return CALC_ERR_RULE;
    }
    calc_galvatron_limits limits = calc_galvatron_limits_of(request);
    out->limit_mb = limits.limit_mb;
    out->reserve_mb = limits.reserve_mb;
    search *s = calc_make(1, sizeof *s);
    calc_status status = CALC_OK;
    s->request = request;
    s->c = (calc_galvatron_case){.request = request, .profiles = profiles};
    s->found = out;
    s->bound_s = INFINITY;
    solve_all(s);
    if (out->best.feasible && s->bound_s < sample_s(&out->best) * (1 - ROUNDING)) {
        out->proven = false;
        status = take_whole(request, profiles, out);
        out->gap = 1 - s->bound_s / sample_s(&out->best);
    }
    free(s);
    return status;
}
