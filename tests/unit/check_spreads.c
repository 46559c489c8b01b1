/* Values of expert_par that rows of a unit differ in. */
#include "variants.h"

#include "frame.h"
#include "small_case.h"

static calc_space space;
static calc_app app;

static void begin(void)
{
    static const int64_t order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    app = small_app();
    app.num_experts = 12;
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_rank_order, &order, 1), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
}

static void list(const int64_t *value, size_t count)
{
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_expert_par, value, count), CALC_OK);
}

static void expect(const int64_t *value, size_t count)
{
    const calc_spreads got = calc_spreads_of(&space, &app);
    ck_assert_uint_eq(got.count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(got.expert_par[i], value[i]);
    }
}

CALC_TEST(every_divisor_of_the_experts_in_order)
{
    static const int64_t all[] = {1, 2, 3, 4, 6, 12};
    static const int64_t square[] = {1, 2, 4, 8, 16};
    begin();
    calc_space_set_all(&space, CALC_AXIS_expert_par);
    expect(all, 6);
    app.num_experts = 16;
    expect(square, 5);
    app.num_experts = 0;
    expect(NULL, 0);
    end();
}

CALC_TEST(those_of_a_list_that_divide_the_experts)
{
    static const int64_t some[] = {1, 4, 5, 12, 24};
    static const int64_t kept[] = {1, 4, 12};
    static const int64_t one[] = {4, 5};
    static const int64_t zero[] = {0, 4, 12};
    begin();
    list(some, 5);
    expect(kept, 3);
    list(one, 2);
    expect(NULL, 0);
    list(zero, 3);
    expect(NULL, 0);
    end();
}

CALC_TEST(none_where_networks_are_chosen_or_layouts_serve)
{
    static const int64_t orders[] = {CALC_RANK_ORDER_NETWORKS, CALC_RANK_ORDER_TP_CP_EP_DP_PP};
    begin();
    calc_space_set_all(&space, CALC_AXIS_expert_par);
    space.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    expect(NULL, 0);
    space.inference.phase = CALC_INFERENCE_PHASE_NONE;
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_rank_order, orders, 2), CALC_OK);
    expect(NULL, 0);
    end();
}

CALC_TEST(those_that_divide_some_number_of_processors)
{
    static const int64_t procs[] = {8, 16, 20};
    static const int64_t kept[] = {1, 2, 4};
    begin();
    calc_space_set_all(&space, CALC_AXIS_expert_par);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, procs, 3), CALC_OK);
    expect(kept, 3);
    end();
}

CALC_TEST(with_more_than_there_is_room_for_there_are_none)
{
    begin();
    calc_space_set_all(&space, CALC_AXIS_expert_par);
    app.num_experts = 360; /* 24 divisors */
    expect(NULL, 0);
    app.num_experts = 384; /* 16 */
    ck_assert_uint_eq(calc_spreads_of(&space, &app).count, CALC_SPREADS);
    end();
}

CALC_TEST(a_unit_without_them_has_that_of_its_base)
{
    begin();
    calc_exec base = small_exec(2, 1, 4);
    base.strategy.expert_par = 4;
    const calc_spreads got = calc_spreads_in(&space, &app, &base);
    ck_assert_uint_eq(got.count, 1);
    ck_assert_int_eq(got.expert_par[0], 4);
    end();
}
