#include "plan/layers_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "plan/layers_case.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

/* Relative difference that the planner's step and calc_run()'s may have: lists slower than the best
 * found by no more than this are evaluated, too. */
#define NEAR 1.005

/* Free memory that the planner does not see justifies another search from this share of memory
 * on. */
#define LESS 0.002

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

static void put_stages(const calc_layers_answer *a, calc_exec *e)
{
    calc_stage_run run[CALC_MAX_PLACES];
    bool equal = true;
    for (int i = 0; i < a->stages && i < CALC_MAX_PLACES; i++) {
        int blocks = a->layers[i][0] + a->layers[i][1];
        run[i] = (calc_stage_run){1, (int16_t)blocks, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};
        equal = equal && blocks == run[0].blocks;
    }
    if (!equal &&
        (a->stages > CALC_MAX_PLACES || !calc_stage_list_pack(run, a->stages, &e->stages))) {
        e->layers.count = 0;
    }
}

/* A stage's layers one by one, kind by kind. */
typedef struct walk {
    const calc_layers_stage *stage;
    int pick[2], taken[2]; /* for each kind: its current pick, and how many of its layers are used
                              up */
} walk;

/* The next layers of a kind that have the same option. @return its number */
static int next_option(walk *w, int kind, int most, int *count)
{
    const calc_layerwise_pick *p = &w->stage->pick[kind][w->pick[kind]];
    int left = p->layers - w->taken[kind];
    *count = left < most ? left : most;
    w->taken[kind] += *count;
    if (*count == left) {
        w->pick[kind]++;
        w->taken[kind] = 0;
    }
    return p->option;
}

/* Layers of a chunk. @return false if the list is full */
static bool add_chunk(const calc_layers_case *c, const int layers[2], walk *w,
                      calc_layer_list *list)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int left = layers[kind], some; left > 0; left -= some) {
            int option = next_option(w, kind, left, &some);
            calc_layer_run run[CALC_MAX_LAYER_RUNS + 1];
            memcpy(run, list->run, (size_t)list->count * sizeof *run);
            run[list->count] = (calc_layer_run){(int16_t)some, c->option[option].strategy};
            if (!calc_layer_list_pack(run, list->count + 1, list)) {
                return false;
            }
        }
    }
    return true;
}

calc_exec calc_layers_exec_of(const calc_layers_case *c, const calc_layers_answer *a)
{
    calc_exec e = c->candidate->base;
    int chunks = (int)c->common.chunks;
    int from = 0;
    bool room = true;
    walk *at = calloc((size_t)a->stages, sizeof *at);
    e.layers = (calc_layer_list){.ends = c->option[a->ends].strategy};
    for (int place = 0; at && room && place < a->stages * chunks; place++) {
        int stage = place % a->stages;
        int layers[2];
        at[stage].stage = &a->stage[stage];
        calc_layers_split(c, from, (a->layers[stage][0] + a->layers[stage][1]) / chunks, layers);
        room = add_chunk(c, layers, &at[stage], &e.layers);
        from += layers[0] + layers[1];
    }
    if (!at || !room) {
        e.layers.count = 0;
    } else {
        const calc_layer_strategy base = calc_layers_strategy_of(&e);
        LEAVE(&e.layers, &base, tensor_par);
        LEAVE(&e.layers, &base, context_par);
        LEAVE(&e.layers, &base, context_par_type);
        LEAVE(&e.layers, &base, expert_par);
        LEAVE(&e.layers, &base, zero_stage);
        put_stages(a, &e);
    }
    free(at);
    return e;
}

/* ---- calc_run() ------------------------------------------------------------------------------ */

/* A candidate at work. */
typedef struct bench {
    const calc_planner *planner;
    const calc_layers_case *c;
    double limit_s;
    double *spare_bytes;     /* [stages] */
    calc_stage_stats *stage; /* [stages] */
    calc_exec resolved;      /* the list that is judged */
} bench;

/* Memory that must stay free on the stages, since they need more by calc_run() than by the
 * planner's numbers.
 * @param times  factor on what they lack, which grows with the number of attempts
 * @return whether that is worth another round */
static bool correct(bench *b, const calc_layers_answer *a, bool fits, int times)
{
    size_t stages = (size_t)a->stages;
    double capacity_bytes = b->c->common.capacity_bytes;
    bool any = false;
    size_t count = calc_each_stage(b->planner->app, &b->planner->chip[0].system, &b->resolved,
                                   CALC_COMPAT_NONE, b->stage, stages);
    for (size_t i = 0; i < stages && i < count; i++) {
        double over_bytes = b->stage[i].mem_tier1 - capacity_bytes;
        double more_bytes = b->stage[i].mem_tier1 - a->stage[i].bytes;
        if (over_bytes > 0) {
            b->spare_bytes[i] += over_bytes * times;
            any = true;
        } else if (fits && more_bytes < -LESS * capacity_bytes) {
            b->spare_bytes[i] = more_bytes;
            any = true;
        }
    }
    return any;
}

