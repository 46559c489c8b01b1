/* Fields of what is served as axes: every combination once, and one order of all. */
#include "variants.h"

#include "axis.h"
#include "frame.h"

static calc_space space;
static calc_designs_builder designs;

static void begin(void)
{
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
}

static void assign(const char *text)
{
    ck_assert_int_eq(calc_axis_assign(&space, &designs, false, text, NULL), CALC_OK);
}

/* Order of two layouts that differ in what they serve. */
static int compare(const calc_inference *a, const calc_inference *b)
{
    calc_exec x = {.inference = *a};
    calc_exec y = {.inference = *b};
    return calc_axis_compare(&x, &y);
}

/* How many combinations are listed. */
static size_t listed(void)
{
    calc_inference i;
    size_t count = 0;
    for (size_t k = 0; k < calc_served_count(&space); k++) {
        count += calc_served_at(&space, k, &i);
    }
    return count;
}

CALC_TEST(without_lists_there_is_what_is_served)
{
    begin();
    space.inference.chunk_size = 77;
    calc_inference i;
    ck_assert_uint_eq(calc_served_count(&space), 1);
    ck_assert(calc_served_at(&space, 0, &i));
    ck_assert_int_eq(i.chunk_size, 77);
    ck_assert_int_eq(compare(&i, &space.inference), 0);
    end();
}

CALC_TEST(every_combination_is_listed_in_order)
{
    begin();
    assign("inference.phase=serve");
    assign("inference.chunk_size=2048,512");
    assign("inference.prefix_hit=0.5,0,0.25");
    assign("inference.kv_datatype=auto,float8");
    ck_assert_uint_eq(listed(), 12);
    calc_inference before;
    calc_inference i;
    for (size_t k = 0; k < 12; k++) {
        ck_assert(calc_served_at(&space, k, &i));
        ck_assert(k == 0 || compare(&before, &i) < 0);
        ck_assert(k == 0 || compare(&i, &before) > 0);
        before = i;
    }
    ck_assert_int_eq(i.phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert_int_eq(i.chunk_size, 2048);
    ck_assert_double_eq(i.prefix_hit, 0.5);
    ck_assert_int_eq(i.kv_datatype, CALC_FORMAT_FLOAT8);
    /* What is not listed is the first. */
    ck_assert_int_eq(space.inference.chunk_size, 512);
    ck_assert_double_eq(space.inference.prefix_hit, 0);
    end();
}

CALC_TEST(a_phase_without_a_pool_is_listed_once)
{
    begin();
    assign("inference.phase=serve,disaggregated");
    assign("inference.prefill_procs=8,16,24");
    assign("inference.prefill_tensor_par=4,8");
    ck_assert_uint_eq(calc_served_count(&space), 12);
    ck_assert_uint_eq(listed(), 1 + 6);
    for (size_t k = 0; k < 12; k++) {
        calc_inference i;
        bool is = calc_served_at(&space, k, &i);
        bool pool = i.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
        ck_assert(is || !pool);
        ck_assert_int_eq(i.prefill_procs > 0, pool);
        ck_assert_int_eq(i.prefill_tensor_par > 0, pool);
    }
    /* Chunks that nobody asked for are those of one pool: two prefill whole prompts. */
    assign("inference.chunk_size=512,2048");
    ck_assert_uint_eq(listed(), 2 * (1 + 6));
    space.axis[CALC_AXIS_inference_chunk_size].standard = true;
    ck_assert_uint_eq(listed(), 2 + 6);
    /* Tokens are decoded without chunks of prompts, whoever asks for them. */
    assign("inference.phase=serve,decode");
    ck_assert_uint_eq(listed(), 2 + 1);
    space.axis[CALC_AXIS_inference_chunk_size].standard = false;
    ck_assert_uint_eq(listed(), 2 + 1);
    /* Of one phase what is asked for stays: that it has no effect is an error. */
    assign("inference.phase=serve");
    calc_inference i;
    ck_assert(calc_served_at(&space, 5, &i));
    ck_assert_int_eq(i.prefill_procs, 24);
    end();
}

CALC_TEST(an_axis_is_found_by_its_row)
{
    const calc_table *exec = calc_table_of(CALC_KIND_EXEC);
    const calc_table *inference = exec->rows[CALC_AXIS_inference].table;
    begin();
    ck_assert_uint_eq(exec->count + inference->count, CALC_AXIS_COUNT);
    for (int i = 0; i < CALC_AXIS_COUNT; i++) {
        const calc_field *field =
            i < (int)exec->count ? &exec->rows[i] : &inference->rows[i - (int)exec->count];
        ck_assert_ptr_eq(calc_axis_field((calc_axis)i), field);
        ck_assert_int_eq(calc_axis_of(field), i);
        ck_assert(space.axis[i].standard);
    }
    ck_assert_int_eq(calc_axis_of(&calc_table_of(CALC_KIND_APP)->rows[0]), CALC_AXIS_COUNT);
    ck_assert_int_eq(
        calc_axis_of(
            &inference->rows[CALC_AXIS_inference_traits - CALC_AXIS_EXEC_COUNT].table->rows[0]),
        CALC_AXIS_COUNT);
    assign("inference.page_size=16");
    ck_assert(!space.axis[CALC_AXIS_inference_page_size].standard);
    end();
}
