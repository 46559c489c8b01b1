#include "model/cost/cost_kernel.h"

#include "frame.h"
#include "serving_case.h"

/* ---- By hand --------------------------------------------------------------------------------- */

/* 2^40 FLOP/s, 2^38 bytes/s, networks of 2^36 and 2^33 bytes/s, without latency. */
static calc_system machine;
static calc_app app;
static calc_exec exec;
static calc_shape shape;

static void begin(void)
{
    machine = small_system();
    app = small_app();
    exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
}

const calc_test_frame calc_tests = {.setup = begin};

static calc_cost_context context_of(const calc_serving_rates *rates)
{
    calc_cost_context c = calc_cost_context_of(&machine, &exec, &shape, CALC_COMPAT_NONE);
    c.serving = rates;
    return c;
}

static double kernel_s(const calc_operator *o)
{
    calc_cost_context c = context_of(&machine.chip.serving);
    return calc_cost_kernel_s(&c, o, CALC_PASS_FW);
}

/* In training, on the same machine. */
static double training_s(const calc_operator *o)
{
    calc_cost_context c = context_of(NULL);
    return calc_cost_kernel_s(&c, o, CALC_PASS_FW);
}

/* 2^30 multiplications of 2^10 each, and 2^26 bytes: 2 ms of arithmetic, 0.25 ms of memory. */
static calc_operator product(void)
{
    return (calc_operator){.name = "product",
                           .kind = CALC_OPERATOR_MATRIX,
                           .outputs = two_to(20),
                           .flop = {two_to(31)},
                           .bytes = {two_to(26)},
                           .launches = {1}};
}

CALC_TEST(arithmetic_and_traffic_of_a_product_hide_each_other_but_where_they_are_alike)
{
    calc_operator o = product();
    calc_serving_matrix *r = &machine.chip.serving.matrix;
    *r = (calc_serving_matrix){
        .memory_efficiency = 0.5, .fixed_s = 3e-6, .inner_s = 1e-9, .efficiency = 0.5};
    double flop_s = two_to(31 - 40) / 0.5;
    double mem_s = two_to(26 - 38) / 0.5;
    double fixed_s = 3e-6 + 1024 * 1e-9;
    assert_near(kernel_s(&o), fixed_s + cbrt(pow(flop_s, 3) + pow(mem_s, 3)));
    o.bytes[CALC_PASS_FW] = 0;
    assert_near(kernel_s(&o), fixed_s + flop_s);
    r->efficiency = 0; /* 1 */
    assert_near(kernel_s(&o), fixed_s + flop_s / 2);
    /* Of the router and the head the same, which are never narrow. */
    o.kind = CALC_OPERATOR_HEAD;
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    r->efficiency_8bit = 0.25;
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    assert_near(kernel_s(&o), fixed_s + flop_s / 2);
}

CALC_TEST(inputs_of_8_and_4_bits_are_converted_before)
{
    calc_operator o = product();
    calc_serving_matrix *r = &machine.chip.serving.matrix;
    *r = (calc_serving_matrix){.memory_efficiency = 1,
                               .quantize_s = 2e-6,
                               .efficiency_8bit = 0.5,
                               .efficiency_4bit = 0.25};
    o.converted_bytes = two_to(25);
    double flop_s = two_to(31 - 40);
    double mem_s = two_to(25 - 38); /* of conversion, and of the rest */
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    assert_near(kernel_s(&o), mem_s + cbrt(pow(flop_s / 0.5, 3) + pow(mem_s, 3)));
    exec.strategy.scaling = CALC_SCALING_BLOCK;
    assert_near(kernel_s(&o), 2e-6 + mem_s + cbrt(pow(flop_s / 0.5, 3) + pow(mem_s, 3)));
    /* An eighth of the inputs more, for their scales. */
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT4;
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    double scaled_s = mem_s + (two_to(25) - 2 * two_to(20)) / 8 / two_to(38);
    assert_near(kernel_s(&o), 2e-6 + mem_s + cbrt(pow(flop_s / 0.25, 3) + pow(scaled_s, 3)));
    r->efficiency_4bit = 0; /* that of 16 */
    assert_near(kernel_s(&o), 2e-6 + mem_s + cbrt(pow(flop_s, 3) + pow(scaled_s, 3)));
}

