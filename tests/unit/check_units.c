#include "units.h"

#include "cell.h"
#include "failing.h"
#include "frame.h"
#include "small_case.h"

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_units units;
static calc_cell cell;

static void begin(void)
{
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_units_free(&units);
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static void set(calc_axis axis, int64_t first, int64_t step, size_t count)
{
    int64_t value[512];
    for (size_t i = 0; i < count; i++) {
        value[i] = first + (int64_t)i * step;
    }
    ck_assert_int_eq(calc_space_set(&space, axis, value, count), CALC_OK);
}

static bool same_base(const calc_exec *a, const calc_exec *b)
{
    return calc_axis_compare(a, b) == 0;
}

/* How many units have a cell of this base and processor count. */
static size_t units_with(const calc_exec *base, size_t procs)
{
    size_t count = 0;
    for (size_t i = 0; i < units.count; i++) {
        const calc_unit *u = &units.unit[i];
        const calc_exec own = calc_units_base(&units, i);
        count += same_base(&own, base) && u->procs_begin <= procs && procs < u->procs_end;
    }
    return count;
}

static bool has_cell(const calc_exec *base, int64_t num_procs, int64_t batch)
{
    for (int64_t p = 1; p <= app.num_blocks; p++) {
        bool wanted = space.axis[CALC_AXIS_pipeline_par].all
                          ? true
                          : calc_space_has(&space, CALC_AXIS_pipeline_par, p);
        if (wanted && calc_cell_at(&cell, &space, &app, base, num_procs, batch, p)) {
            return true;
        }
    }
    return false;
}

/* Every (tensor_par, micro-batch) with a cell is in one unit, and in no second. */
static void assert_covered(int64_t batch)
{
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    const calc_values *procs = &space.axis[CALC_AXIS_num_procs];
    size_t cells = 0;
    for (size_t n = 0; n < procs->count; n++) {
        for (int64_t t = 1; t <= app.attn_heads; t++) {
            for (int64_t m = 1; m <= batch && app.attn_heads % t == 0; m++) {
                calc_exec base = {CLASSIC_EXEC, .strategy.tensor_par = t, .microbatch_size = m,
                                  .strategy.datatype = CALC_DATATYPE_BFLOAT16, .training = true};
                size_t found = units_with(&base, n);
                ck_assert_uint_le(found, 1);
                bool wanted = calc_space_has(&space, CALC_AXIS_microbatch_size, m) &&
                              calc_space_has(&space, CALC_AXIS_tensor_par, t);
                bool needed = wanted && has_cell(&base, procs->value[n], batch);
                cells += needed;
                ck_assert_msg(!needed || found == 1, "%lld processors, %lld ways, micro-batch %lld",
                              (long long)procs->value[n], (long long)t, (long long)m);
            }
        }
    }
    ck_assert_uint_gt(cells, 0);
}

CALC_TEST(units_cover_every_cell_once)
{
    set(CALC_AXIS_num_procs, 1, 1, 100);
    set(CALC_AXIS_batch_size, 48, 0, 1);
    assert_covered(48);
}

CALC_TEST(units_cover_lists_of_every_axis)
{
    set(CALC_AXIS_num_procs, 2, 6, 40);
    set(CALC_AXIS_batch_size, 36, 0, 1);
    set(CALC_AXIS_tensor_par, 2, 2, 2);
    set(CALC_AXIS_pipeline_par, 3, 4, 2);
    set(CALC_AXIS_data_par, 1, 1, 9);
    set(CALC_AXIS_microbatch_size, 2, 1, 5);
    space.batch_is_maximum = false;
    assert_covered(36);
}

/* Calculon's search has those that divide the blocks. */
CALC_TEST(every_number_of_stages_is_tried_unless_they_are_even)
{
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(units.pipelines, (size_t)app.num_blocks);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_REPAIRED), CALC_OK);
    size_t divisors = 0;
    for (int64_t p = 1; p <= app.num_blocks; p++) {
        divisors += app.num_blocks % p == 0;
    }
    ck_assert_uint_eq(units.pipelines, divisors);
}

CALC_TEST(small_microbatches_come_first)
{
    set(CALC_AXIS_num_procs, 8, 8, 100);
    set(CALC_AXIS_batch_size, 64, 0, 1);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_gt(units.count, 20);
    for (size_t i = 1; i < units.count; i++) {
        ck_assert_int_le(units.unit[i - 1].microbatch_size, units.unit[i].microbatch_size);
    }
}

