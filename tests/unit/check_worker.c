#include "worker.h"

#include "frame.h"
#include "sampled.h"
#include "small_case.h"
#include "units.h"

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_sweep_options options;
static const calc_kernel *right;

static void begin(void)
{
    static const int64_t procs = 4;
    static const int64_t batch = 8;
    calc_kernel_level level[4];
    right = level[calc_kernel_levels(level) - 1].run;
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &procs, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    options = (calc_sweep_options){.objectives = 1, .no_prune = true, .verify = 1};
    ck_assert_int_eq(calc_objective_parse(&options.objective[0], "sample_rate", NULL), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

/* A worker that has run all units. */
static calc_worker *finished(const calc_kernel *kernel)
{
    calc_units units = {0};
    calc_worker *w = calc_worker_create(&space, &options, kernel, 1);
    ck_assert_ptr_nonnull(w);
    calc_worker_begin(w, &app, &sys, 0);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, options.compat), CALC_OK);
    for (size_t i = 0; i < units.count && w->status == CALC_OK; i++) {
        calc_units_run(w, &units, i);
    }
    calc_units_free(&units);
    return w;
}

/* Run all units. @return the worker's status */
static calc_status run(const calc_kernel *kernel, calc_sweep_counts *counts)
{
    calc_worker *w = finished(kernel);
    calc_status status = w->status;
    if (status == CALC_ERR_RULE) {
        ck_assert_int_eq(calc_check(&app, &sys, &w->failed, NULL), CALC_OK);
    }
    *counts = w->counts;
    calc_worker_free(w);
    return status;
}

/* Wrong in the last bit of one lane. */
static size_t wrong_step(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                         const calc_stage_links *links, const calc_kernel_needs *needs,
                         const calc_kernel_pipelines *pipelines, bool allowed[2][2],
                         calc_lanes *best_s)
{
    size_t hits = right->step(job, chunking, links, needs, pipelines, allowed, best_s);
    best_s->of[0] = nextafter(best_s->of[0], INFINITY);
    return hits;
}

CALC_TEST(verification_passes_the_right_kernel)
{
    calc_sweep_counts counts;
    ck_assert_int_eq(run(right, &counts), CALC_OK);
    ck_assert_uint_gt(counts.evaluated, 0);
}

CALC_TEST(verification_catches_a_kernel_that_is_wrong_in_the_last_bit)
{
    calc_sweep_counts counts;
    calc_kernel wrong = *right;
    wrong.step = wrong_step;
    ck_assert_int_eq(run(&wrong, &counts), CALC_ERR_RULE);
    options.verify = 0;
    ck_assert_int_eq(run(&wrong, &counts), CALC_OK);
}

CALC_TEST(pruned_points_are_counted_but_not_evaluated)
{
    calc_sweep_counts all, pruned;
    options.verify = 0;
    ck_assert_int_eq(run(right, &all), CALC_OK);
    ck_assert_uint_eq(all.skipped, 0);
    options.no_prune = false;
    ck_assert_int_eq(run(right, &pruned), CALC_OK);
    ck_assert_uint_eq(pruned.total, all.total);
    ck_assert_uint_gt(pruned.skipped, 0);
    ck_assert_uint_eq(pruned.evaluated + pruned.skipped, all.evaluated);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

/* What becomes of every point of a space. */
static void assert_counts_add_up(const calc_sweep_counts *c)
{
    const uint64_t *rejected = c->rejected;
    uint64_t too_large =
        rejected[CALC_VERDICT_MEM1_CAPACITY] + rejected[CALC_VERDICT_MEM2_CAPACITY];
    uint64_t before = 0;
    for (int v = 0; v < CALC_VERDICT_COUNT; v++) {
        before += rejected[v];
    }
    before -= too_large;
    ck_assert_uint_eq(c->evaluated, c->feasible + too_large);
    ck_assert_uint_eq(c->total, c->evaluated + c->skipped + before);
    ck_assert_uint_le(c->filtered, c->feasible);
}

static void assert_same(const calc_front *a, const calc_front *b)
{
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        ck_assert_int_eq(calc_found_compare(&a->item[i], &b->item[i]), 0);
        ck_assert_mem_eq(a->item[i].objective, b->item[i].objective, sizeof a->item[i].objective);
    }
}

static void settle(calc_sweep_group *group)
{
    ck_assert_int_eq(calc_front_settle(&group->front), CALC_OK);
    calc_top_settle(&group->top, options.top);
}