static uint64_t groups_of(const calc_layers_case *c, const calc_layers_answer *a)
{
    uint64_t groups = 0;
    for (int i = 0; i < a->stages; i++) {
        for (int kind = 0; kind < 2; kind++) {
            for (int k = 0; k < a->stage[i].picks[kind]; k++) {
                groups |= (uint64_t)1 << c->option[a->stage[i].pick[kind][k].option].group;
            }
        }
    }
    return groups;
}

/* The execution of a list, as it is and resolved, and its run. @return whether it is a legal layout
 */
static bool judge(const calc_planner *p, const calc_layers_case *c, const calc_layers_answer *a,
                  calc_exec *listed, calc_exec *resolved, calc_stats *stats)
{
    calc_errors ignored = {0};
    *listed = *resolved = calc_layers_exec_of(c, a);
    if (listed->layers.count == 0) {
        return false;
    }
    calc_resolve(p->app, &p->chip[0].system, resolved);
    if (calc_check(p->app, &p->chip[0].system, resolved, &ignored) != CALC_OK) {
        return false;
    }
    calc_run(p->app, &p->chip[0].system, resolved, CALC_COMPAT_NONE, stats);
    return true;
}

/* The best list for a set of wishes.
 * @param least_s  lowered to the bound of that list
 * @param used     a bit for each group of the list that was judged last */
static calc_status solve_want(bench *b, int ends, int group, double *least_s, uint64_t *used,
                              calc_planner_found *best)
{
    calc_status status = CALC_OK;
    bool open = true;
    for (size_t i = 0; i < (size_t)b->c->common.stages; i++) {
        b->spare_bytes[i] = 0;
    }
    for (int round = 0; round <= CALC_LAYERS_ROUNDS && open; round++) {
        const calc_layers_want want = {ends, group, b->spare_bytes, b->limit_s * NEAR};
        calc_layers_answer a;
        calc_planner_found f = {.rounds = round};
        status = calc_layers_join(b->c, &want, &a);
        *least_s = round == 0 ? fmin(*least_s, a.bound_s) : *least_s;
        f.planned_s = a.planned_s;
        open = status == CALC_OK && judge(b->planner, b->c, &a, &f.exec, &b->resolved, &f.stats);
        bool fits = open && f.stats.verdict == CALC_VERDICT_OK;
        if (fits && f.stats.total_time < b->limit_s) {
            *best = f;
            b->limit_s = f.stats.total_time;
        }
        if (open) {
            *used = groups_of(b->c, &a);
            bool full = f.stats.verdict == CALC_VERDICT_MEM1_CAPACITY;
            /* Search once more with free memory that the planner did not see. */
            open = (full || (fits && round == 0)) && correct(b, &a, fits, round + 1);
        }
        calc_layers_answer_free(&a);
    }
    return status == CALC_ERR_NOMEM ? status : CALC_OK;
}

/* The best list with some ends. The switch from the layers of a stage to those of the next is not
 * known while each stage is solved by itself: where layers are split in several ways, lists that
 * use only one of them may be better. */
