#include "model/cost/state.h"

#include "frame.h"
#include "small_case.h"

static calc_state_bytes bytes_on(const calc_chip *chip, const calc_exec *exec)
{
    calc_app app = small_app();
    calc_shape shape = calc_shape_of(&app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    return calc_state_bytes_of(&exec->strategy, &shape, chip, exec->training);
}

static calc_state_bytes bytes_of(const calc_exec *exec)
{
    calc_system system = small_system();
    return bytes_on(&system.chip, exec);
}

/* Rajbhandari et al. 2020, section 3.1: 12 bytes beside a weight of 2; 8 beside one of 4. */
CALC_TEST(mixed_precision_has_master_weights_and_single_precision_none)
{
    calc_exec exec = small_exec(1, 1, 1);
    calc_state_bytes b = bytes_of(&exec);
    ck_assert_double_eq(b.weight, 2);
    ck_assert_double_eq(b.master, 4);
    ck_assert_double_eq(b.moment, 4);
    exec.strategy.datatype = CALC_DATATYPE_FLOAT8;
    b = bytes_of(&exec);
    ck_assert_double_eq(b.weight, 1);
    ck_assert_double_eq(b.master, 4);
    exec.strategy.datatype = CALC_DATATYPE_FLOAT32;
    b = bytes_of(&exec);
    ck_assert_double_eq(b.weight, 4);
    ck_assert_double_eq(b.master, 0);
    ck_assert_double_eq(b.moment, 4);
}

/* Gradients are reduced as they are stored unless something else is said. */
CALC_TEST(every_format_may_be_given)
{
    calc_exec exec = small_exec(1, 1, 1);
    exec.strategy.grad_datatype = CALC_FORMAT_BFLOAT16;
    ck_assert_double_eq(bytes_of(&exec).grad, 2);
    ck_assert_double_eq(bytes_of(&exec).reduced, 2);
    exec.strategy.grad_datatype = CALC_FORMAT_FLOAT32;
    ck_assert_double_eq(bytes_of(&exec).grad, 4);
    ck_assert_double_eq(bytes_of(&exec).reduced, 4);
    exec.strategy.grad_reduce_datatype = CALC_FORMAT_BFLOAT16;
    ck_assert_double_eq(bytes_of(&exec).grad, 4);
    ck_assert_double_eq(bytes_of(&exec).reduced, 2);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT32;
    ck_assert_double_eq(bytes_of(&exec).master, 0);
    exec.strategy.master_datatype = CALC_FORMAT_FLOAT16;
    exec.strategy.optimizer_moment_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(bytes_of(&exec).weight, 4);
    ck_assert_double_eq(bytes_of(&exec).master, 2);
    ck_assert_double_eq(bytes_of(&exec).moment, 1);
}

/* PyTorch's fully_shard keeps one float32 shard, 16 bytes a weight with gradient and moments, and
 * gathers bfloat16; what it does not shard again it holds in bfloat16 beside the shard. A model all
 * in bfloat16 has 8 (TorchTitan, training.dtype). */
CALC_TEST(wide_shards_are_their_own_masters)
{
    calc_exec exec = small_exec(1, 1, 8);
    exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT32;
    exec.strategy.zero_stage = 3;
    calc_state_bytes b = bytes_of(&exec);
    ck_assert_double_eq(b.weight + b.grad + calc_state_optimizer_bytes(&b), 16);
    ck_assert_double_eq(b.gathered, 2);
    exec.strategy.zero_stage = 2;
    b = bytes_of(&exec);
    ck_assert_double_eq(b.weight, 2);
    ck_assert_double_eq(b.sent, 2);
    ck_assert_double_eq(b.master, 4);
    exec.strategy.zero_stage = 1; /* whole ones are trained where they are */
    b = bytes_of(&exec);
    ck_assert_double_eq(b.weight, 4);
    ck_assert_double_eq(b.master, 0);
    exec.strategy.weight_datatype = CALC_FORMAT_AUTO;
    exec.strategy.datatype = CALC_DATATYPE_BFLOAT16;
    exec.strategy.grad_datatype = exec.strategy.master_datatype =
        exec.strategy.optimizer_moment_datatype = CALC_FORMAT_BFLOAT16;
    b = bytes_of(&exec);
    ck_assert_double_eq(b.weight + b.grad + calc_state_optimizer_bytes(&b), 8);
}

/* TransformerEngine: 2 bytes a weight on Hopper, by rows and by columns; NVFP4 9 bits. Serving has
 * one copy. */
CALC_TEST(narrow_weights_are_kept_for_both_passes)
{
    calc_exec exec = small_exec(1, 1, 1);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(bytes_of(&exec).weight, 1);
    exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    ck_assert_double_eq(bytes_of(&exec).weight, 2);
    ck_assert_double_eq(bytes_of(&exec).sent, 1);
    exec.training = false;
    ck_assert_double_eq(bytes_of(&exec).weight, 1);
    exec.training = true;
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT4;
    ck_assert_double_eq(bytes_of(&exec).weight, 1.125);
}

/* What a weight of a block's matrix takes, and one of the rest of the model, by recipe, with
 * weights of 16 bits and, as --fp8-param-gather has it, without. TransformerEngine's
 * test_cpu_offloading_v1.py counts for the narrow copy of a weight 2 bytes with a scale per tensor,
 * 1 where is_non_tn_fp8_gemm_supported(), and 2 (1 + 1 / 32) of MXFP8. */
CALC_TEST(multiplied_copies_stay_beside_wide_weights_and_replace_narrow_ones)
{
    static const struct {
        bool either, four;
        calc_format matrix;
        calc_scaling scaling;
        double copy, sent;
    } recipe[] = {
        {false, false, CALC_FORMAT_FLOAT8, CALC_SCALING_TENSOR, 2, 1},
        {true, true, CALC_FORMAT_FLOAT8, CALC_SCALING_TENSOR, 1, 1},
        {false, false, CALC_FORMAT_FLOAT8, CALC_SCALING_BLOCK, 2, 1},
        {true, true, CALC_FORMAT_FLOAT8, CALC_SCALING_BLOCK, 2 * (1 + 1.0 / 32), 2},
        {true, true, CALC_FORMAT_FLOAT4, CALC_SCALING_BLOCK, 1.125, .5625},
    };
    for (size_t i = 0; i < sizeof recipe / sizeof *recipe; i++) {
        calc_system system = small_system();
        calc_exec exec = small_exec(1, 1, 8);
        calc_strategy *s = &exec.strategy;
        system.chip.float8_either_order = recipe[i].either;
        system.chip.matrix[CALC_DATATYPE_FLOAT4].flop_per_s = recipe[i].four ? 1e15 : 0;
        s->memory_model = CALC_MEMORY_MODEL_MEGATRON;
        s->zero_stage = 1;
        s->matrix_datatype = recipe[i].matrix;
        s->scaling = recipe[i].scaling;
        calc_state_bytes b = bytes_on(&system.chip, &exec);
        ck_assert_double_eq(b.weight, 2);
        ck_assert_double_eq(b.narrowed, recipe[i].copy);
        ck_assert_double_eq(b.sent, 2);
        s->activation_datatype = recipe[i].matrix; /* written out */
        ck_assert_double_eq(bytes_on(&system.chip, &exec).narrowed, recipe[i].copy);
        s->weight_datatype = recipe[i].matrix;
        b = bytes_on(&system.chip, &exec);
        ck_assert_double_eq(b.weight, 2);
        ck_assert_double_eq(b.weight + b.narrowed, recipe[i].copy);
        ck_assert_double_eq(b.sent, recipe[i].sent);
        ck_assert_double_eq(b.master, 4);
    }
}

/* torchao narrows a weight when it is multiplied and keeps nothing; nor do sharded weights, which
 * are whole for a block at a time, and other memory models know of no copies. */
CALC_TEST(without_the_software_that_keeps_them_there_are_no_copies)
{
    calc_exec exec = small_exec(1, 1, 8);
    calc_strategy *s = &exec.strategy;
    s->matrix_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 0);
    s->memory_model = CALC_MEMORY_MODEL_MEGATRON;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 2);
    s->zero_stage = 2;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 2);
    s->zero_stage = 3;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 0);
    s->zero_stage = 0;
    s->activation_datatype = CALC_FORMAT_BFLOAT16;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 0);
    s->activation_datatype = CALC_FORMAT_AUTO;
    s->matrix_datatype = CALC_FORMAT_BFLOAT16;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 0);
    exec.training = false;
    s->matrix_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(bytes_of(&exec).narrowed, 0);
}

