#include "model/verdict.h"

#include "frame.h"
#include "small_case.h"

/* ---- Networks -------------------------------------------------------------------------------- */

CALC_TEST(the_ranks_of_a_network_are_the_product_of_what_uses_it)
{
    calc_exec exec = small_exec(2, 3, 5); /* tensor on network 0, the others on 1 */
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 2);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 1), 15);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 2), 1);
    exec.pipeline_par_net = 0;
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 6);
    exec.strategy.data_par_net = 0;
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 30);
}

/* 32 ranks of a stage: 2 of tensor, 16 of data; experts 4 * 2, with 4 replicas. Each network needs
   the larger of what the two ways to split the ranks ask for. */
CALC_TEST(experts_need_their_networks_too)
{
    calc_exec exec = small_exec(2, 3, 16);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 2);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 1), 48);
    exec.strategy.expert_par = 4;
    exec.strategy.expert_tensor_par = 2;
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 2);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 1), 48);
    exec.strategy.expert_par_net = 0; /* 4 * 2 there; 4 replicas and 3 stages on the other */
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 8);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 1), 48);
    exec.strategy.expert_tensor_par_net = 2;
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 4);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 2), 2);
    exec.strategy.expert_data_par_net = 2;
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 2), 8);
    exec.pipeline_par_net = 2;
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 2), 24);
    exec.strategy.expert_par = exec.strategy.expert_tensor_par =
        1; /* no experts: no networks of theirs */
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 0), 2);
    ck_assert_double_eq(calc_verdict_network_ranks(&exec, 2), 3);
}

CALC_TEST(a_network_connects_its_size_and_no_more)
{
    calc_network network = {.size = 8};
    ck_assert_int_eq(calc_verdict_network(&network, 8), CALC_VERDICT_OK);
    ck_assert_int_eq(calc_verdict_network(&network, 9), CALC_VERDICT_NETWORK_SIZE);
    ck_assert_int_eq(calc_verdict_network(&network, 3), CALC_VERDICT_OK);
}

CALC_TEST(a_network_that_must_be_filled_wants_a_divisor_of_its_size)
{
    calc_network network = {.size = 12, .must_be_filled = true};
    for (int ranks = 2; ranks <= 12; ranks++) {
        ck_assert_int_eq(calc_verdict_network(&network, ranks),
                         12 % ranks == 0 ? CALC_VERDICT_OK : CALC_VERDICT_NETWORK_FILL);
    }
    ck_assert_int_eq(calc_verdict_network(&network, 24), CALC_VERDICT_NETWORK_SIZE);
}

CALC_TEST(a_network_without_ranks_is_fine_whatever_its_size)
{
    calc_network network = {.size = 0, .must_be_filled = true};
    ck_assert_int_eq(calc_verdict_network(&network, 1), CALC_VERDICT_OK);
    ck_assert_int_eq(calc_verdict_network(&network, 2), CALC_VERDICT_NETWORK_SIZE);
}

/* ---- Offload --------------------------------------------------------------------------------- */

CALC_TEST(any_offload_needs_three_blocks)
{
    calc_exec exec = {0};
    ck_assert(!calc_verdict_offload_blocks(&exec, 2));
    exec.strategy.weight_offload = true;
    ck_assert(calc_verdict_offload_blocks(&exec, 2));
    ck_assert(!calc_verdict_offload_blocks(&exec, 3));
    exec = (calc_exec){.strategy.activations_offload = true};
    ck_assert(calc_verdict_offload_blocks(&exec, 2));
    exec = (calc_exec){.strategy.optimizer_offload = true};
    ck_assert(calc_verdict_offload_blocks(&exec, 2));
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* A layout that just fits in every respect. */
typedef struct fit {
    calc_system system;
    calc_exec exec;
    bool fit;
    double blocks; /* fewest of a stage */
    double tier1_bytes, tier2_bytes;
} fit;

static fit just_fits(void)
{
    fit f = {.system = small_system(),
             .exec = small_exec(5, 3, 1), /* on networks 0 and 1 */
             .fit = true,
             .blocks = 3,
             .tier1_bytes = 1000,
             .tier2_bytes = 2000};
    f.system.networks[0].size = 5;
    f.system.networks[0].must_be_filled = true;
    f.system.networks[1].size = 3;
    f.system.networks[1].must_be_filled = true;
    f.system.chip.mem1.capacity_bytes = 1000;
    f.system.chip.mem2.capacity_bytes = 2000;
    f.exec.strategy.weight_offload = true;
    return f;
}

/* Faults in order of report. */
static const calc_verdict faults[] = {
    CALC_VERDICT_NETWORK_SIZE,  CALC_VERDICT_NETWORK_FILL,  CALC_VERDICT_NETWORK_SIZE,
    CALC_VERDICT_NETWORK_FILL,  CALC_VERDICT_INTERLEAVING,  CALC_VERDICT_OFFLOAD_BLOCKS,
    CALC_VERDICT_MEM1_CAPACITY, CALC_VERDICT_MEM2_CAPACITY,
};
enum { FAULTS = sizeof faults / sizeof *faults };

static void break_it(fit *f, int fault)
{
    switch (fault) {
    case 0:
        f->system.networks[0].size = 4;
        break;
    case 1:
        f->system.networks[0].size = 12;
        break;
    case 2:
        f->system.networks[1].size = 2;
        break;
    case 3:
        f->system.networks[1].size = 4;
        break;
    case 4:
        f->fit = false;
        break;
    case 5:
        f->blocks = 2;
        break;
    case 6:
        f->tier1_bytes = 1001;
        break;
    default:
        f->tier2_bytes = 2001;
        break;
    }
}

static calc_verdict verdict_of(const fit *f)
{
    return calc_verdict_of(&f->system, &f->exec, f->fit, f->blocks, f->tier1_bytes, f->tier2_bytes);
}

CALC_TEST(each_fault_alone_is_the_verdict)
{
    for (int fault = 0; fault < FAULTS; fault++) {
        fit f = just_fits();
        ck_assert_int_eq(verdict_of(&f), CALC_VERDICT_OK);
        break_it(&f, fault);
        ck_assert_int_eq(verdict_of(&f), faults[fault]);
    }
}

CALC_TEST(the_first_of_many_faults_is_the_verdict)
{
    fit f = just_fits();
    for (int fault = FAULTS - 1; fault >= 0; fault--) {
        break_it(&f, fault);
        ck_assert_int_eq(verdict_of(&f), faults[fault]);
    }
}

CALC_TEST(exact_capacity_is_enough_and_one_byte_less_is_not)
{
    fit f = just_fits();
    ck_assert_int_eq(verdict_of(&f), CALC_VERDICT_OK);
    f.system.chip.mem1.capacity_bytes = 999;
    ck_assert_int_eq(verdict_of(&f), CALC_VERDICT_MEM1_CAPACITY);
    f.system.chip.mem1.capacity_bytes = 1000;
    f.system.chip.mem2.capacity_bytes = 1999;
    ck_assert_int_eq(verdict_of(&f), CALC_VERDICT_MEM2_CAPACITY);
}

CALC_TEST(networks_beyond_those_the_system_has_do_not_count)
{
    fit f = just_fits();
    break_it(&f, 2);
    f.system.networks_count = 1;
    ck_assert_int_eq(verdict_of(&f), CALC_VERDICT_OK);
}
