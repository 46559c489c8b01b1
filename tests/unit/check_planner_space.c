/* A plan over a space of layouts against all of its candidates, each balanced by itself; what is
 * listed, and how a search ends early. */
#include "plan/planner.h"

#include "defaults.h"
#include "designs.h"
#include "frame.h"
#include "plan/planner_place.h"
#include "plan_case.h"
#include "spec/stage_list.h"
#include "units.h"

/* ---- A small space --------------------------------------------------------------------------- */

static const int64_t some_chunks[] = {1, 2, 3, 4};
static plan_case c;
static calc_space space;
static calc_designs_builder builder;

static void set(calc_axis axis, int64_t value)
{
    ck_assert_int_eq(calc_space_set(&space, axis, &value, 1), CALC_OK);
    space.axis[axis].standard = false;
}

/* Up to so many chunks per stage. */
static void set_chunks(size_t most)
{
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_pipeline_interleaving, some_chunks, most),
                     CALC_OK);
    space.axis[CALC_AXIS_pipeline_interleaving].standard = false;
}

/* 8 blocks on 16 processors, as calc plan asks for it. */
static void make(int chips, size_t most_chunks)
{
    calc_errors errors = {0};
    plan_case_init(&c, 8, 2, 4, chips);
    builder = (calc_designs_builder){0};
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    space.batch_is_maximum = false;
    set(CALC_AXIS_num_procs, 16);
    set(CALC_AXIS_batch_size, 32);
    set_chunks(most_chunks);
    set(CALC_AXIS_activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE);
    set(CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS);
    ck_assert_int_eq(calc_designs_add_app(&builder, "app", &c.app), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&builder, "sys", &c.chip[0].system), CALC_OK);
    ck_assert_int_eq(calc_defaults_modern(&space, &builder), CALC_OK);
    ck_assert_int_eq(calc_designs_make(&builder, &c.planner.design, &errors), CALC_OK);
    c.planner.only = NULL;
    c.planner.space = &space;
    c.planner.top = 5;
}

static void release(void)
{
    calc_space_free(&space);
    calc_designs_builder_free(&builder);
}

static void set_memory(double bytes)
{
    for (int i = 0; i < c.planner.chips; i++) {
        c.chip[i].system.chip.mem1.capacity_bytes = bytes;
    }
}

/* ---- All candidates -------------------------------------------------------------------------- */

typedef struct all {
    calc_exec exec;
    int candidates, found, no_room;
    double best_s, least_bound_s;
    calc_planner_bench bench;
} all;

static bool balance_place(void *context, const calc_planner_place *place)
{
    all *a = context;
    const calc_balance_options effort = {0};
    calc_planner_found f;
    calc_planner_outcome outcome =
        calc_planner_balance(&c.planner, &a->exec, place, INFINITY, &effort, &a->bench, &f);
    ck_assert_int_ne(outcome, CALC_PLANNER_SLOWER);
    a->candidates += outcome != CALC_PLANNER_UNBALANCED;
    a->found += outcome == CALC_PLANNER_FOUND;
    a->no_room += outcome == CALC_PLANNER_NO_ROOM;
    if (outcome == CALC_PLANNER_FOUND) {
        a->best_s = fmin(a->best_s, f.stats.total_time);
        ck_assert_double_le(f.bound_s, f.stats.total_time);
    }
    return true;
}

static void visit_row(void *context, const calc_worker_place *place)
{
    all *a = context;
    for (uint64_t i = place->first; i < place->worker->counts.total; i++) {
        if (calc_worker_decode(place, i - place->first, &a->exec) == CALC_VERDICT_OK) {
            calc_planner_places(&c.planner, &a->exec, balance_place, a);
        }
    }
}

static all *balance_all(void)
{
    calc_sweep_counts counts;
    all *a = calloc(1, sizeof *a);
    ck_assert_ptr_nonnull(a);
    a->best_s = INFINITY;
    ck_assert_int_eq(
        calc_units_walk(&space, &c.planner.design, CALC_COMPAT_NONE, visit_row, a, &counts),
        CALC_OK);
    return a;
}