CALC_TEST(weights_of_4_bits_in_products_of_16_have_rates_of_their_own)
{
    calc_operator o = product();
    calc_serving_matrix *r = &machine.chip.serving.grouped;
    *r = (calc_serving_matrix){.memory_efficiency = 1,
                               .efficiency = 0.5,
                               .unpacked_efficiency = 0.25,
                               .unpacked_memory_efficiency = 0.125};
    double flop_s = two_to(31 - 40);
    double mem_s = two_to(26 - 38);
    o.kind = CALC_OPERATOR_GROUPED;
    assert_near(kernel_s(&o), cbrt(pow(flop_s / 0.5, 3) + pow(mem_s, 3)));
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT4;
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    assert_near(kernel_s(&o), cbrt(pow(flop_s / 0.25, 3) + pow(mem_s / 0.125, 3)));
    r->unpacked_efficiency = r->unpacked_memory_efficiency = 0; /* as others */
    assert_near(kernel_s(&o), cbrt(pow(flop_s / 0.5, 3) + pow(mem_s, 3)));
    /* Nothing is unpacked where inputs are as narrow. */
    r->unpacked_efficiency = r->unpacked_memory_efficiency = 0.125;
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    double narrow_s = kernel_s(&o);
    r->unpacked_efficiency = r->unpacked_memory_efficiency = 0;
    assert_near(narrow_s, kernel_s(&o));
}

CALC_TEST(products_of_8_bits_with_block_scales_have_a_rate_of_their_own)
{
    calc_operator o = product();
    calc_serving_matrix *r = &machine.chip.serving.grouped;
    *r = (calc_serving_matrix){.memory_efficiency = 1, .efficiency_8bit = 0.5};
    o.kind = CALC_OPERATOR_GROUPED;
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    double usual_s = kernel_s(&o);
    r->block_scaled_efficiency = 0.25;
    assert_near(kernel_s(&o), usual_s); /* one scale for a tensor */
    exec.strategy.scaling = CALC_SCALING_BLOCK;
    double scaled_s = kernel_s(&o);
    r->block_scaled_efficiency = 0;
    assert_near(kernel_s(&o), usual_s); /* as without */
    r->efficiency_8bit = 0.25;
    assert_near(kernel_s(&o), scaled_s);
    ck_assert(scaled_s > 1.5 * usual_s);
}

CALC_TEST(a_long_cache_adds_its_share_of_the_growth)
{
    calc_operator o = {.kind = CALC_OPERATOR_ATTENTION, .flop = {0}, .bytes = {two_to(28)}};
    machine.chip.serving.decode =
        (calc_serving_decode){.memory_efficiency = 0.5, .fixed_s = 1e-5, .growth_s = 4e-6};
    double read_s = two_to(28 - 38) / 0.5;
    o.cached = 1000;
    assert_near(kernel_s(&o), read_s + 1e-5 + 2e-6);
    o.cached = 3000;
    assert_near(kernel_s(&o), read_s + 1e-5 + 3e-6);
    o.flop[CALC_PASS_FW] = two_to(31);
    assert_near(kernel_s(&o), 1e-5 + 3e-6 + cbrt(pow(two_to(-9), 3) + pow(read_s, 3)));
}

/* Heads of 16 are 32 wide with their values: exponentials as wide as 256 take 9 times as much as
 * the products, where heads of 128 have twice. */
CALC_TEST(exponentials_weigh_more_on_small_heads)
{
    calc_operator o = {.kind = CALC_OPERATOR_ATTENTION, .flop = {two_to(30)}, .launches = {1}};
    calc_serving_prefill *r = &machine.chip.serving.prefill;
    *r = (calc_serving_prefill){.memory_efficiency = 2, .fixed_s = 1e-5, .efficiency = 0.5};
    assert_near(kernel_s(&o), 1e-5 + two_to(30 - 40) / 0.5);
    r->softmax_size = 256;
    assert_near(kernel_s(&o), 1e-5 + two_to(30 - 40) / 0.5 * 9 / 2);
    o.bytes[CALC_PASS_FW] = two_to(28);
    assert_near(kernel_s(&o), 1e-5 + two_to(30 - 40) / 0.5 * 9 / 2 + two_to(28 - 38) / 2);
}

CALC_TEST(kernels_that_move_tokens_take_their_traffic)
{
    calc_operator o = {.kind = CALC_OPERATOR_VECTOR, .bytes = {two_to(28)}, .launches = {2}};
    machine.chip.serving.vector = (calc_serving_vector){.memory_efficiency = 0.5, .fixed_s = 1e-6};
    assert_near(kernel_s(&o), 1e-6 + two_to(28 - 38) / 0.5);
    o.launches[CALC_PASS_FW] = 0; /* a note of what is kept */
    assert_near(kernel_s(&o), two_to(28 - 38) / 0.5);
    /* Sorting is part of the grouped multiplications. */
    o.kind = CALC_OPERATOR_PERMUTE;
    o.launches[CALC_PASS_FW] = 1;
    machine.chip.serving.grouped = (calc_serving_matrix){.memory_efficiency = 0.25, .fixed_s = 1};
    assert_near(kernel_s(&o), two_to(28 - 38) / 0.25);
}

