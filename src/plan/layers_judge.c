#include "plan/layers_judge.h"

#include <math.h>
#include <stdlib.h>

#include "plan/layers_bound.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

/* The planner's step and calc_run()'s may be so far apart: lists that are so little slower than
 * what was found are judged, too. */
#define NEAR 1.005

/* ---- The execution --------------------------------------------------------------------------- */

/* Members that are the same everywhere are left to the execution. */
#define LEAVE(list, base, member)                                                                  \
    do {                                                                                           \
        bool same = (list)->ends.member == (base)->member;                                         \
        for (int32_t i = 0; i < (list)->count; i++) {                                              \
            same = same && (list)->run[i].strategy.member == (base)->member;                       \
        }                                                                                          \
        for (int32_t i = -1; same && i < (list)->count; i++) {                                     \
            (i < 0 ? &(list)->ends : &(list)->run[i].strategy)->member = CALC_LAYER_AS_EXEC;       \
        }                                                                                          \
    } while (0)

static void shorten(const calc_layer_strategy *base, calc_layer_list *list)
{
    LEAVE(list, base, tensor_par);
    LEAVE(list, base, context_par);
    LEAVE(list, base, context_par_type);
    LEAVE(list, base, expert_par);
    LEAVE(list, base, zero_stage);
}

static bool add_run(calc_layer_list *list, const calc_layer_strategy *strategy, int blocks)
{
    calc_layer_run run[CALC_MAX_LAYER_RUNS + 1];
    for (int32_t i = 0; i < list->count; i++) {
        run[i] = list->run[i];
    }
    run[list->count] = (calc_layer_run){(int16_t)blocks, *strategy};
    return calc_layer_list_pack(run, list->count + 1, list);
}

static void put_stages(const calc_layers_answer *a, calc_exec *e)
{
    calc_stage_run run[CALC_MAX_PLACES];
    bool equal = true;
    for (int i = 0; i < a->stages && i < CALC_MAX_PLACES; i++) {
        int blocks = a->layers[i][0] + a->layers[i][1];
        run[i] = (calc_stage_run){
            1, (int16_t)blocks, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};
        equal = equal && blocks == run[0].blocks;
    }
    if (!equal && (a->stages > CALC_MAX_PLACES ||
                   !calc_stage_list_pack(run, a->stages, &e->stages))) {
        e->layers.count = 0;
    }
}

calc_exec calc_layers_exec_of(const calc_layers_case *c, const calc_layers_answer *a)
{
    calc_exec e = c->candidate->base;
    bool room = true;
    e.layers = (calc_layer_list){.ends = c->option[a->ends].strategy};
    for (int i = 0; i < a->stages; i++) {
        const calc_layers_stage *s = &a->stage[i];
        for (int kind = 0; kind < 2; kind++) {
            for (int k = 0; k < s->picks[kind]; k++) {
                const calc_layers_option *o = &c->option[s->pick[kind][k].option];
                room = room && add_run(&e.layers, &o->strategy, s->pick[kind][k].layers);
            }
        }
    }
    if (!room) {
        e.layers.count = 0;
        return e;
    }
    const calc_layer_strategy base = calc_layers_strategy_of(&e);
    shorten(&base, &e.layers);
    put_stages(a, &e);
    return e;
}

/* ---- calc_run() ------------------------------------------------------------------------------ */

/* A candidate at work. */
typedef struct bench {
    const calc_planner_layers *planner;
    const calc_layers_case *c;
    double limit_s;
    double *spare_bytes;     /* [stages] */
    calc_stage_stats *stage; /* [stages] */
} bench;

/* Every stage has as much room as it lacks, and the more the more often it was tried. */
static void tighten(bench *b, const calc_planner_layers_found *f, int round)
{
    size_t stages = (size_t)b->c->common.stages;
    size_t count = calc_each_stage(b->planner->app, b->planner->system, &f->exec, CALC_COMPAT_NONE,
                                   b->stage, stages);
    for (size_t i = 0; i < stages && i < count; i++) {
        double over_bytes = b->stage[i].mem_tier1 - b->c->common.capacity_bytes;
        b->spare_bytes[i] += over_bytes > 0 ? over_bytes * (round + 1) : 0;
    }
}

