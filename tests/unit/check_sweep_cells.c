/* A sweep cut into parts and into points: src/plan/sweep_more.c. */
#include "plan/sweep_more.h"
#include "sweep_case.h"

#include "frame.h"

static sweep_case example;
static calc_sweep_study study;
static calc_sweep_result result;
static calc_errors errors;

static void put(calc_axis axis, const int64_t *value, size_t count)
{
    ck_assert_int_eq(calc_space_set(&example.space, axis, value, count), CALC_OK);
}

/* 64 processors, and few enough layouts to look at all of them. */
static void set_up(void)
{
    static const int64_t one = 1;
    static const int64_t sequence = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    static const int64_t none = 0;
    sweep_case_init(&example);
    put(CALC_AXIS_microbatch_size, &one, 1);
    put(CALC_AXIS_pipeline_interleaving, &one, 1);
    put(CALC_AXIS_tensor_par_comm_type, &sequence, 1);
    put(CALC_AXIS_seq_par_ag_redo, &none, 1);
    put(CALC_AXIS_weight_offload, &none, 1);
    study = (calc_sweep_study){
        .space = example.space, .designs = example.designs, .options = example.options};
    errors = (calc_errors){0};
    result = (calc_sweep_result){0};
    ck_assert_int_eq(calc_sweep(&study.space, &study.designs, &study.options, &result, &errors),
                     CALC_OK);
}

static void tear_down(void)
{
    calc_sweep_result_free(&result);
    calc_space_free(&example.space);
}

const calc_test_frame calc_tests = {.setup = set_up, .teardown = tear_down};

CALC_TEST(a_small_space_is_looked_at_as_a_whole)
{
    calc_sweep_cloud cloud = {0};
    ck_assert_uint_le(result.counts.total, CALC_SWEEP_CLOUD_ALL);
    ck_assert_int_eq(calc_sweep_cloud_make(&cloud, &study, &errors), CALC_OK);
    ck_assert(cloud.all);
    ck_assert_uint_eq(cloud.seen, result.counts.feasible);
    ck_assert_uint_eq(cloud.count, result.counts.feasible);
    for (size_t i = 0; i < cloud.count; i++) {
        ck_assert_int_eq(cloud.point[i].stats.verdict, CALC_VERDICT_OK);
        ck_assert_double_le(cloud.point[i].stats.sample_rate,
                            -result.group[0].top.item[0].objective[0]);
    }
    calc_sweep_cloud_free(&cloud);
    ck_assert_ptr_null(cloud.point);
}

CALC_TEST(of_a_large_space_points_are_drawn_that_meet_the_conditions)
{
    calc_constraint few;
    calc_sweep_cloud cloud = {0}, again = {0};
    calc_space_set_all(&example.space, CALC_AXIS_microbatch_size);
    calc_space_set_all(&example.space, CALC_AXIS_pipeline_interleaving);
    calc_space_set_all(&example.space, CALC_AXIS_tensor_par_comm_type);
    calc_space_set_all(&example.space, CALC_AXIS_seq_par_ag_redo);
    calc_space_set_all(&example.space, CALC_AXIS_weight_offload);
    study.space = example.space;
    ck_assert_int_eq(calc_constraint_parse(&few, "mem1 <= 40GiB", &errors), CALC_OK);
    study.options.constraint = &few;
    study.options.constraints = 1;
    ck_assert_int_eq(calc_sweep_cloud_make(&cloud, &study, &errors), CALC_OK);
    ck_assert(!cloud.all);
    ck_assert_uint_gt(cloud.count, 1000);
    ck_assert_uint_le(cloud.count, CALC_SWEEP_CLOUD_POINTS);
    for (size_t i = 0; i < cloud.count; i++) {
        ck_assert_double_le(cloud.point[i].stats.proc_mem_tier1_cap_req, 40 * 0x1p30);
    }
    ck_assert_int_eq(calc_sweep_cloud_make(&again, &study, &errors), CALC_OK);
    ck_assert_uint_eq(again.count, cloud.count);
    ck_assert_double_eq(again.point[again.count - 1].stats.total_time,
                        cloud.point[cloud.count - 1].stats.total_time);
    calc_sweep_cloud_free(&cloud);
    calc_sweep_cloud_free(&again);
}

