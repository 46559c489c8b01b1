#include "space.h"

#include "frame.h"
#include "small_case.h"

static calc_space space;

static void make_space(void)
{
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void free_space(void)
{
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = make_space, .teardown = free_space};

static void set(calc_axis axis, const int64_t *values, size_t count)
{
    ck_assert_int_eq(calc_space_set(&space, axis, values, count), CALC_OK);
}
#define SET(axis, ...)                                                                             \
    set(CALC_AXIS_##axis, (const int64_t[]){__VA_ARGS__},                                          \
        sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

CALC_TEST(new_space_searches_all_but_attention_training_and_fusion)
{
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        bool fixed = axis == CALC_AXIS_attention_type || axis == CALC_AXIS_training ||
                     axis == CALC_AXIS_fused_activation || calc_axis_is_optional((calc_axis)axis);
        ck_assert_int_eq(space.axis[axis].all, !fixed);
        ck_assert_uint_eq(space.axis[axis].count, fixed);
    }
    ck_assert_int_eq(space.axis[CALC_AXIS_fused_activation].value[0], true);
    ck_assert_int_eq(space.axis[CALC_AXIS_training].value[0], true);
    ck_assert_int_eq(space.axis[CALC_AXIS_attention_type].value[0], CALC_ATTENTION_TYPE_MULTIHEAD);
    ck_assert(space.batch_is_maximum);
}

/* Values of optional fields are those of a file without them. */
CALC_TEST(new_space_has_no_optional_field)
{
    calc_exec exec;
    calc_exec want = {CLASSIC_EXEC};
    calc_space_optional(&space, &exec);
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        ck_assert_int_eq(calc_axis_get(&exec, (calc_axis)axis),
                         calc_axis_get(&want, (calc_axis)axis));
    }
    ck_assert_int_eq(space.axis[CALC_AXIS_expert_par_net].value[0], -1);
    ck_assert_int_eq(space.axis[CALC_AXIS_seq_size].value[0], 0);
    SET(expert_par_net, 3, 2);
    SET(flash_attention, true);
    SET(recompute_modules, 5);
    calc_space_optional(&space, &exec);
    ck_assert_int_eq(exec.strategy.expert_par_net, 2);
    ck_assert(exec.strategy.flash_attention);
    ck_assert_int_eq(exec.strategy.recompute_modules, 5);
    ck_assert_int_eq(exec.strategy.context_par_net, -1);
    ck_assert_int_eq(exec.strategy.tensor_par, 0);
}

CALC_TEST(only_fields_with_an_absent_value_are_optional)
{
    ck_assert(calc_axis_is_optional(CALC_AXIS_structure_type));
    ck_assert(calc_axis_is_optional(CALC_AXIS_expert_par_net));
    ck_assert(!calc_axis_is_optional(CALC_AXIS_training));
    ck_assert(!calc_axis_is_optional(CALC_AXIS_source));
}

CALC_TEST(values_are_sorted_and_kept_once)
{
    SET(tensor_par, 8, 2, 8, 1, 2);
    const calc_values *v = &space.axis[CALC_AXIS_tensor_par];
    ck_assert(!v->all);
    ck_assert_uint_eq(v->count, 3);
    ck_assert_int_eq(v->value[0], 1);
    ck_assert_int_eq(v->value[1], 2);
    ck_assert_int_eq(v->value[2], 8);
    ck_assert(calc_space_has(&space, CALC_AXIS_tensor_par, 8));
    ck_assert(!calc_space_has(&space, CALC_AXIS_tensor_par, 4));
    calc_space_set_all(&space, CALC_AXIS_tensor_par);
    ck_assert(calc_space_has(&space, CALC_AXIS_tensor_par, 4));
}

CALC_TEST(empty_list_has_no_value)
{
    set(CALC_AXIS_data_par, NULL, 0);
    ck_assert(!calc_space_has(&space, CALC_AXIS_data_par, 1));
}

CALC_TEST(every_field_of_an_execution_is_read_as_it_was_put)
{
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        calc_exec exec = {0};
        const calc_field_type type = calc_axis_field((calc_axis)axis)->type;
        bool object = type == CALC_TYPE_OBJECT || type == CALC_TYPE_NOTE ||
                      type == CALC_TYPE_SYSTEM || type == CALC_TYPE_ENGINE;
        calc_axis_put(&exec, (calc_axis)axis, 1);
        for (int other = 0; other < CALC_AXIS_COUNT; other++) {
            ck_assert_int_eq(calc_axis_get(&exec, (calc_axis)other), other == axis && !object);
        }
    }
}

CALC_TEST(real_numbers_are_axes_by_their_bits_in_the_same_order)
{
    static const double number[] = {0, 1e-300, 0.5, 1, 1.25, 1000};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        int64_t value = calc_axis_value(CALC_AXIS_capacity_factor, number[i]);
        ck_assert(calc_axis_number(CALC_AXIS_capacity_factor, value) == number[i]);
        ck_assert(i == 0 || value > calc_axis_value(CALC_AXIS_capacity_factor, number[i - 1]));
        calc_exec exec = {0};
        calc_axis_put(&exec, CALC_AXIS_capacity_factor, value);
        ck_assert(exec.strategy.capacity_factor == number[i]);
    }
    ck_assert_int_eq(calc_axis_value(CALC_AXIS_tensor_par, 8), 8);
    ck_assert(calc_axis_number(CALC_AXIS_tensor_par, 8) == 8);
    /* The order of bits is that of numbers only from 0 on. */
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_field *row = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
        ck_assert(row->type != CALC_TYPE_REAL || row->lo >= 0);
    }
}