/* FSDP2 gathers shards in float32 as the computation wants them (MixedPrecisionPolicy). */
CALC_TEST(weights_are_gathered_in_the_narrower_format)
{
    calc_exec exec = small_exec(1, 1, 2);
    ck_assert_double_eq(bytes_of(&exec).gathered, 2);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT32;
    ck_assert_double_eq(bytes_of(&exec).gathered, 2);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(bytes_of(&exec).gathered, 1);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT32;
    exec.strategy.param_gather_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(bytes_of(&exec).gathered, 1);
    ck_assert_double_eq(bytes_of(&exec).weight, 4);
    exec.strategy.param_gather_datatype = CALC_FORMAT_AUTO;
    exec.strategy.datatype = CALC_DATATYPE_FLOAT32;
    ck_assert_double_eq(bytes_of(&exec).gathered, 4);
}

CALC_TEST(a_sharded_optimizer_is_the_first_stage_of_zero)
{
    calc_exec exec = small_exec(1, 1, 2);
    ck_assert_int_eq(calc_zero_stage(&exec.strategy), 0);
    exec.strategy.optimizer_sharding = true;
    ck_assert_int_eq(calc_zero_stage(&exec.strategy), 1);
    for (int64_t stage = 1; stage <= 3; stage++) {
        exec.strategy.zero_stage = stage;
        ck_assert_int_eq(calc_zero_stage(&exec.strategy), stage);
    }
    exec.strategy.optimizer_sharding = false;
    ck_assert_int_eq(calc_zero_stage(&exec.strategy), 3);
}