/* Every layout is in one split: counts add up, and the best of the best is that of the sweep. */
CALC_TEST(splits_are_the_whole_space)
{
    calc_sweep_cloud cloud = {0};
    calc_sweep_cells cells = {0};
    uint64_t total = 0, feasible = 0;
    double best = 0;
    ck_assert_int_eq(calc_sweep_cloud_make(&cloud, &study, &errors), CALC_OK);
    ck_assert_int_eq(calc_sweep_cells_splits(&cells, &study, &result, &cloud, &errors), CALC_OK);
    ck_assert(cells.counted);
    for (size_t i = 0; i < cells.count; i++) {
        const calc_sweep_cell *cell = &cells.item[i];
        total += cell->counts.total;
        feasible += cell->counts.feasible;
        ck_assert_uint_eq(cell->counts.skipped, 0);
        ck_assert_int_eq(cell->found, cell->counts.feasible > 0);
        if (cell->found) {
            const calc_exec exec = calc_found_exec(&cell->best);
            ck_assert_int_eq(exec.strategy.tensor_par, cell->tensor_par);
            ck_assert_int_eq(exec.pipeline_par, cell->pipeline_par);
            best = cell->best.objective[0] < best ? cell->best.objective[0] : best;
        }
    }
    ck_assert_uint_eq(feasible, result.counts.feasible);
    ck_assert_uint_le(total, result.counts.total);
    ck_assert_double_eq(best, result.group[0].top.item[0].objective[0]);
    calc_sweep_cells_free(&cells);
    calc_sweep_cloud_free(&cloud);
}

CALC_TEST(one_number_of_processors_is_not_compared)
{
    calc_sweep_cells cells = {0};
    ck_assert_int_eq(calc_sweep_cells_procs(&cells, &study, &result, &errors), CALC_OK);
    ck_assert_uint_eq(cells.count, 0);
    ck_assert_ptr_null(cells.item);
}

CALC_TEST(numbers_of_processors_are_spread_evenly_from_first_to_last)
{
    int64_t procs[100];
    calc_sweep_cells cells = {0};
    for (int i = 0; i < 100; i++) {
        procs[i] = 8 * (i + 1);
    }
    put(CALC_AXIS_num_procs, procs, 100);
    study.space = example.space;
    ck_assert_int_eq(calc_sweep_cells_procs(&cells, &study, &result, &errors), CALC_OK);
    ck_assert_uint_eq(cells.count, 2 * CALC_SWEEP_CELLS_SIDE);
    ck_assert_int_eq(cells.item[0].num_procs, 8);
    ck_assert_int_eq(cells.item[cells.count - 1].num_procs, 800);
    for (size_t i = 1; i < cells.count; i++) {
        ck_assert_int_gt(cells.item[i].num_procs, cells.item[i - 1].num_procs);
    }
    calc_sweep_cells_free(&cells);
}

CALC_TEST(what_was_stopped_or_takes_long_is_not_swept_again)
{
    calc_sweep_cloud cloud = {0};
    calc_sweep_cells cells = {0};
    result.partial = true;
    ck_assert_int_eq(calc_sweep_cells_splits(&cells, &study, &result, &cloud, &errors), CALC_OK);
    ck_assert_uint_eq(cells.count, 0);
    result.partial = false;
    result.counts.evaluated = 120000001; /* a twelfth of them is more than 1e7 */
    ck_assert_int_eq(calc_sweep_cells_splits(&cells, &study, &result, &cloud, &errors), CALC_OK);
    ck_assert_uint_eq(cells.count, 0);
    calc_sweep_cells_free(&cells);
}
