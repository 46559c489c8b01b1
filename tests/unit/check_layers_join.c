/* Layers spread over stages against all divisions, and the least step of each. */
#include "plan/layers_join.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "plan/layers_stage.h"
#include "spec/layer_list.h"

static int compared, several;

/* All divisions are counted through. */
typedef struct brute {
    calc_layers_table table;
    calc_layers_answer answer;
    double best_s, least_s;
} brute;

static void try_rest(brute *b, int stage, int from)
{
    calc_layers_answer *a = &b->answer;
    int later = a->stages - 1 - stage;
    int left = b->table.layers - from;
    if (stage == a->stages) {
        b->best_s = fmin(b->best_s, calc_layers_planned_s(b->table.c, a));
        return;
    }
    for (int n = later > 0 ? 1 : left; n <= left - later; n++) {
        const calc_layers_stage *s = calc_layers_cell(&b->table, stage, from, n);
        ck_assert_ptr_nonnull(s);
        if (s->fits) {
            a->stage[stage] = *s;
            try_rest(b, stage + 1, from + n);
        }
    }
}

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    size_t stages = (size_t)c->common.stages;
    double *spare = calloc(stages, sizeof *spare);
    const calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    brute b = {.best_s = INFINITY};
    calc_layers_answer a;
    (void)l;
    if (c->common.chunks == 1 && calc_layers_table_make(c, &want, &b.table) == CALC_OK) {
        b.answer = (calc_layers_answer){
            want.ends, (int)stages, calloc(stages, sizeof *b.answer.stage), NULL, 0, 0};
        try_rest(&b, 0, 0);
        calc_status status = calc_layers_join(c, &want, &a);
        ck_assert_int_eq(status, isfinite(b.best_s) ? CALC_OK : CALC_ERR_RULE);
        if (status == CALC_OK) {
            int layers = 0;
            compared++;
            several += stages > 1;
            ck_assert_double_ge(a.planned_s, b.best_s * (1 - 1e-9));
            ck_assert_double_le(a.planned_s, b.best_s * (1 + 5e-3));
            ck_assert_double_le(a.bound_s, b.best_s * (1 + 1e-9));
            for (int i = 0; i < a.stages; i++) {
                layers += a.layers[i][0] + a.layers[i][1];
                ck_assert_double_le(a.stage[i].bytes, c->common.capacity_bytes * (1 + 1e-12));
            }
            ck_assert_int_eq(layers, b.table.layers);
        }
        calc_layers_answer_free(&a);
        free(b.answer.stage);
        calc_layers_table_free(&b.table);
    }
    free(spare);
}

CALC_TEST(the_best_division_is_found)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(compared, 20);
    ck_assert_int_gt(several, 10);
}

static int quick;

/* With a limit below it nothing is found; the bound is then no less than the limit, or that of what
 * there is. */
static void check_limit(const layers_plan *l, const calc_layers_case *c)
{
    double *spare = calloc((size_t)c->common.stages, sizeof *spare);
    calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    calc_layers_answer a;
    (void)l;
    calc_status status = calc_layers_join(c, &want, &a);
    want.limit_s = a.bound_s * 0.99;
    calc_layers_answer_free(&a);
    if (status == CALC_OK) {
        ck_assert_int_eq(calc_layers_join(c, &want, &a), CALC_ERR_RULE);
        quick++;
        calc_layers_answer_free(&a);
    }
    free(spare);
}

CALC_TEST(nothing_below_the_bound_is_found)
{
    layers_plan_samples(check_limit);
    ck_assert_int_gt(quick, 20);
}

/* Lists of layers as executions: what the planner has of each is what calc_run() and
 * calc_each_stage() say of it. */

static int judged, mixed, chunked;