/* One chip and two, with much memory, little, and too little. */
CALC_TEST(the_best_of_a_space_is_the_best_of_all_its_candidates)
{
    static const double memory_gib[] = {80, 16, 12, 11, 1};
    int found = 0;
    int fewer = 0;
    for (int chips = 1; chips <= 2; chips++) {
        make(chips, 1);
        c.chip[1].most_procs = 8;
        c.planner.top = 1;
        for (size_t i = 0; i < sizeof memory_gib / sizeof *memory_gib; i++) {
            set_memory(memory_gib[i] * 0x1p30);
            all *a = balance_all();
            calc_planner_result r = plan_case_run(&c.planner);
            ck_assert(r.complete);
            ck_assert_uint_eq(r.candidates, (size_t)a->candidates);
            ck_assert_int_eq(r.count > 0, a->found > 0);
            if (r.count > 0) {
                ck_assert_double_eq(r.found[0].stats.total_time, a->best_s);
                ck_assert_double_le(r.bound_s, a->best_s);
                ck_assert_double_ge(r.bound_s, a->best_s * (1 - 1e-9));
            }
            found += r.count > 0;
            fewer += r.balanced < r.candidates;
            calc_planner_result_free(&r);
            free(a);
        }
        release();
    }
    ck_assert_int_ge(found, 6);
    ck_assert_int_ge(fewer, 4);
}

/* ---- What is listed -------------------------------------------------------------------------- */

static void check_order(const calc_planner_result *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *f = &r->found[i];
        calc_exec e = f->exec;
        static calc_stats stats;
        memset(&stats, 0, sizeof stats);
        calc_run(&c.app, &c.chip[f->chip].system, &e, CALC_COMPAT_NONE, &stats);
        ASSERT_SAME_STATS(&stats, &f->stats);
        ck_assert_int_eq(stats.verdict, CALC_VERDICT_OK);
        if (i > 0) {
            const calc_stats *before = &r->found[i - 1].stats;
            ck_assert_double_le(before->total_time, stats.total_time);
            ck_assert(before->total_time < stats.total_time ||
                      before->proc_mem_tier1_cap_req <= stats.proc_mem_tier1_cap_req);
        }
    }
}

static void check_same(const calc_planner_result *a, const calc_planner_result *b, size_t count)
{
    ck_assert_uint_ge(b->count, count);
    for (size_t i = 0; i < count; i++) {
        const calc_planner_found *x = &a->found[i];
        const calc_planner_found *y = &b->found[i];
        ASSERT_SAME_STATS(&x->stats, &y->stats);
        ck_assert_double_eq(x->planned_s, y->planned_s);
        ck_assert_double_le(x->bound_s, y->stats.total_time);
        ck_assert_int_eq(x->chip, y->chip);
        ck_assert_int_eq(x->place.kinds, y->place.kinds);
        ck_assert_int_eq(x->exec.stages.count, y->exec.stages.count);
        ck_assert_mem_eq(x->exec.stages.run, y->exec.stages.run,
                         (size_t)x->exec.stages.count * sizeof *x->exec.stages.run);
    }
}

CALC_TEST(what_is_found_does_not_depend_on_threads)
{
    for (int chips = 1; chips <= 2; chips++) {
        make(chips, chips > 1 ? 1 : 4);
        set_memory(12 * 0x1p30);
        calc_planner_result one = plan_case_run(&c.planner);
        check_order(&one);
        ck_assert_uint_eq(one.count, 5);
        for (c.planner.threads = 2; c.planner.threads <= 3; c.planner.threads++) {
            calc_planner_result r = plan_case_run(&c.planner);
            ck_assert_uint_eq(r.count, one.count);
            ck_assert_uint_eq(r.balanced, one.balanced);
            ck_assert_uint_eq(r.infeasible, one.infeasible);
            check_same(&one, &r, one.count);
            ck_assert_double_eq(r.bound_s, one.bound_s);
            calc_planner_result_free(&r);
        }
        calc_planner_result_free(&one);
        release();
    }
}