static calc_status solve_ends(bench *b, int ends, double *least_s, calc_planner_found *best)
{
    uint64_t used = 0;
    uint64_t ignored;
    double other_s = INFINITY;
    calc_status status = solve_want(b, ends, -1, least_s, &used, best);
    bool several = b->c->common.stages > 1 && (used & (used - 1)) != 0;
    for (int g = 0; g < b->c->groups && several && status == CALC_OK; g++) {
        if (used >> g & 1) {
            status = solve_want(b, ends, g, &other_s, &ignored, best);
        }
    }
    return status;
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

calc_status calc_layers_solve(const calc_planner *planner, const calc_layers_case *c,
                              double limit_s, calc_planner_found *found)
{
    size_t stages = (size_t)c->common.stages;
    order *ends = malloc((size_t)c->options * sizeof *ends);
    bench b = {.planner = planner,
               .c = c,
               .limit_s = limit_s,
               .spare_bytes = malloc(stages * sizeof *b.spare_bytes),
               .stage = malloc(stages * sizeof *b.stage)};
    calc_status status = ends && b.spare_bytes && b.stage ? CALC_OK : CALC_ERR_NOMEM;
    double least_s = INFINITY;
    int count = 0;
    for (int i = 0; status == CALC_OK && i < c->options; i++) {
        if (c->option[i].ends) {
            ends[count++] = (order){i, calc_layers_bound_s(c, i)};
        }
    }
    if (count > 0) {
        qsort(ends, (size_t)count, sizeof *ends, compare);
    }
    *found = (calc_planner_found){.stats = {.total_time = INFINITY}};
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

/* ---- Step over memory ------------------------------------------------------------------------ */

enum {
    MOST = 100,  /* lists for each amount of working memory */
    BUDGETS = 48 /* of several stages */
};

/* Factor by which the curve goes beyond the memory available: it shows the gain from more. */
#define MORE 1.25

typedef struct curve {
    const calc_planner *planner;
    const calc_layers_case *c;
    calc_planner_layers_point *point;
    size_t count, room;
} curve;

/* Numbers of a list by calc_run(); none where it is no legal layout. */
static calc_status add_point(curve *v, const calc_layers_answer *a)
{
    calc_exec listed, resolved;
    calc_stats stats;
    if (!judge(v->planner, v->c, a, &listed, &resolved, &stats)) {
        return CALC_OK;
    }
    calc_planner_layers_point *grown = calc_grown(v->point, v->count, &v->room, sizeof *grown);
    if (!grown) {
        return CALC_ERR_NOMEM;
    }
    v->point = grown;
    v->point[v->count++] =
        (calc_planner_layers_point){stats.proc_mem_tier1_cap_req, stats.total_time, listed};
    return CALC_OK;
}

static int compare_points(const void *a, const void *b)
{
    const calc_planner_layers_point *x = a;
    const calc_planner_layers_point *y = b;
    if (x->needs_bytes != y->needs_bytes) {
        return x->needs_bytes < y->needs_bytes ? -1 : 1;
    }
    return (x->step_s > y->step_s) - (x->step_s < y->step_s);
}

/* Keep only lists that are quicker than all that need less. */
static void keep_best(curve *v)
{
    size_t kept = 0;
    qsort(v->point, v->count, sizeof *v->point, compare_points);
    for (size_t i = 0; i < v->count; i++) {
        if (kept == 0 || v->point[i].step_s < v->point[kept - 1].step_s) {
            v->point[kept++] = v->point[i];
        }
    }
    v->count = kept;
}

/* One stage: the whole curve. */
static calc_status add_lists(curve *v, int ends)
{
    const calc_layers_common *m = &v->c->common;
    const calc_layers_ask ask = {.layers = {m->layers[0], m->layers[1]},
                                 .ends = ends,
                                 .group = -1,
                                 .spare_bytes = (1 - MORE) * m->capacity_bytes,
                                 .limit_s = INFINITY};
    calc_layers_stage *list;
    size_t count;
    int layers[1][2] = {{m->layers[0], m->layers[1]}};
    bool room = calc_layers_stage_curve(v->c, &ask, MOST, &list, &count);
    calc_status status = room ? CALC_OK : CALC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        const calc_layers_answer a = {
            .ends = ends, .stages = 1, .stage = &list[i], .layers = layers};
        status = add_point(v, &a);
    }
    free(list);
    return status;
}

/* Several stages: one list for each of many budgets. */
static calc_status add_budgets(curve *v, int ends)
{
    const calc_layers_common *m = &v->c->common;
    double *spare_bytes = malloc((size_t)m->stages * sizeof *spare_bytes);
    calc_status status = spare_bytes ? CALC_OK : CALC_ERR_NOMEM;
    for (int i = BUDGETS; i > 0 && status == CALC_OK; i--) {
        for (int k = 0; k < (int)m->stages; k++) {
            spare_bytes[k] = (1 - MORE * i / BUDGETS) * m->capacity_bytes;
        }
        const calc_layers_want want = {ends, -1, spare_bytes, INFINITY};
        calc_layers_answer a;
        status = calc_layers_join(v->c, &want, &a);
        status = status == CALC_OK ? add_point(v, &a) : status;
        calc_layers_answer_free(&a);
    }
    free(spare_bytes);
    return status == CALC_ERR_NOMEM ? status : CALC_OK;
}

/* The option that the ends of a layout have. */
static int ends_of(const calc_layers_case *c, const calc_exec *e)
{
    calc_layer_strategy s = calc_layers_strategy_of(e);
    if (e->layers.count > 0) {
        calc_exec ends = calc_layer_list_exec(e, &e->layers.ends);
        s = calc_layers_strategy_of(&ends);
    }
    s.recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s.modules = 0;
    for (int i = 0; i < c->options; i++) {
        if (calc_layer_list_alike(&c->option[i].strategy, &s)) {
            return i;
        }
    }
    return 0;
}

calc_status calc_layers_curve_of(const calc_planner *planner, const calc_layers_case *c,
                                 const calc_exec *exec, calc_planner_layers_point **point,
                                 size_t *count)
{
    curve v = {.planner = planner, .c = c};
    int ends = ends_of(c, exec);
    calc_status status = c->common.stages > 1 ? add_budgets(&v, ends) : add_lists(&v, ends);
    if (v.count > 0) {
        keep_best(&v);
    }
    *point = v.point;
    *count = v.count;
    return status;
}
