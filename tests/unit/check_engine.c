/* calc_sweep() as a whole: stopping, going on, failing. What it finds is for tests/parity. */
#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "failing.h"
#include "frame.h"
#include "sampled.h"
#include "small_case.h"
#include "sweep.h"

/* ---- A sweep of the small case --------------------------------------------------------------- */

static calc_space space;
static calc_designs designs;
static calc_sweep_options options;
static calc_sweep_result whole; /* what the sweep must find */
static calc_errors errors;

static void get_design(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    (void)context;
    *app = small_app();
    *system = small_system();
    app->num_blocks = index == 0 ? 8 : 6;
}

static void begin(void)
{
    static const int64_t procs[] = {4, 8, 12, 16, 24};
    static const int64_t batch = 48;
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, procs, 5), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    designs = (calc_designs){.count = 2, .get = get_design};
    options = (calc_sweep_options){
        .compat = CALC_COMPAT_REPAIRED, .objectives = 2, .top = 5, .threads = 1, .no_prune = true};
    ck_assert_int_eq(calc_objective_parse(&options.objective[0], "sample_rate", NULL), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.objective[1], "mem1", NULL), CALC_OK);
    options.top_by = options.objective[0];
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &whole, NULL), CALC_OK);
    ck_assert_uint_gt(whole.counts.feasible, 1000);
}

static void end(void)
{
    calc_sweep_result_free(&whole);
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static void assert_same_front(const calc_front *a, const calc_front *b)
{
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        ck_assert_int_eq(calc_found_compare(&a->item[i], &b->item[i]), 0);
        ck_assert_int_eq(
            memcmp(a->item[i].objective, b->item[i].objective, sizeof a->item[i].objective), 0);
    }
}

static void assert_is_whole(const calc_sweep_result *got)
{
    ck_assert_int_eq(memcmp(&got->counts, &whole.counts, sizeof got->counts), 0);
    ck_assert_uint_eq(got->groups_count, whole.groups_count);
    for (size_t g = 0; g < got->groups_count; g++) {
        assert_same_front(&got->group[g].front, &whole.group[g].front);
        assert_same_front(&got->group[g].top, &whole.group[g].top);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* One that fails alone is tried over and over: a space of one design and one number of processors.
 */
static void shrink(void)
{
    static const int64_t procs = 4;
    calc_sweep_result_free(&whole);
    designs.count = 1;
    fail_once = true;
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &procs, 1), CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &whole, NULL), CALC_OK);
}

/* All of them where the code is fast, some where it is slow (sampled.h). */
static int allocations_step(void)
{
    return 1 + sample_step() / 4;
}

/* It and all after it, or it alone. */
CALC_TEST_LOOP(every_allocation_may_fail, 0, 2)
{
    bool failed;
    int n = 0;
    if (_i > 0) {
        shrink();
    }
    do {
        calc_sweep_result got;
        errors = (calc_errors){0};
        left = n;
        n += allocations_step();
        calc_status status = calc_sweep(&space, &designs, &options, &got, &errors);
        failed = status != CALC_OK || (fail_once && left == UNLIMITED);
        left = UNLIMITED;
        ck_assert_int_eq(errors.count, status == CALC_OK ? 0 : 1);
        ck_assert_msg(status == CALC_OK || status == CALC_ERR_NOMEM, "allocation %d: %s", n,
                      errors.item[0].text);
        if (status == CALC_OK) {
            assert_is_whole(&got);
        }
        calc_sweep_result_free(&got);
    } while (failed);
    ck_assert_int_gt(n, 10);
}

CALC_TEST_LOOP(every_allocation_of_a_count_may_fail, 0, 2)
{
    bool failed;
    int n = 0;
    if (_i > 0) {
        shrink();
    }
    do {
        calc_sweep_counts counts = {0};
        left = n;
        n += allocations_step();
        calc_status status = calc_sweep_count(&space, &designs, options.compat, &counts);
        failed = status != CALC_OK || (fail_once && left == UNLIMITED);
        left = UNLIMITED;
        ck_assert(status == CALC_OK ? counts.total == whole.counts.total
                                    : status == CALC_ERR_NOMEM);
    } while (failed);
    ck_assert_int_gt(n, 5);
}