/* A machine on which some layouts do not fit, and fields of every kind that differ. */
static void shrink_memory(void)
{
    static const int64_t both[] = {false, true};
    static const int64_t gathers[] = {CALC_CHOICE_AUTO, CALC_CHOICE_FALSE};
    static const int64_t zero[] = {0, 1, 3};
    static const int64_t comm = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_pipeline_par_overlap, both, 2), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_param_gather_overlap, gathers, 2), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_zero_stage, zero, 3), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_tensor_par_comm_type, &comm, 1), CALC_OK);
    sys.chip.mem1.capacity_bytes = 0x1p22;
    sys.chip.mem2.capacity_bytes = 0x1p21;
    options.verify = 0;
    options.top = 7;
    options.objectives = 3;
    options.top_by = options.objective[0];
    ck_assert_int_eq(calc_objective_parse(&options.objective[1], "mem1", NULL), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.objective[2], "mem2", NULL), CALC_OK);
}

static const struct {
    const char *text;
    calc_condition_kind when;
} conditions[] = {
    {"tensor_par >= 2", CALC_CONDITION_TILE},
    {"activation_recompute != full", CALC_CONDITION_TILE},
    {"optimizer_offload = true", CALC_CONDITION_TILE},
    {"data_par_net = 1", CALC_CONDITION_LANE},
    {"pipeline_interleaving > 1", CALC_CONDITION_LANE},
    {"pipeline_par_overlap = true", CALC_CONDITION_LANE},
    {"data_par_overlap = true", CALC_CONDITION_FLAG},
    {"param_gather_overlap = false", CALC_CONDITION_FLAG},
    {"mem1 <= 2000KiB", CALC_CONDITION_MEMORY},
    {"mem1 > 2000KiB", CALC_CONDITION_MEMORY},
    {"mem2 < 1KiB", CALC_CONDITION_MEMORY},
    {"total_time <= 300us", CALC_CONDITION_TIME},
    {"total_time > 300us", CALC_CONDITION_TIME},
    {"sample_rate >= 26000", CALC_CONDITION_TIME},
    {"bubble_time < 5us", CALC_CONDITION_OTHER},
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* Each condition, and each beside the next, which is most often of another kind. */
CALC_TEST_LOOP(pruning_changes_no_front_and_loses_no_point_under_any_condition, 0, CONDITIONS)
{
    shrink_memory();
    calc_constraint constraint[2];
    for (size_t i = 0; i < 2; i++) {
        size_t n = ((size_t)_i + i) % CONDITIONS;
        ck_assert_int_eq(calc_constraint_parse(&constraint[i], conditions[n].text, NULL), CALC_OK);
        ck_assert_int_eq(constraint[i].when, conditions[n].when);
    }
    options.constraint = constraint;
    for (options.constraints = 0; options.constraints <= 2; options.constraints++) {
        options.no_prune = true;
        calc_worker *all = finished(right);
        options.no_prune = false;
        calc_worker *pruned = finished(right);
        ck_assert_int_eq(all->status, CALC_OK);
        ck_assert_int_eq(pruned->status, CALC_OK);
        settle(&all->groups[0]);
        settle(&pruned->groups[0]);
        assert_same(&all->groups[0].front, &pruned->groups[0].front);
        assert_same(&all->groups[0].top, &pruned->groups[0].top);
        assert_counts_add_up(&all->counts);
        assert_counts_add_up(&pruned->counts);
        ck_assert_uint_eq(all->counts.skipped, 0);
        ck_assert_uint_gt(pruned->counts.skipped, 0);
        ck_assert_uint_eq(all->counts.total, pruned->counts.total);
        ck_assert(options.constraints != 1 ||
                  (all->counts.filtered > 0 && all->counts.filtered < all->counts.feasible));
        calc_worker_free(all);
        calc_worker_free(pruned);
    }
}

/* The same of all points, one by one. */
static void assert_all_counted(void)
{
    calc_worker *w = calc_worker_create(&space, &options, right, 1);
    calc_units units = {0};
    ck_assert_ptr_nonnull(w);
    w->by_run = true;
    calc_worker_begin(w, &app, &sys, 0);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, options.compat), CALC_OK);
    for (size_t i = 0; i < units.count && w->status == CALC_OK; i++) {
        calc_units_run(w, &units, i);
    }
    calc_units_free(&units);
    calc_worker *vectors = finished(right);
    ck_assert_uint_eq(vectors->counts.total, w->counts.total);
    ck_assert_uint_eq(vectors->counts.evaluated, w->counts.evaluated);
    ck_assert_uint_eq(vectors->counts.feasible, w->counts.feasible);
    ck_assert_uint_eq(vectors->counts.filtered, w->counts.filtered);
    calc_worker_free(vectors);
    calc_worker_free(w);
}

