#include "plan/layers_curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "spec/layer_list.h"

enum {
    MOST = 100,  /* lists for each amount of working memory */
    BUDGETS = 48 /* of several stages */
};

/* Factor by which the curve goes beyond the memory available: it shows the gain from more. */
#define MORE 1.25

typedef struct curve {
    const calc_planner_layers *planner;
    const calc_layers_case *c;
    calc_planner_layers_point *point;
    size_t count, room;
} curve;

/* Numbers of a list by calc_run(); none where it is no legal layout. */
static calc_status add(curve *v, const calc_layers_answer *a)
{
    const calc_planner_layers *p = v->planner;
    calc_errors ignored = {0};
    calc_stats stats;
    const calc_exec listed = calc_layers_exec_of(v->c, a);
    calc_exec e = listed;
    if (e.layers.count == 0) {
        return CALC_OK;
    }
    calc_resolve(p->app, p->system, &e);
    if (calc_check(p->app, p->system, &e, &ignored) != CALC_OK) {
        return CALC_OK;
    }
    calc_run(p->app, p->system, &e, CALC_COMPAT_NONE, &stats);
    calc_planner_layers_point *grown = calc_grown(v->point, v->count, &v->room, sizeof *grown);
    if (!grown) {
        return CALC_ERR_NOMEM;
    }
    v->point = grown;
    v->point[v->count++] =
        (calc_planner_layers_point){stats.proc_mem_tier1_cap_req, stats.total_time, listed};
    return CALC_OK;
}

static int compare(const void *a, const void *b)
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
    qsort(v->point, v->count, sizeof *v->point, compare);
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
        status = add(v, &a);
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
        status = status == CALC_OK ? add(v, &a) : status;
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

calc_status calc_layers_curve_of(const calc_planner_layers *planner, const calc_layers_case *c,
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