/* @return whether the list is a layout at all */
static bool judge(const bench *b, const calc_layers_answer *a, calc_planner_layers_found *f)
{
    const calc_planner_layers *p = b->planner;
    calc_errors ignored = {0};
    f->exec = calc_layers_exec_of(b->c, a);
    if (f->exec.layers.count == 0) {
        return false;
    }
    calc_resolve(p->app, p->system, &f->exec);
    if (calc_check(p->app, p->system, &f->exec, &ignored) != CALC_OK) {
        return false;
    }
    calc_run(p->app, p->system, &f->exec, CALC_COMPAT_NONE, &f->stats);
    return true;
}

/* The best list with some ends.
 * @param least_s  lowered to what bounds them */
static calc_status solve_ends(bench *b, int ends, double *least_s, calc_planner_layers_found *best)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < (size_t)b->c->common.stages; i++) {
        b->spare_bytes[i] = 0;
    }
    for (int round = 0; round <= CALC_LAYERS_ROUNDS && status == CALC_OK; round++) {
        calc_layers_answer a;
        calc_planner_layers_found f = {.rounds = round};
        status = calc_layers_join(b->c, ends, b->spare_bytes, b->limit_s * NEAR, &a);
        *least_s = round == 0 ? fmin(*least_s, a.bound_s) : *least_s;
        f.planned_s = a.planned_s;
        bool legal = status == CALC_OK && judge(b, &a, &f);
        calc_layers_answer_free(&a);
        if (!legal) {
            break;
        }
        if (f.stats.verdict == CALC_VERDICT_MEM1_CAPACITY) {
            tighten(b, &f, round);
            continue;
        }
        if (f.stats.verdict == CALC_VERDICT_OK && f.stats.total_time < b->limit_s) {
            *best = f;
            b->limit_s = f.stats.total_time;
        }
        break;
    }
    return status == CALC_ERR_NOMEM ? status : CALC_OK;
}

/* ---- A candidate ----------------------------------------------------------------------------- */

/* Ends, those with the least bound first. */
typedef struct order {
    int ends;
    double bound_s;
} order;

static int compare(const void *a, const void *b)
{
    const order *x = a;
    const order *y = b;
    if (x->bound_s != y->bound_s) {
        return x->bound_s < y->bound_s ? -1 : 1;
    }
    return x->ends - y->ends;
}

calc_status calc_layers_solve(const calc_planner_layers *planner, const calc_layers_case *c,
                              double limit_s, calc_planner_layers_found *found)
{
    size_t stages = (size_t)c->common.stages;
    order *ends = malloc((size_t)c->options * sizeof *ends);
    bench b = {planner, c, limit_s, malloc(stages * sizeof *b.spare_bytes),
               malloc(stages * sizeof *b.stage)};
    calc_status status = ends && b.spare_bytes && b.stage ? CALC_OK : CALC_ERR_NOMEM;
    double least_s = INFINITY;
    int count = 0;
    for (int i = 0; status == CALC_OK && i < c->options; i++) {
        if (c->option[i].ends) {
            ends[count++] = (order){i, calc_layers_bound_s(c, i)};
        }
    }
    qsort(ends, (size_t)count, sizeof *ends, compare);
    *found = (calc_planner_layers_found){.stats = {.total_time = INFINITY}};
    for (int i = 0; i < count && status == CALC_OK; i++) {
        if (ends[i].bound_s >= b.limit_s) {
            least_s = fmin(least_s, ends[i].bound_s);
            break;
        }
        status = solve_ends(&b, ends[i].ends, &least_s, found);
    }
    free(ends);
    free(b.spare_bytes);
    free(b.stage);
    found->bound_s = least_s;
    found->proven = found->rounds == 0 && found->planned_s <= least_s * (1 + 1e-9);
    bool any = isfinite(found->stats.total_time);
    return status != CALC_OK ? status : any ? CALC_OK : CALC_ERR_RULE;
}