/* Each condition alone and beside the one after the next; with ends, so that stages differ. */
CALC_TEST_LOOP(every_layout_that_does_not_meet_a_condition_is_counted, 0, CONDITIONS)
{
    shrink_memory();
    calc_constraint constraint[2];
    app.vocab_size = 4096;
    sys.chip.mem1.capacity_bytes = 0x1p23;
    for (size_t i = 0; i < 2; i++) {
        size_t n = ((size_t)_i + 2 * i) % CONDITIONS;
        ck_assert_int_eq(calc_constraint_parse(&constraint[i], conditions[n].text, NULL), CALC_OK);
    }
    options.constraint = constraint;
    for (options.constraints = 1; options.constraints <= 2; options.constraints++) {
        if (sample_step() == 1 || options.constraints == 1 + (size_t)_i % 2) {
            assert_all_counted();
        }
    }
}

/* By rules, state is shared block by block. */
CALC_TEST_LOOP(pruning_changes_no_front_by_any_rules, 0, 4)
{
    shrink_memory();
    static const calc_compat compat[] = {
        CALC_COMPAT_REPAIRED, CALC_COMPAT_CALCULON, (calc_compat)1 << CALC_COMPAT_BLOCK_MEMORY,
        (calc_compat)1 << CALC_COMPAT_OFFLOAD_EACH | (calc_compat)1 << CALC_COMPAT_REDUCE_BY_BLOCK};
    options.compat = compat[_i];
    options.no_prune = true;
    calc_worker *all = finished(right);
    options.no_prune = false;
    calc_worker *pruned = finished(right);
    settle(&all->groups[0]);
    settle(&pruned->groups[0]);
    ck_assert_uint_gt(all->groups[0].front.count, 5);
    assert_same(&all->groups[0].front, &pruned->groups[0].front);
    assert_same(&all->groups[0].top, &pruned->groups[0].top);
    assert_counts_add_up(&all->counts);
    assert_counts_add_up(&pruned->counts);
    calc_worker_free(all);
    calc_worker_free(pruned);
}

static size_t times_in(const calc_front *front, const calc_found *found)
{
    size_t times = 0;
    for (size_t i = 0; i < front->count; i++) {
        times += calc_found_compare(&front->item[i], found) == 0;
    }
    return times;
}

/* What a point of the front has, to the last bit, is asked for. */
CALC_TEST_LOOP(points_that_just_meet_a_condition_are_kept, 0, 3)
{
    shrink_memory();
    static const char *const texts[] = {"sample_rate >= 1", "mem1 <= 1KiB", "mem2 <= 1KiB"};
    calc_worker *all = finished(right);
    settle(&all->groups[0]);
    const calc_front *front = &all->groups[0].front;
    calc_constraint constraint;
    ck_assert_int_eq(calc_constraint_parse(&constraint, texts[_i], NULL), CALC_OK);
    options.constraints = 1;
    options.constraint = &constraint;
    options.no_prune = false;
    for (size_t i = 0; i < front->count; i += 8) {
        constraint.value = fabs(front->item[i].objective[_i]);
        calc_worker *pruned = finished(right);
        settle(&pruned->groups[0]);
        ck_assert_uint_eq(times_in(&pruned->groups[0].front, &front->item[i]), 1);
        calc_worker_free(pruned);
    }
    calc_worker_free(all);
}

static bool ignore_point(void *context, const calc_sweep_point *point)
{
    (void)context;
    (void)point;
    return true;
}

CALC_TEST(all_statistics_are_needed_only_for_what_the_kernel_does_not_know)
{
    calc_constraint constraint = {.when = CALC_CONDITION_TIME};
    ck_assert(!calc_worker_by_run(&options));
    options.point = ignore_point;
    ck_assert(calc_worker_by_run(&options));
    options.point = NULL;
    options.constraints = 1;
    options.constraint = &constraint;
    ck_assert(!calc_worker_by_run(&options));
    constraint.when = CALC_CONDITION_OTHER;
    ck_assert(calc_worker_by_run(&options)); /* every one is counted */
    options.no_prune = false;
    ck_assert(!calc_worker_by_run(&options));
    options.constraints = 0;
    options.top_by.kind = CALC_OBJECTIVE_OTHER;
    ck_assert(!calc_worker_by_run(&options));
    options.top = 1;
    ck_assert(calc_worker_by_run(&options));
    options.top = 0;
    options.objective[0].kind = CALC_OBJECTIVE_OTHER;
    ck_assert(calc_worker_by_run(&options));
}