CALC_TEST(what_has_no_rates_takes_what_it_takes_in_training)
{
    const calc_operator_kind kinds[] = {
        CALC_OPERATOR_VECTOR, CALC_OPERATOR_MATRIX,    CALC_OPERATOR_HEAD,   CALC_OPERATOR_GROUPED,
        CALC_OPERATOR_SCORES, CALC_OPERATOR_ATTENTION, CALC_OPERATOR_PERMUTE};
    machine.chip.launch = (calc_launch){1e-5, 2e-5};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        calc_operator o = product();
        o.kind = kinds[i];
        o.work[CALC_PASS_FW] = o.flop[CALC_PASS_FW];
        ck_assert_double_gt(training_s(&o), 0);
        ck_assert_double_eq(kernel_s(&o), training_s(&o));
    }
    /* Nothing is nothing of what has rates, too. */
    calc_operator none = {.kind = CALC_OPERATOR_MATRIX};
    machine.chip.serving.matrix = (calc_serving_matrix){.memory_efficiency = 1};
    ck_assert_double_eq(kernel_s(&none), 0);
}

/* ---- Collectives ----------------------------------------------------------------------------- */

static double link_s(calc_collective_op op, double ranks, int64_t network, double bytes)
{
    calc_group group = {ranks, 0, network};
    double model_s = calc_collective_s(&machine, op, &group, bytes);
    return calc_pass_link_s(&machine, op, &group, bytes, model_s);
}

/* On 4 ranks one shot reads 3 buffers, two shots 3/2. */
CALC_TEST(an_all_reduce_takes_the_shorter_of_one_shot_two_shots_and_the_library)
{
    machine.networks[0].latency_s = 1e-3;
    machine.chip.serving.all_reduce = (calc_serving_all_reduce){.one_shot_efficiency = 0.5,
                                                                .fixed_s = 3e-6,
                                                                .doubling_s = 1e-6,
                                                                .two_shot_efficiency = 0.25,
                                                                .two_shot_s = 1e-6};
    double fixed_s = 3e-6 + 2 * 1e-6;
    double small = two_to(10);
    assert_near(link_s(CALC_OP_ALL_REDUCE, 4, 0, small), fixed_s + 3 * small / two_to(35));
    /* In two shots at twice the share less time per byte. */
    machine.chip.serving.all_reduce.two_shot_efficiency = 0.5;
    double large = two_to(24);
    assert_near(link_s(CALC_OP_ALL_REDUCE, 4, 0, large), fixed_s + 1e-6 + 1.5 * large / two_to(35));
    double huge = two_to(30);
    assert_near(link_s(CALC_OP_ALL_REDUCE, 4, 0, huge), 1e-3 + 1.5 * huge / two_to(36));
    /* One rank sends nothing; beyond the node there is the library alone. */
    ck_assert_double_eq(link_s(CALC_OP_ALL_REDUCE, 1, 0, small), 0);
    assert_near(link_s(CALC_OP_ALL_REDUCE, 4, 1, small), 1.5 * small / two_to(33));
}

CALC_TEST(operations_have_the_latency_of_serving)
{
    machine.networks[0].latency_s = 1e-3;
    machine.networks[1].latency_s = 2e-3;
    double bytes = two_to(20);
    double sent_s = 0.75 * bytes / two_to(36);
    assert_near(link_s(CALC_OP_ALL_GATHER, 4, 0, bytes), 1e-3 + sent_s);
    machine.chip.serving.collective = (calc_serving_latency){4e-6, 3e-6};
    assert_near(link_s(CALC_OP_ALL_GATHER, 4, 0, bytes), 4e-6 + 2 * 3e-6 + sent_s);
    assert_near(link_s(CALC_OP_REDUCE_SCATTER, 4, 0, bytes), 4e-6 + 2 * 3e-6 + sent_s);
    assert_near(link_s(CALC_OP_P2P, 2, 0, bytes), 4e-6 + 3e-6 + bytes / two_to(36));
    assert_near(link_s(CALC_OP_ALL_GATHER, 4, 1, bytes), 2e-3 + 0.75 * bytes / two_to(33));
    /* All-to-alls have their own, on all networks. */
    assert_near(link_s(CALC_OP_ALL_TO_ALL, 4, 0, bytes), 1e-3 + sent_s);
    machine.chip.serving.exchange = (calc_serving_latency){0, 5e-6};
    assert_near(link_s(CALC_OP_ALL_TO_ALL, 4, 0, bytes), 2 * 5e-6 + sent_s);
    assert_near(link_s(CALC_OP_ALL_TO_ALL, 4, 1, bytes), 2 * 5e-6 + 0.75 * bytes / two_to(33));
}
