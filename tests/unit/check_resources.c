/* 10 % more of everything that a machine has: src/plan/why.c. */
#include "plan/why.h"

#include "frame.h"
#include "small_case.h"

static calc_system machine;

static void set_up(void)
{
    machine = (calc_system){.networks_count = 2};
    machine.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s = 1000;
    machine.chip.vector[CALC_DATATYPE_FLOAT32].flop_per_s = 100;
    machine.chip.mem1 = (calc_memory_tier){.capacity_bytes = 80, .bytes_per_s = 20};
    machine.chip.mem2 = (calc_memory_tier){.capacity_bytes = 500, .bytes_per_s = 2};
    machine.networks[0].bytes_per_s = 300;
    machine.networks[1].bytes_per_s = 30;
}

const calc_test_frame calc_tests = {.setup = set_up};

/* What there is of each resource, in their order. */
static void amounts(const calc_system *s, double amount[8])
{
    const double all[] = {s->chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s,
                          s->chip.vector[CALC_DATATYPE_FLOAT32].flop_per_s,
                          s->chip.mem1.bytes_per_s,
                          s->chip.mem2.bytes_per_s,
                          s->networks[0].bytes_per_s,
                          s->networks[1].bytes_per_s,
                          s->chip.mem1.capacity_bytes,
                          s->chip.mem2.capacity_bytes};
    for (size_t i = 0; i < 8; i++) {
        amount[i] = all[i];
    }
}

CALC_TEST(each_grows_alone)
{
    double before[8], after[8];
    ck_assert_uint_eq(calc_resources_count(&machine), 8);
    ck_assert_uint_eq(calc_resources_rates(&machine), 6);
    amounts(&machine, before);
    for (size_t i = 0; i < 8; i++) {
        calc_system larger = machine;
        calc_resource_scale(&larger, i, CALC_RESOURCE_MORE);
        amounts(&larger, after);
        for (size_t k = 0; k < 8; k++) {
            assert_near(after[k], i == k ? 1.1 * before[k] : before[k]);
        }
    }
}

CALC_TEST(names_are_in_the_same_order)
{
    static const char *const names[] = {"matrix arithmetic",        "vector arithmetic",
                                        "bandwidth of mem1",        "bandwidth of mem2",
                                        "bandwidth of networks[0]", "bandwidth of networks[1]",
                                        "capacity of mem1",         "capacity of mem2"};
    for (size_t i = 0; i < 8; i++) {
        char text[CALC_RESOURCE_TEXT];
        ck_assert_str_eq(calc_resource_text(&machine, i, false, text), names[i]);
    }
}

CALC_TEST(people_read_what_the_machine_calls_its_tiers)
{
    static const char *const names[][2] = {
        {"bandwidth of the first memory", "bandwidth of HBM"},
        {"bandwidth of the second memory", "bandwidth of host memory"},
        {"bandwidth of the fastest network", "bandwidth of Ethernet, network 0"},
        {"bandwidth of network 1", "bandwidth of Ethernet, network 1"},
        {"capacity of the first memory", "capacity of HBM"},
        {"capacity of the second memory", "capacity of host memory"}};
    for (int named = 0; named < 2; named++) {
        for (size_t i = 0; i < 6; i++) {
            char text[CALC_RESOURCE_TEXT];
            ck_assert_str_eq(calc_resource_text(&machine, i + 2, true, text), names[i][named]);
        }
        machine.chip.mem1.kind = CALC_MEMORY_KIND_HBM;
        machine.chip.mem2.kind = CALC_MEMORY_KIND_HOST;
        machine.networks[0].kind = machine.networks[1].kind = CALC_NETWORK_KIND_ETHERNET;
    }
    char text[CALC_RESOURCE_TEXT];
    machine.networks[0].kind = CALC_NETWORK_KIND_NVLINK;
    ck_assert_str_eq(calc_resource_text(&machine, 4, true, text), "bandwidth of NVLink");
}

CALC_TEST(a_second_tier_need_not_be_there)
{
    for (size_t i = 0; i < 8; i++) {
        ck_assert(calc_resource_there(&machine, i));
    }
    machine.chip.mem2.capacity_bytes = 0;
    for (size_t i = 0; i < 8; i++) {
        ck_assert_int_eq(calc_resource_there(&machine, i), i != 3 && i != 7);
    }
}