/* Of a search with fewer the first are the same: layouts with one chunk have one answer. */
CALC_TEST(fewer_that_are_asked_for_are_the_first_ones)
{
    make(2, 1);
    c.planner.top = 6;
    calc_planner_result most = plan_case_run(&c.planner);
    ck_assert_uint_eq(most.count, 6);
    check_order(&most);
    for (c.planner.top = 1; c.planner.top < 6; c.planner.top += 2) {
        calc_planner_result r = plan_case_run(&c.planner);
        ck_assert_uint_eq(r.count, c.planner.top);
        check_same(&most, &r, r.count);
        calc_planner_result_free(&r);
    }
    calc_planner_result_free(&most);
    release();
}

CALC_TEST(chunks_are_searched_too_and_never_make_it_worse)
{
    make(1, 1);
    calc_planner_result plain = plan_case_run(&c.planner);
    set_chunks(4);
    calc_planner_result more = plan_case_run(&c.planner);
    ck_assert_uint_gt(more.candidates, plain.candidates);
    ck_assert_double_le(more.found[0].stats.total_time, plain.found[0].stats.total_time);
    for (c.planner.top = 1; c.planner.top < 5; c.planner.top++) {
        calc_planner_result fewer = plan_case_run(&c.planner);
        check_same(&more, &fewer, c.planner.top); /* whatever the number asked for */
        calc_planner_result_free(&fewer);
    }
    for (size_t i = 0; i < more.count; i++) {
        ck_assert_int_le(more.found[i].exec.pipeline_interleaving, 4);
        ck_assert_double_le(more.bound_s, more.found[i].bound_s);
    }
    calc_planner_result_free(&plain);
    calc_planner_result_free(&more);
    release();
}

/* A sweep finds a layout with recomputation and without: one is listed, the balanced one if it is
 * quicker. */
CALC_TEST(layouts_of_a_sweep_are_listed_once)
{
    static const int64_t again[] = {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL};
    static const int64_t balance[] = {CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS};
    make(1, 4);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_activation_recompute, again, 2), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_pipeline_balance, balance, 2), CALC_OK);
    c.planner.top = 40;
    calc_planner_result r = plan_case_run(&c.planner);
    ck_assert_uint_eq(r.count, 40);
    for (size_t i = 0; i < r.count; i++) {
        ck_assert_uint_lt(r.found[i].candidate, r.candidates);
        ck_assert_double_gt(r.found[i].bound_s, 0);
        for (size_t k = 0; k < i; k++) {
            ck_assert_uint_ne(r.found[i].candidate, r.found[k].candidate);
        }
    }
    calc_planner_result_free(&r);
    release();
}

static bool reads_alike(const calc_exec *a, const calc_exec *b)
{
    calc_stage_run place[2][CALC_MAX_PLACES];
    int64_t places = calc_stage_list_expand(&a->stages, place[0]);
    if (a->strategy.tensor_par != b->strategy.tensor_par || a->pipeline_par != b->pipeline_par ||
        a->microbatch_size != b->microbatch_size || a->pipeline_balance != b->pipeline_balance ||
        calc_stage_list_expand(&b->stages, place[1]) != places) {
        return false;
    }
    for (int64_t i = 0; i < places; i++) {
        if (place[0][i].blocks != place[1][i].blocks) {
            return false;
        }
    }
    return true;
}

/* Whether data parallelism overlaps is in no column of the table: the quicker one is listed. */
CALC_TEST(of_layouts_whose_rows_read_alike_the_quickest_is_listed)
{
    static const int64_t overlaps[] = {0, 1};
    make(1, 1);
    c.planner.top = 40;
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_data_par_overlap, overlaps, 1), CALC_OK);
    calc_planner_result one = plan_case_run(&c.planner);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_data_par_overlap, overlaps, 2), CALC_OK);
    calc_planner_result both = plan_case_run(&c.planner);
    ck_assert_uint_gt(both.candidates, one.candidates);
    ck_assert_uint_eq(both.count, one.count);
    for (size_t i = 0; i < both.count; i++) {
        ck_assert_double_le(both.found[i].stats.total_time, one.found[i].stats.total_time);
        for (size_t k = 0; k < i; k++) {
            ck_assert(!reads_alike(&both.found[i].exec, &both.found[k].exec));
        }
    }
    calc_planner_result_free(&one);
    calc_planner_result_free(&both);
    release();
}