CALC_TEST(variants_with_the_same_rows_are_one_unit)
{
    set(CALC_AXIS_num_procs, 8, 8, 4);
    set(CALC_AXIS_batch_size, 64, 0, 1);
    set(CALC_AXIS_flash_attention, 0, 1, 2);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    size_t alone = units.count;
    ck_assert_uint_eq(units.unit[0].variants, 1);
    set(CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS, 1, 2);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(units.count, alone);
    for (size_t i = 0; i < units.count; i++) {
        ck_assert_uint_eq(units.unit[i].variants, 2);
        ck_assert_uint_eq(units.unit[i].variant % 2, 0);
    }
    set(CALC_AXIS_training, 0, 0, 1);
    space.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_gt(units.count, 0);
    for (size_t i = 0; i < units.count; i++) {
        ck_assert_uint_eq(units.unit[i].variants, 2);
    }
}

/* Every pair of a number of stages and a batch is in one unit of each tensor parallelism. */
CALC_TEST(units_that_serve_have_some_stages_and_batches_each)
{
    set(CALC_AXIS_num_procs, 8, 8, 4);
    set(CALC_AXIS_tensor_par, 1, 1, 2);
    set(CALC_AXIS_batch_size, 1, 1, 100);
    set(CALC_AXIS_microbatch_size, 1, 1, 1);
    set(CALC_AXIS_training, 0, 0, 1);
    space.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    app.num_blocks = 20;
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    for (size_t stages = 0; stages < units.pipelines; stages++) {
        for (size_t batch = 0; batch < 100; batch++) {
            size_t found = 0;
            for (size_t i = 0; i < units.count; i++) {
                const calc_unit *u = &units.unit[i];
                found += u->stages_begin <= stages && stages < u->stages_end &&
                         u->batches_begin <= batch && batch < u->batches_end;
            }
            ck_assert_uint_eq(found, 2);
        }
    }
    ck_assert_uint_eq(units.count, 2 * 3 * 2);
}

static void assert_same_units(const calc_units *again)
{
    ck_assert_uint_eq(units.count, again->count);
    for (size_t i = 0; i < units.count; i++) {
        const calc_exec base = calc_units_base(&units, i);
        const calc_exec other = calc_units_base(again, i);
        ck_assert(same_base(&base, &other));
        ck_assert_uint_eq(units.unit[i].procs_begin, again->unit[i].procs_begin);
        ck_assert_uint_eq(units.unit[i].procs_end, again->unit[i].procs_end);
    }
}

CALC_TEST(list_is_the_same_every_time)
{
    calc_units again = {0};
    set(CALC_AXIS_num_procs, 8, 8, 300);
    set(CALC_AXIS_batch_size, 96, 0, 1);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_int_eq(calc_units_list(&again, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    assert_same_units(&again);
    calc_units_free(&again);
}

/* Each allocation fails once, so that nothing but its own check can tell. */
CALC_TEST(out_of_memory_is_no_smaller_space)
{
    int refused = 0;
    set(CALC_AXIS_num_procs, 8, 8, 30);
    set(CALC_AXIS_batch_size, 96, 0, 1);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    fail_once = true;
    for (int n = 0, failed = 1; failed; n++) {
        calc_units again = {0};
        left = n;
        calc_status status = calc_units_list(&again, &space, &app, &sys, CALC_COMPAT_NONE);
        failed = left == UNLIMITED;
        left = UNLIMITED;
        refused += status == CALC_ERR_NOMEM;
        if (status == CALC_OK) {
            assert_same_units(&again);
        } else {
            ck_assert_int_eq(status, CALC_ERR_NOMEM);
        }
        calc_units_free(&again);
    }
    ck_assert_int_gt(refused, 10);
}

CALC_TEST(datatype_is_the_first_of_16_bits_that_both_engines_offer)
{
    ck_assert_int_eq(calc_units_datatype(&sys), CALC_DATATYPE_BFLOAT16);
    sys.chip.vector[CALC_DATATYPE_BFLOAT16].flop_per_s = 0;
    ck_assert_int_eq(calc_units_datatype(&sys), CALC_DATATYPE_FLOAT16);
    sys.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s = 0;
    ck_assert_int_eq(calc_units_datatype(&sys), CALC_DATATYPE_FLOAT8);
    sys.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 0;
    ck_assert_int_eq(calc_units_datatype(&sys), CALC_DATATYPE_FLOAT32);
}

CALC_TEST(datatype_that_is_not_offered_has_no_units)
{
    set(CALC_AXIS_num_procs, 8, 0, 1);
    set(CALC_AXIS_batch_size, 8, 0, 1);
    set(CALC_AXIS_datatype, CALC_DATATYPE_FLOAT8, 0, 1);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_gt(units.count, 0);
    sys.chip.vector[CALC_DATATYPE_FLOAT8].flop_per_s = 0;
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(units.count, 0);
}