CALC_TEST(parts_of_a_space_are_merged_to_the_whole)
{
    static const int64_t procs[] = {4, 8, 12, 16, 24};
    calc_sweep_result part[2];
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &procs[2 * i], i == 0 ? 2 : 3),
                         CALC_OK);
        ck_assert_int_eq(calc_sweep(&space, &designs, &options, &part[i], NULL), CALC_OK);
    }
    ck_assert_int_eq(calc_sweep_merge(&options, &part[0], &part[1]), CALC_OK);
    assert_is_whole(&part[0]);
    calc_sweep_result_free(&part[0]);
    calc_sweep_result_free(&part[1]);
}

CALC_TEST(unknown_cpu_level_is_refused_with_those_there_are)
{
    calc_sweep_result got;
    options.cpu = "x86-64-v9";
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_ERR_RANGE);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, "this machine has no CPU level \"x86-64-v9\"");
    ck_assert_int_eq(strncmp(errors.item[0].hint, "use generic", 11), 0);
    ck_assert_ptr_null(got.group);
    calc_sweep_result_free(&got);
}

static double best_shown; /* by the last call */

/* True, to stop, from the n-th call on. */
static bool stop_at(void *context, const calc_sweep_progress *progress)
{
    int *calls = context;
    ck_assert_double_le(progress->done, progress->total);
    ck_assert_double_eq(progress->total, 2);
    ck_assert_uint_le(progress->counts.evaluated, progress->counts.total);
    best_shown = progress->best;
    return --*calls <= 0;
}

CALC_TEST(more_interleavings_than_a_cell_has_room_for_are_refused)
{
    static int64_t many[CALC_CELL_CHUNKINGS + 1];
    size_t most = CALC_CELL_CHUNKINGS / 2; /* with and without overlap of messages */
    for (size_t i = 0; i <= most; i++) {
        many[i] = (int64_t)i + 1;
    }
    calc_sweep_result got;
    calc_sweep_counts counts;
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_pipeline_interleaving, many, most), CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_OK);
    calc_sweep_result_free(&got);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_pipeline_interleaving, many, most + 1),
                     CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "too many values of pipeline_interleaving"));
    calc_sweep_result_free(&got);
    ck_assert_int_eq(calc_sweep_count(&space, &designs, options.compat, &counts), CALC_ERR_RANGE);
}

CALC_TEST(stopped_sweep_is_partial_and_its_counts_add_up)
{
    for (int calls = 1; calls < 30; calls += 7) {
        calc_sweep_result got;
        int calls_left = calls;
        options.progress = stop_at;
        options.progress_context = &calls_left;
        ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_OK);
        ck_assert(got.partial);
        uint64_t rejected = 0;
        for (int v = 0; v < CALC_VERDICT_COUNT; v++) {
            rejected += got.counts.rejected[v];
        }
        ck_assert_uint_lt(got.counts.total, whole.counts.total);
        ck_assert_uint_eq(got.counts.total, got.counts.feasible + rejected);
        calc_sweep_result_free(&got);
    }
}

CALC_TEST(sweep_that_nobody_stops_is_not_partial)
{
    calc_sweep_result got;
    int calls_left = 1 << 30;
    options.threads = 1; /* so that the last call comes after the last unit */
    options.progress = stop_at;
    options.progress_context = &calls_left;
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_OK);
    ck_assert(!got.partial);
    ck_assert_int_lt(calls_left, 1 << 30);
    assert_is_whole(&got);
    double best = -INFINITY;
    for (size_t g = 0; g < got.groups_count; g++) {
        const calc_front *top = &got.group[g].top;
        if (top->count > 0) {
            best = fmax(best, calc_objective_value(&options.top_by, top->item[0].objective[0]));
        }
    }
    ck_assert_double_eq(best_shown, best);
    calc_sweep_result_free(&got);
}

/* Points that are still wanted, and the last one seen. */
typedef struct seen {
    uint64_t points, limit;
} seen;

static bool see_point(void *context, const calc_sweep_point *point)
{
    seen *s = context;
    ck_assert_uint_lt(point->design, 2);
    ck_assert_int_eq(point->stats->verdict, CALC_VERDICT_OK);
    s->points++;
    return s->points < s->limit;
}