/* calc_planner.runs */
static bool has_two_stages(const void *context, int chip, const calc_exec *e)
{
    ck_assert_ptr_eq(context, &c);
    ck_assert_int_eq(chip, 0);
    return e->pipeline_par == 2 && e->strategy.tensor_par == 1;
}

/* The quickest that runs, however many are quicker and do not. */
CALC_TEST(the_best_that_runs_is_found_beside_the_best)
{
    make(1, 1);
    c.planner.top = 1;
    calc_planner_result all_of_it = plan_case_run(&c.planner);
    ck_assert(!all_of_it.starts);
    c.planner.runs = has_two_stages;
    c.planner.runs_context = &c;
    calc_planner_result r = plan_case_run(&c.planner);
    ck_assert(r.starts);
    ck_assert_double_eq(r.found[0].stats.total_time, all_of_it.found[0].stats.total_time);
    set(CALC_AXIS_pipeline_par, 2);
    set(CALC_AXIS_tensor_par, 1);
    c.planner.runs = NULL;
    calc_planner_result two = plan_case_run(&c.planner);
    ck_assert_double_eq(r.start.stats.total_time, two.found[0].stats.total_time);
    ck_assert_double_gt(r.start.stats.total_time, r.found[0].stats.total_time);
    calc_planner_result_free(&two);
    calc_planner_result_free(&r);
    calc_planner_result_free(&all_of_it);
    release();
}

/* ---- Ends early ------------------------------------------------------------------------------ */

typedef struct looks {
    int count, stop_at; /* of batches */
    calc_planner_progress last;
} looks;

static bool look(void *context, const calc_planner_progress *p)
{
    looks *l = context;
    bool again = l->count > 0 && p->balanced == l->last.balanced; /* amid a batch that takes long */
    if (l->count > 0) {
        ck_assert_uint_ge(p->balanced, l->last.balanced);
        ck_assert_double_le(p->best_s, l->last.best_s);
        ck_assert_double_ge(p->bound_s, l->last.bound_s);
    }
    ck_assert_uint_le(p->balanced, p->candidates);
    l->last = *p;
    l->count += !again;
    return l->count == l->stop_at;
}

CALC_TEST(a_search_that_is_stopped_keeps_what_it_found_and_a_bound)
{
    looks seen = {0};
    make(2, 1);
    c.planner.progress = look;
    c.planner.context = &seen;
    calc_planner_result all_of_it = plan_case_run(&c.planner);
    ck_assert(all_of_it.complete);
    ck_assert_int_ge(seen.count, 2);
    double best_s = all_of_it.found[0].stats.total_time;
    for (int stop = 1; stop <= seen.count; stop++) {
        looks again = {.stop_at = stop};
        c.planner.context = &again;
        calc_planner_result r = plan_case_run(&c.planner);
        /* When all are balanced, the best are once more: what was found then is complete. */
        ck_assert(r.complete == (again.last.balanced == all_of_it.balanced));
        ck_assert_uint_ge(r.balanced, again.last.balanced);
        ck_assert_uint_gt(r.count, 0); /* as a sweep finds them, before anything is balanced */
        ck_assert_double_le(r.bound_s, again.last.bound_s);
        ck_assert_double_le(r.bound_s, best_s);
        calc_planner_result_free(&r);
    }
    calc_planner_result_free(&all_of_it);
    release();
}

CALC_TEST(so_does_one_that_is_out_of_time)
{
    make(1, 1);
    c.planner.time_limit_s = 1e-12;
    calc_planner_result r = plan_case_run(&c.planner);
    ck_assert(!r.complete);
    ck_assert_uint_eq(r.balanced, 0);
    ck_assert_uint_gt(r.count, 0);
    for (size_t i = 0; i < r.count; i++) {
        ck_assert_int_eq(r.found[i].exec.stages.count, 0);
    }
    ck_assert_uint_eq(r.candidates, 0); /* and nothing is known of what was not listed */
    ck_assert_double_eq(r.bound_s, 0);
    calc_planner_result_free(&r);
    c.planner.time_limit_s = 1e6;
    r = plan_case_run(&c.planner);
    ck_assert(r.complete);
    calc_planner_result_free(&r);
    release();
}
