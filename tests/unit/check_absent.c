#include "spec/absent.h"

#include <string.h>

#include "classic.h"
#include "frame.h"

CALC_TEST(an_execution_without_keys_is_calculons)
{
    calc_exec exec;
    calc_exec want = {CLASSIC_EXEC};
    memset(&exec, 0x55, sizeof exec);
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &exec);
    ck_assert_mem_eq(&exec, &want, sizeof exec);
}

/* What a list or map holds is added by who fills it; a network's all-to-all is [1, -1]. */
CALC_TEST(a_machine_without_keys_is_empty)
{
    static calc_system sys;
    static const calc_system zero;
    calc_network network;
    calc_field_ref ref;
    memset(&sys, 0x55, sizeof sys);
    calc_absent_fill(calc_table_of(CALC_KIND_SYSTEM), &sys);
    ck_assert_mem_eq(&sys, &zero, sizeof sys);
    ck_assert_int_eq(calc_field_find(CALC_KIND_SYSTEM, "networks", &ref), CALC_OK);
    calc_absent_fill(ref.field->table, &network);
    ck_assert_double_eq(network.ops.all_to_all.scalar, 1);
    ck_assert_double_eq(network.ops.all_to_all.offset, -1);
    ck_assert_double_eq(network.ops.all_gather.scalar, 0);
}

static bool is_absent(calc_kind kind, const char *path, const void *object)
{
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(kind, path, &ref), CALC_OK);
    return calc_absent_is(ref.field, (const char *)object + ref.offset);
}

CALC_TEST(each_type_has_one_absent_value)
{
    calc_exec exec = {CLASSIC_EXEC};
    calc_app app = {.hidden = 0};
    ck_assert(is_absent(CALC_KIND_EXEC, "context_par_net", &exec));
    exec.strategy.context_par_net = 0;
    ck_assert(!is_absent(CALC_KIND_EXEC, "context_par_net", &exec));
    ck_assert(is_absent(CALC_KIND_EXEC, "recompute_modules", &exec));
    exec.strategy.recompute_modules = 1;
    ck_assert(!is_absent(CALC_KIND_EXEC, "recompute_modules", &exec));
    ck_assert(is_absent(CALC_KIND_EXEC, "capacity_factor", &exec));
    exec.strategy.capacity_factor = 1e-300;
    ck_assert(!is_absent(CALC_KIND_EXEC, "capacity_factor", &exec));
    ck_assert(is_absent(CALC_KIND_APP, "bias", &app));
    app.bias = CALC_CHOICE_FALSE;
    ck_assert(!is_absent(CALC_KIND_APP, "bias", &app));
    ck_assert(is_absent(CALC_KIND_APP, "causal", &app));
    app.causal = true;
    ck_assert(!is_absent(CALC_KIND_APP, "causal", &app));
    ck_assert(is_absent(CALC_KIND_APP, "source", &app));
}

CALC_TEST(an_object_is_absent_with_all_its_members)
{
    static calc_system sys;
    static const char *const paths[] = {"launch", "networks[0].op_parameters",
                                        "networks[0].bandwidth_curve"};
    for (int i = 0; i < 3; i++) {
        ck_assert(is_absent(CALC_KIND_SYSTEM, paths[i], &sys));
    }
    sys.chip.launch.vector_s = 1e-6;
    sys.networks[0].op_parameters.all_to_all.latency_step_s = 1e-6;
    sys.networks[0].bandwidth_curve.count = 1;
    for (int i = 0; i < 3; i++) {
        ck_assert(!is_absent(CALC_KIND_SYSTEM, paths[i], &sys));
    }
    ck_assert(!is_absent(CALC_KIND_SYSTEM, "networks", &sys));
    ck_assert(!is_absent(CALC_KIND_SYSTEM, "matrix", &sys));
}

CALC_TEST(an_operation_is_absent_as_a_ring_or_as_zeros)
{
    static calc_system sys;
    const char *path = "networks[0].ops.all_to_all";
    calc_network_op *op = &sys.networks[0].ops.all_to_all;
    ck_assert(is_absent(CALC_KIND_SYSTEM, path, &sys));
    *op = (calc_network_op){1, -1};
    ck_assert(is_absent(CALC_KIND_SYSTEM, path, &sys));
    *op = (calc_network_op){1, 0};
    ck_assert(!is_absent(CALC_KIND_SYSTEM, path, &sys));
    *op = (calc_network_op){2, -1};
    ck_assert(!is_absent(CALC_KIND_SYSTEM, path, &sys));
}