CALC_TEST(every_feasible_point_is_shown_once)
{
    static const int64_t four = 4; /* each point is a run: not too many */
    calc_sweep_result got;
    seen s = {0, UINT64_MAX};
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &four, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_microbatch_size, &four, 1), CALC_OK);
    calc_sweep_result_free(&whole);
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &whole, NULL), CALC_OK);
    ck_assert_uint_gt(whole.counts.feasible, 1000);
    options.point = see_point;
    options.point_context = &s;
    options.threads = 3;
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_OK);
    ck_assert_uint_eq(s.points, whole.counts.feasible);
    assert_is_whole(&got);
    calc_sweep_result_free(&got);
}

CALC_TEST(point_that_is_refused_ends_the_sweep)
{
    calc_sweep_result got;
    seen s = {0, 100};
    options.point = see_point;
    options.point_context = &s;
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_ERR_IO);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_uint_eq(s.points, 100);
    calc_sweep_result_free(&got);
}

/* What is prepared out of order, by place, and what is then shown. */
typedef struct prepared {
    calc_found place[CALC_SWEEP_PLACES];
    atomic_bool used[CALC_SWEEP_PLACES];
    calc_found *shown;
    size_t count, capacity;
    size_t stop_at; /* points */
} prepared;

static calc_found found_at(const calc_sweep_point *point)
{
    calc_found found = calc_found_of(point->design, point->exec);
    found.objective[0] = point->stats->total_time;
    return found;
}

static void prepare(void *context, const calc_sweep_point *point)
{
    prepared *p = context;
    if (atomic_exchange(&p->used[point->place], true)) {
        abort(); /* assertions are for the thread that runs the test */
    }
    p->place[point->place] = found_at(point);
}

static bool show(void *context, const calc_sweep_point *point)
{
    prepared *p = context;
    calc_found found = found_at(point);
    ck_assert(atomic_exchange(&p->used[point->place], false));
    ck_assert_int_eq(calc_found_compare(&found, &p->place[point->place]), 0);
    ck_assert(found.objective[0] == p->place[point->place].objective[0]);
    ck_assert_uint_lt(p->count, p->capacity);
    p->shown[p->count++] = found;
    return true;
}

static bool stop_after(void *context, const calc_sweep_progress *progress)
{
    const prepared *p = context;
    ck_assert_uint_ge(progress->counts.evaluated, p->count);
    return p->count >= p->stop_at;
}

/* A sweep of few points that are all prepared and shown. */
static prepared *prepared_sweep(int threads, size_t stop_at, calc_sweep_result *got)
{
    static const int64_t four = 4;
    prepared *p = calloc(1, sizeof *p);
    ck_assert_ptr_nonnull(p);
    p->capacity = 1 << 15;
    p->stop_at = stop_at;
    p->shown = malloc(p->capacity * sizeof *p->shown);
    ck_assert_ptr_nonnull(p->shown);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &four, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_microbatch_size, &four, 1), CALC_OK);
    options.prepare = prepare;
    options.point = show;
    options.point_context = p;
    options.progress = stop_after;
    options.progress_context = p;
    options.threads = threads;
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, got, &errors), CALC_OK);
    return p;
}

static void prepared_free(prepared *p)
{
    free(p->shown);
    free(p);
}

CALC_TEST(points_are_prepared_by_all_threads_and_shown_in_order)
{
    calc_sweep_result one;
    calc_sweep_result got;
    prepared *want = prepared_sweep(1, SIZE_MAX, &one);
    prepared *p = prepared_sweep(3, SIZE_MAX, &got);
    ck_assert_uint_gt(want->count, 2 * CALC_SWEEP_PLACES); /* several batches */
    ck_assert_uint_eq(p->count, want->count);
    for (size_t i = 0; i < p->count; i++) {
        ck_assert_int_eq(calc_found_compare(&p->shown[i], &want->shown[i]), 0);
    }
    ck_assert_uint_eq(got.counts.feasible, p->count);
    ck_assert_int_eq(got.threads, 3);
    ck_assert_int_eq(memcmp(&got.counts, &one.counts, sizeof got.counts), 0);
    prepared_free(p);
    prepared_free(want);
    calc_sweep_result_free(&got);
    calc_sweep_result_free(&one);
}