static void compare(const layers_plan *l, const calc_layers_case *c, const calc_layers_answer *a)
{
    calc_exec e = calc_layers_exec_of(c, a);
    calc_errors errors = {0};
    calc_stats stats;
    calc_stage_stats stage[64];
    ck_assert_int_gt(e.layers.count, 0);
    ck_assert_int_eq(calc_layer_list_blocks(&e.layers), l->app.num_blocks);
    if (e.layers.count < CALC_MAX_LAYER_RUNS) { /* what is behind the list is left alone */
        ck_assert_int_eq(e.layers.run[e.layers.count].strategy.tensor_par, 0);
    }
    mixed += e.layers.count > 1;
    chunked += c->common.chunks > 1;
    calc_resolve(&l->app, &l->chip.system, &e);
    ck_assert_msg(calc_check(&l->app, &l->chip.system, &e, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    calc_run(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, &stats);
    /* What it takes to get from stage to stage, and latencies, are not planned. */
    double near = c->common.stages > 1 ? 0.1 : 0.03;
    ck_assert_double_eq_tol(a->planned_s, stats.total_time, near * stats.total_time);
    size_t count = calc_each_stage(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, stage, 64);
    ck_assert_uint_eq(count, (size_t)a->stages);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(stage[i].blocks, a->layers[i][0] + a->layers[i][1], 1e-12);
        ck_assert_double_le(stage[i].mem_tier1, 1.2 * a->stage[i].bytes);
    }
    judged++;
}

static void judge_check_case(const layers_plan *l, const calc_layers_case *c)
{
    double *spare = calloc((size_t)c->common.stages, sizeof *spare);
    const calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    calc_layers_answer a;
    if (calc_layers_join(c, &want, &a) == CALC_OK) {
        compare(l, c, &a);
    }
    calc_layers_answer_free(&a);
    free(spare);
}

CALC_TEST(what_is_planned_is_nearly_what_is_run)
{
    layers_plan_samples(judge_check_case);
    ck_assert_int_gt(judged, 25);
    ck_assert_int_gt(mixed, 10);
    ck_assert_int_gt(chunked, 5);
}

static int solved, limited;

static void check_solved(const layers_plan *l, const calc_layers_case *c)
{
    calc_planner_found f, less;
    calc_status status = calc_layers_solve(&l->planner, c, INFINITY, &f);
    ck_assert_int_ne(status, CALC_ERR_NOMEM);
    if (status != CALC_OK) {
        return;
    }
    solved++;
    ck_assert_int_eq(f.stats.verdict, CALC_VERDICT_OK);
    ck_assert_double_le(f.stats.proc_mem_tier1_cap_req, c->common.capacity_bytes);
    ck_assert_int_le(f.rounds, CALC_LAYERS_ROUNDS);
    ck_assert_double_le(f.bound_s, f.planned_s * (1 + 1e-9));
    status = calc_layers_solve(&l->planner, c, f.stats.total_time, &less);
    limited += status == CALC_ERR_RULE;
    ck_assert(status == CALC_ERR_RULE || less.stats.total_time < f.stats.total_time);
}

CALC_TEST(what_is_solved_fits_and_is_below_its_limit)
{
    layers_plan_samples(check_solved);
    ck_assert_int_gt(solved, 30);
    ck_assert_int_gt(limited, solved / 2);
}

/* Curves of step over memory: points as calc_run() has them, each quicker than those before it. */

static int curves, points, beyond;

static void curve_check_case(const layers_plan *l, const calc_layers_case *c)
{
    calc_planner_found f;
    calc_planner_layers_point *point;
    size_t count;
    if (calc_layers_solve(&l->planner, c, INFINITY, &f) != CALC_OK) {
        return;
    }
    calc_layers_curve_of(&l->planner, c, &f.exec, &point, &count);
    for (size_t i = 0; i < count; i++) {
        const calc_planner_layers_point *p = &point[i];
        calc_stats stats;
        calc_exec e = p->exec;
        calc_resolve(&l->app, &l->chip.system, &e);
        calc_run(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, &stats);
        ck_assert_double_eq(stats.total_time, p->step_s);
        ck_assert_double_eq(stats.proc_mem_tier1_cap_req, p->needs_bytes);
        ck_assert(i == 0 || p->needs_bytes > point[i - 1].needs_bytes);
        ck_assert(i == 0 || p->step_s < point[i - 1].step_s);
        beyond += p->needs_bytes > c->common.capacity_bytes;
        points++;
    }
    curves += count > 1;
    free(point);
}

CALC_TEST(a_curve_is_of_lists_that_are_quicker_the_more_memory_they_need)
{
    layers_plan_samples(curve_check_case);
    ck_assert_int_gt(curves, 20);
    ck_assert_int_gt(points, 200);
    ck_assert_int_gt(beyond, 20);
}

/* How layers are spread: kinds, chunks, and the shortest step in which all stages have time. */

CALC_TEST(the_first_layers_of_the_model_are_of_kind_0)
{
    calc_layers_case c = {.common = {.layers = {3, 7}}};
    int layers[2];
    calc_layers_split(&c, 0, 10, layers);
    ck_assert_int_eq(layers[0], 3);
    ck_assert_int_eq(layers[1], 7);
    calc_layers_split(&c, 2, 4, layers);
    ck_assert_int_eq(layers[0], 1);
    ck_assert_int_eq(layers[1], 3);
    calc_layers_split(&c, 5, 4, layers);
    ck_assert_int_eq(layers[0], 0);
    ck_assert_int_eq(layers[1], 4);
    calc_layers_split(&c, 1, 2, layers);
    ck_assert_int_eq(layers[0], 2);
    ck_assert_int_eq(layers[1], 0);
}

/* Two stages of two chunks each, three layers of kind 0: two of them in the first chunk of stage 0,
 * one in that of stage 1. */
CALC_TEST(chunks_of_a_stage_are_apart)
{
    const calc_layers_case c = {.common = {.layers = {3, 5}}};
    const calc_layers_table t = {.c = &c, .stages = 2, .chunks = 2, .layers = 8, .dense = 3};
    int layers[2];
    calc_layers_table_split(&t, 0, 0, 4, layers);
    ck_assert_int_eq(layers[0], 2);
    ck_assert_int_eq(layers[1], 2);
    calc_layers_table_split(&t, 1, 4, 4, layers);
    ck_assert_int_eq(layers[0], 1);
    ck_assert_int_eq(layers[1], 3);
}

static int spread;

/* All layers are there, every stage has time for its own in that step, and none in a shorter one.
 */
static void spread_check_case(const layers_plan *l, const calc_layers_case *c)
{
    size_t stages = (size_t)c->common.stages;
    double *spare = calloc(stages, sizeof *spare);
    int *count = calloc(stages, sizeof *count);
    const calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    calc_layers_table t;
    (void)l;
    calc_status status = calc_layers_table_make(c, &want, &t);
    double least_s = status == CALC_OK ? calc_layers_shortest(&t, true, count) : INFINITY;
    double s = status == CALC_OK ? calc_layers_shortest(&t, false, count) : INFINITY;
    ck_assert(least_s <= s * (1 + 1e-9));
    if (isfinite(s)) {
        int from = 0;
        double tightest = INFINITY;
        for (int i = 0; i < (int)stages; i++) {
            double has_s = calc_layers_allowed_s(c, &t.floor, i, s);
            double takes_s = calc_layers_cell(&t, i, from, count[i])->weighted_s;
            ck_assert_double_le(takes_s, has_s * (1 + 1e-9));
            tightest = fmin(tightest, has_s / takes_s);
            from += count[i];
        }
        ck_assert_int_eq(from, t.layers);
        ck_assert_double_le(tightest, stages > 1 ? INFINITY : 1 + 1e-6);
        spread++;
    }
    calc_layers_table_free(&t);
    free(spare);
    free(count);
}

CALC_TEST(every_stage_has_time_for_its_layers)
{
    layers_plan_samples(spread_check_case);
    ck_assert_int_gt(spread, 30);
}

/* The best options of a stage's layers against all counts of them; its curve against its bests. */

enum { FEW = 3 };

/* Counts of options of a kind, all of which are tried. */
typedef struct stage_brute {
    const calc_layers_case *c;
    const calc_layers_ask *ask;
    int kind;
    calc_layers_part sum;
    double best_s;
} stage_brute;

/* One group only: there are no switches then. */
static void try_counts(stage_brute *b, int option, int left)
{
    const calc_layers_case *c = b->c;
    if (left == 0) {
        double bytes = c->common.capacity_bytes -
                       calc_layers_room_bytes(c, b->ask->ends, b->ask->stage, b->ask->layers);
        for (int i = 0; i < 1; i++) {
            calc_layers_part ends = calc_layers_ends_of(c, b->ask->ends, b->ask->stage);
            double flight = calc_layers_in_flight(&c->common, b->ask->stage);
            bytes += calc_layers_bytes(&b->sum, flight) - calc_layers_bytes(&ends, flight) +
                     b->sum.working_bytes + b->sum.passing_bytes;
        }
        if (bytes <= c->common.capacity_bytes - b->ask->spare_bytes) {
            b->best_s = fmin(b->best_s, calc_layers_weighted_s(c, &b->sum));
        }
        return;
    }
    if (option == c->options) {
        return;
    }
    const calc_layers_option *o = &c->option[option];
    bool may = o->layers[b->kind] && o->group == b->ask->group;
    for (int n = 0; n <= (may ? left : 0); n++) {
        const calc_layers_part before = b->sum;
        calc_layers_part_add(&b->sum, &o->part[b->kind], n);
        try_counts(b, option + 1, left - n);
        b->sum = before;
    }
}

static int stage_compared, stage_limited;

static void stage_compare(const calc_layers_case *c, const calc_layers_ask *ask)
{
    stage_brute b = {c, ask, ask->layers[1] > 0, calc_layers_ends_of(c, ask->ends, ask->stage),
                     INFINITY};
    calc_layers_stage s;
    calc_layers_stage_best(c, ask, &s);
    try_counts(&b, 0, ask->layers[0] + ask->layers[1]);
    ck_assert_int_eq(s.fits, isfinite(b.best_s));
    if (!s.fits) {
        return;
    }
    stage_compared++;
    ck_assert_double_le(s.bytes, c->common.capacity_bytes - ask->spare_bytes + 1);
    ck_assert_double_ge(s.weighted_s, b.best_s * (1 - 1e-12));
    ck_assert_double_le(s.least_s, b.best_s * (1 + 1e-9));
    ck_assert_double_le(s.weighted_s, s.least_s + 0.01 * b.best_s);
    double limit_s = s.weighted_s * 0.5;
    calc_layers_ask less = *ask;
    less.limit_s = limit_s;
    calc_layers_stage none;
    calc_layers_stage_best(c, &less, &none);
    stage_limited += !none.fits;
    ck_assert_double_ge(none.least_s, limit_s);
}

static void compare_case(const layers_plan *l, const calc_layers_case *c)
{
    (void)l;
    int ends = layers_plan_ends(c);
    int stages = (int)c->common.stages;
    for (int stage = 0; stage<stages; stage += stages> 1 ? stages - 1 : 1) {
        for (double spare = 0; spare < 0.8; spare += 0.2) {
            int kind = c->common.layers[1] > 0;
            calc_layers_ask ask = {.stage = stage,
                                   .ends = ends,
                                   .group = c->option[ends].group,
                                   .spare_bytes = spare * c->common.capacity_bytes,
                                   .limit_s = INFINITY};
            ask.layers[kind] = FEW;
            stage_compare(c, &ask);
        }
    }
}

CALC_TEST(the_best_of_all_counts_is_found)
{
    layers_plan_samples(compare_case);
    ck_assert_int_gt(stage_compared, 50);
    ck_assert_int_gt(stage_limited, 30);
}

static int stage_points;

/* Every point is the best within what it holds, where all communication hides. */
static void check_curve(const layers_plan *l, const calc_layers_case *c)
{
    (void)l;
    if (c->common.stages > 1) {
        return;
    }
    calc_layers_stage *list;
    size_t count;
    calc_layers_ask ask = {.layers = {c->common.layers[0], c->common.layers[1]},
                           .ends = layers_plan_ends(c),
                           .group = -1,
                           .limit_s = INFINITY};
    calc_layers_stage_curve(c, &ask, 50, &list, &count);
    for (size_t i = 0; i < count; i++) {
        calc_layers_stage s;
        ask.spare_bytes = c->common.capacity_bytes - list[i].bytes * (1 + 1e-12);
        calc_layers_stage_best(c, &ask, &s);
        ck_assert(s.fits);
        ck_assert_double_le(s.weighted_s, list[i].weighted_s * (1 + 1e-9));
        ck_assert(i == 0 || list[i].bytes > list[i - 1].bytes);
        ck_assert(i == 0 || list[i].weighted_s < list[i - 1].weighted_s);
        stage_points++;
    }
    free(list);
}

CALC_TEST(a_curve_falls_and_no_point_of_it_beats_the_best)
{
    layers_plan_samples(check_curve);
    ck_assert_int_gt(stage_points, 100);
}