CALC_TEST(only_the_last_legal_value_is_picked_where_it_is_preferred)
{
    static const int64_t both[] = {0, 1};
    int64_t out[2];
    set(CALC_AXIS_seq_par_ag_redo, both, 2);
    ck_assert(!space.axis[CALC_AXIS_seq_par_ag_redo].last);
    ck_assert(!space.axis[CALC_AXIS_seq_par_ag_redo].standard);
    ck_assert(space.axis[CALC_AXIS_data_par_overlap].standard);
    space.axis[CALC_AXIS_seq_par_ag_redo].last = true;
    ck_assert_uint_eq(calc_space_pick_bool(&space, CALC_AXIS_seq_par_ag_redo, true, out), 1);
    ck_assert_int_eq(out[0], 1);
    ck_assert_uint_eq(calc_space_pick_bool(&space, CALC_AXIS_seq_par_ag_redo, false, out), 1);
    ck_assert_int_eq(out[0], 0);
}

CALC_TEST(layouts_are_ordered_by_the_first_field_that_differs)
{
    calc_exec a = small_exec(2, 1, 1);
    calc_exec b = a;
    ck_assert_int_eq(calc_axis_compare(&a, &b), 0);
    b.strategy.optimizer_offload = true;
    ck_assert_int_lt(calc_axis_compare(&a, &b), 0);
    a.strategy.tensor_par = 3;
    ck_assert_int_gt(calc_axis_compare(&a, &b), 0);
}

CALC_TEST(pick_keeps_the_legal_values_that_are_wanted)
{
    static const int64_t legal[] = {1, 2, 4, 8};
    int64_t out[4];
    ck_assert_uint_eq(calc_space_pick(&space, CALC_AXIS_pipeline_par, legal, 4, out), 4);
    SET(pipeline_par, 2, 3, 8);
    ck_assert_uint_eq(calc_space_pick(&space, CALC_AXIS_pipeline_par, legal, 4, out), 2);
    ck_assert_int_eq(out[0], 2);
    ck_assert_int_eq(out[1], 8);
    ck_assert_uint_eq(calc_space_pick(&space, CALC_AXIS_pipeline_par, legal, 0, out), 0);
}

CALC_TEST(true_is_picked_only_where_it_is_legal)
{
    int64_t out[2];
    ck_assert_uint_eq(calc_space_pick_bool(&space, CALC_AXIS_weight_offload, true, out), 2);
    ck_assert_int_eq(out[0], false);
    ck_assert_int_eq(out[1], true);
    ck_assert_uint_eq(calc_space_pick_bool(&space, CALC_AXIS_weight_offload, false, out), 1);
    ck_assert_int_eq(out[0], false);
    SET(weight_offload, true);
    ck_assert_uint_eq(calc_space_pick_bool(&space, CALC_AXIS_weight_offload, true, out), 1);
    ck_assert_int_eq(out[0], true);
    ck_assert_uint_eq(calc_space_pick_bool(&space, CALC_AXIS_weight_offload, false, out), 0);
}

CALC_TEST(dimension_of_one_has_one_network_and_a_larger_one_all_that_exist)
{
    calc_system system = small_system();
    int64_t out[CALC_MAX_NETWORKS];
    calc_axis axis = CALC_AXIS_data_par_net;
    ck_assert_uint_eq(calc_space_networks(&space, axis, 1, &system, out), 1);
    ck_assert_int_eq(out[0], 0);
    ck_assert_uint_eq(calc_space_networks(&space, axis, 2, &system, out), 2);
    ck_assert_int_eq(out[0], 0);
    ck_assert_int_eq(out[1], 1);
    SET(data_par_net, 1, 5);
    ck_assert_uint_eq(calc_space_networks(&space, axis, 1, &system, out), 1);
    ck_assert_int_eq(out[0], 1);
    ck_assert_uint_eq(calc_space_networks(&space, axis, 2, &system, out), 1);
    ck_assert_int_eq(out[0], 1);
}

CALC_TEST(network_that_the_system_lacks_is_not_even_an_idle_one)
{
    calc_system system = small_system();
    int64_t out[CALC_MAX_NETWORKS];
    SET(tensor_par_net, 2, 3);
    ck_assert_uint_eq(calc_space_networks(&space, CALC_AXIS_tensor_par_net, 1, &system, out), 0);
    ck_assert_uint_eq(calc_space_networks(&space, CALC_AXIS_tensor_par_net, 4, &system, out), 0);
}

/* What the loops of the kernel know nothing of. */
CALC_TEST(seldom_values_are_for_calc_run)
{
    ck_assert_ptr_null(calc_space_by_run(&space));
    SET(deferred_head_wgrad, 0);
    SET(optimizer, CALC_OPTIMIZER_ADAM);
    ck_assert_ptr_null(calc_space_by_run(&space));
    SET(optimizer, CALC_OPTIMIZER_ADAM, CALC_OPTIMIZER_MUON);
    ck_assert_str_eq(calc_space_by_run(&space), "optimizer");
    SET(optimizer, CALC_OPTIMIZER_ADAM);
    SET(deferred_head_wgrad, -1);
    ck_assert_str_eq(calc_space_by_run(&space), "deferred_head_wgrad");
    calc_space_set_all(&space, CALC_AXIS_deferred_head_wgrad);
    ck_assert_str_eq(calc_space_by_run(&space), "deferred_head_wgrad");
    SET(deferred_head_wgrad, 0);
    SET(offload_modules, 0);
    ck_assert_ptr_null(calc_space_by_run(&space));
    SET(offload_modules, 0, 1);
    ck_assert_str_eq(calc_space_by_run(&space), "offload_modules");
}