CALC_TEST(sweep_of_shown_points_stops_within_a_unit_and_counts_what_it_did)
{
    calc_sweep_result one;
    calc_sweep_result got;
    prepared *want = prepared_sweep(1, SIZE_MAX, &one);
    prepared *p = prepared_sweep(2, 1, &got);
    const calc_sweep_counts *c = &got.counts;
    uint64_t rejected = 0; /* before they were evaluated */
    for (int v = 0; v < CALC_VERDICT_COUNT; v++) {
        bool after = v == CALC_VERDICT_MEM1_CAPACITY || v == CALC_VERDICT_MEM2_CAPACITY;
        rejected += after ? 0 : c->rejected[v];
    }
    ck_assert(got.partial);
    ck_assert_uint_le(p->count, CALC_SWEEP_PLACES);
    ck_assert_uint_gt(p->count, 0);
    ck_assert_uint_lt(c->total, one.counts.total);
    ck_assert_uint_eq(c->feasible, p->count);
    ck_assert_uint_eq(c->total, c->evaluated + rejected);
    for (size_t i = 0; i < p->count; i++) {
        ck_assert_int_eq(calc_found_compare(&p->shown[i], &want->shown[i]), 0);
    }
    prepared_free(p);
    prepared_free(want);
    calc_sweep_result_free(&got);
    calc_sweep_result_free(&one);
}

CALC_TEST(sweep_without_units_finds_nothing)
{
    calc_sweep_result got;
    options.shard = (calc_shard){1, 1, CALC_SHARD_DONE};
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_OK);
    ck_assert_uint_eq(got.counts.total, 0);
    ck_assert_uint_eq(got.group[0].front.count, 0);
    ck_assert_uint_eq(got.group[0].top.count, 0);
    calc_sweep_result_free(&got);
}

/* A checkpoint that is kept in memory; the sweep ends at the n-th. */
typedef struct kept {
    calc_sweep_result result;
    uint64_t unit;
    int left;
} kept;

static calc_status keep(void *context, const calc_sweep_result *result, uint64_t unit)
{
    kept *k = context;
    calc_sweep_result_free(&k->result);
    k->result.groups_count = result->groups_count;
    k->result.group = calloc(result->groups_count, sizeof *k->result.group);
    ck_assert_ptr_nonnull(k->result.group);
    ck_assert_int_eq(calc_sweep_merge(&options, &k->result, result), CALC_OK);
    k->unit = unit;
    return --k->left > 0 ? CALC_OK : CALC_ERR_IO;
}

CALC_TEST(sweep_that_goes_on_from_any_checkpoint_is_the_whole)
{
    bool ended = false;
    for (int n = 1; !ended; n++) {
        kept k = {.left = n};
        calc_sweep_result got;
        options.checkpoint = keep;
        options.checkpoint_context = &k;
        options.checkpoint_s = 0;
        options.resumed = NULL;
        options.shard = (calc_shard){0};
        errors = (calc_errors){0};
        calc_status status = calc_sweep(&space, &designs, &options, &got, &errors);
        ended = status == CALC_OK;
        ck_assert(ended || status == CALC_ERR_IO);
        calc_sweep_result_free(&got);

        options.checkpoint = NULL;
        options.resumed = &k.result;
        options.shard = (calc_shard){1, 1, k.unit + 1};
        options.threads = 1 + n % 3;
        ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, NULL), CALC_OK);
        assert_is_whole(&got);
        calc_sweep_result_free(&got);
        calc_sweep_result_free(&k.result);
        ck_assert(ended || n < 1000);
    }
}

CALC_TEST(groups_are_one_per_design_and_processor_count)
{
    for (int mode = 0; mode < 4; mode++) {
        calc_sweep_result got;
        options.per_design = mode & 1;
        options.per_num_procs = mode & 2;
        ck_assert_int_eq(calc_sweep(&space, &designs, &options, &got, &errors), CALC_OK);
        size_t procs = options.per_num_procs ? 5 : 1;
        ck_assert_uint_eq(got.groups_count, procs * (options.per_design ? 2 : 1));
        for (size_t g = 0; g < got.groups_count; g++) {
            const calc_found *best = &got.group[g].top.item[0];
            ck_assert_uint_gt(got.group[g].front.count, 0);
            ck_assert(!options.per_design || best->design == g / procs);
            ck_assert(!options.per_num_procs ||
                      calc_found_exec(best).num_procs ==
                          space.axis[CALC_AXIS_num_procs].value[g % procs]);
        }
        calc_sweep_result_free(&got);
    }
}
