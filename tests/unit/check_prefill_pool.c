/* What the prefill pool of a disaggregated execution runs. */
#include "spec/serving_engine.h"

#include "frame.h"
#include "serving_case.h"

static calc_exec pools(int64_t tensor_par, int64_t data_par)
{
    calc_exec e =
        serving_exec(CALC_INFERENCE_PHASE_DISAGGREGATED, tensor_par, 1, data_par, data_par);
    e.inference.prefill_procs = 8;
    return e;
}

CALC_TEST(sizes_are_its_own_or_those_of_decoding)
{
    calc_exec e = pools(4, 2), pool;
    calc_prefill_pool_of(&e, &pool);
    ck_assert_int_eq(pool.num_procs, 8);
    ck_assert_int_eq(pool.strategy.tensor_par, 4);
    ck_assert_int_eq(pool.strategy.data_par, 2);
    e.inference.prefill_tensor_par = 1;
    e.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    calc_prefill_pool_of(&e, &pool);
    ck_assert_int_eq(pool.strategy.data_par, 8);
    ck_assert_int_eq(pool.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE);
    ck_assert_int_eq(pool.strategy.expert_tensor_par, e.strategy.expert_tensor_par);
}

/* Decoding has attention for itself on 8 processors, and experts on all; prefill splits layers. */
CALC_TEST(layers_that_are_split_have_experts_on_their_ranks)
{
    calc_exec e = pools(1, 8), pool;
    e.strategy.expert_par = 8;
    e.inference.prefill_tensor_par = 8;
    e.inference.prefill_expert_par = 4;
    calc_prefill_pool_of(&e, &pool);
    ck_assert_int_eq(pool.strategy.dispatch_type, CALC_DISPATCH_TYPE_REPLICATED);
    ck_assert_int_eq(pool.strategy.expert_par, 4);
    ck_assert_int_eq(pool.strategy.expert_tensor_par, 2);
}

CALC_TEST(attention_that_is_whole_sends_tokens)
{
    calc_exec e = pools(8, 1), pool;
    e.strategy.dispatch_type = CALC_DISPATCH_TYPE_REPLICATED;
    e.strategy.expert_tensor_par = 8;
    e.inference.prefill_tensor_par = 1;
    e.inference.prefill_expert_par = 8;
    calc_prefill_pool_of(&e, &pool);
    ck_assert_int_eq(pool.strategy.dispatch_type, CALC_DISPATCH_TYPE_NODE_LIMITED);
    ck_assert_int_eq(pool.strategy.expert_tensor_par, 1);
}

CALC_TEST(its_system_is_that_of_the_run_unless_it_says_otherwise)
{
    calc_exec e = pools(4, 2), pool;
    calc_system system = small_system(), other = system;
    ck_assert_ptr_eq(calc_prefill_pool_system(&system, &e), &system);
    e.inference.prefill_system = (calc_other_system){"other", &other};
    ck_assert_ptr_eq(calc_prefill_pool_system(&system, &e), &system);
    other.chip.mem1.bytes_per_s *= 2;
    ck_assert_ptr_eq(calc_prefill_pool_system(&system, &e), &other);
    ck_assert_ptr_eq(calc_prefill_pool_system(&other, &e), &other);
    calc_prefill_pool_of(&e, &pool); /* which runs there, and has no other */
    ck_assert_ptr_null(pool.inference.prefill_system.system);
    ck_assert_str_eq(pool.inference.prefill_system.name, "");
}
