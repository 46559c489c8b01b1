/* Muon's step, by the operations that the iteration of Newton and Schulz is said to have. */
#include "model/cost/muon.h"

#include "frame.h"
#include "stage_case.h"

/* Only arithmetic takes time: 2^30 operations a second. */
static modern_case arithmetic(calc_app app, calc_exec exec)
{
    modern_case c = case_of(app, exec);
    c.exec.strategy.optimizer = CALC_OPTIMIZER_MUON;
    c.system.chip.matrix[c.exec.strategy.datatype] = (calc_engine){0x1p30, flat_curve(1)};
    c.system.chip.mem1 = (calc_memory_tier){.bytes_per_s = 0x1p90, .efficiency = flat_curve(1)};
    c.system.chip.processing_mode = CALC_PROCESSING_MODE_ROOFLINE;
    return c;
}

/* Five times 4 m m n + 2 m m m operations. */
static double matrix_s(double m, double n)
{
    return 5 * (4 * m * m * n + 2 * m * m * m) / 0x1p30;
}

static calc_muon muon_of(modern_case *c, calc_block_kind kind)
{
    make_block(c, kind);
    return calc_muon_of(&c->context, c->operators, c->count);
}

CALC_TEST(an_iteration_is_three_multiplications)
{
    const calc_group alone = {.ranks = 1};
    modern_case c = arithmetic(modern_app(), modern_exec(1, 1, 1));
    resolve(&c);
    assert_near(calc_muon_matrix_s(&c.context, 64, 256, &alone), matrix_s(64, 256));
    assert_near(calc_muon_matrix_s(&c.context, 256, 64, &alone), matrix_s(64, 256));
    assert_near(calc_muon_matrix_s(&c.context, 64, 64, &alone), 5 * 6 * 64 * 64 * 64 / 0x1p30);
}

/* Of the block of modern_app(): 4 query heads and 2 of keys and values of 16, by themselves; the
 * output; the gate with what it opens, one matrix; the way back. */
CALC_TEST(a_block_is_the_sum_of_its_matrices)
{
    modern_case c = arithmetic(modern_app(), modern_exec(1, 1, 1));
    calc_muon m = muon_of(&c, CALC_DENSE_BLOCK);
    assert_near(m.dense_s, matrix_s(64, 64) + 2 * matrix_s(32, 64) + matrix_s(64, 64) +
                               matrix_s(64, 512) + matrix_s(64, 256));
    ck_assert_double_eq(m.expert_s, 0);
    assert_near(m.longest_s, matrix_s(64, 512));
}

/* The router of 8 experts, shared experts of 64; of each of 8 experts of 32 two matrices, split
 * over ranks of expert parallelism. */
CALC_TEST(each_expert_has_matrices_of_its_own)
{
    modern_case c = arithmetic(moe_app(), modern_exec(1, 1, 8));
    calc_muon m = muon_of(&c, CALC_MOE_BLOCK);
    assert_near(m.dense_s, 2 * matrix_s(64, 64) + 2 * matrix_s(32, 64) + matrix_s(8, 64) +
                               matrix_s(64, 128) + matrix_s(64, 64));
    assert_near(m.expert_s, 8 * (matrix_s(64, 64) + matrix_s(32, 64)));
    c.exec.strategy.expert_par = 4;
    assert_near(muon_of(&c, CALC_MOE_BLOCK).expert_s, 2 * (matrix_s(64, 64) + matrix_s(32, 64)));
}

/* Of frozen matrices nothing is made orthogonal: of an adapter both its factors are, of which the
 * smaller side is the rank; of blocks of which a part is trained, so much of them. */
CALC_TEST(only_what_is_trained_is_made_orthogonal)
{
    modern_case c = arithmetic(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.trained = CALC_TRAINED_HEAD;
    ck_assert_double_eq(muon_of(&c, CALC_DENSE_BLOCK).dense_s, 0);
    c.exec.strategy.trained = CALC_TRAINED_ADAPTERS;
    c.exec.strategy.lora_rank = 8;
    assert_near(muon_of(&c, CALC_DENSE_BLOCK).dense_s,
                /* lora_A of query, key, value, output, up, gate and down, lora_B of the same */
                6 * matrix_s(8, 64) + matrix_s(8, 256) + /* outputs */
                    2 * matrix_s(8, 64) + 2 * matrix_s(8, 32) + 2 * matrix_s(8, 256) +
                    matrix_s(8, 64));
    c = arithmetic(modern_app(), modern_exec(1, 1, 1));
    double all_s = muon_of(&c, CALC_DENSE_BLOCK).dense_s;
    c.exec.strategy.trained = CALC_TRAINED_BLOCKS;
    c.exec.strategy.trained_blocks = c.app.num_blocks / 2;
    assert_near(muon_of(&c, CALC_DENSE_BLOCK).dense_s, all_s / 2);
}

/* Down projections are whole on every rank. */
CALC_TEST(latent_projections_are_matrices_each)
{
    for (int64_t ranks = 1; ranks <= 2; ranks++) {
        modern_case c = arithmetic(latent_app(), modern_exec(ranks, 1, 1));
        c.exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
        c.system.networks[0] = ring_network(0x1p90, 8);
        calc_muon m = muon_of(&c, CALC_DENSE_BLOCK);
        assert_near(m.dense_s, matrix_s(32, 64) + matrix_s(24, 64) + matrix_s(32, 96) +
                                   matrix_s(16, 128) + matrix_s(64, 64) + matrix_s(64, 512) +
                                   matrix_s(64, 256));
    }
}

/* Ranks that split a matrix make all of it orthogonal, and gather 4 bytes an element for that: half
 * of it comes over the ring of two. */
CALC_TEST(ranks_of_tensor_parallelism_gather_and_repeat)
{
    modern_case one = arithmetic(modern_app(), modern_exec(1, 1, 1));
    modern_case two = arithmetic(modern_app(), modern_exec(2, 1, 1));
    two.system.networks[0] = ring_network(0x1p20, 8);
    double alone_s = muon_of(&one, CALC_DENSE_BLOCK).dense_s;
    double elements = 64.0 * (64 + 32 + 32 + 64 + 512 + 256);
    assert_near(muon_of(&two, CALC_DENSE_BLOCK).dense_s - alone_s, 4 * elements / 2 / 0x1p20);
}

/* Narrowing, norm and scaling: 40 bytes an element; an iteration reads and writes 2 bytes of
 * 5 m n + 5 m m elements. */
CALC_TEST(elements_are_read_and_written_beside_it)
{
    const calc_group alone = {.ranks = 1};
    modern_case c = arithmetic(modern_app(), modern_exec(1, 1, 1));
    c.system.chip.mem1.bytes_per_s = 0x1p20;
    c.system.chip.matrix[c.exec.strategy.datatype].flop_per_s = 0x1p90;
    resolve(&c);
    double bytes = 5 * 2 * (4 * 64 * 256 + 5 * 64 * 64) + 40 * 64 * 256;
    assert_near(calc_muon_matrix_s(&c.context, 64, 256, &alone), bytes / 0x1p20);
}

/* ---- On a stage ------------------------------------------------------------------------------ */

static void muon(stage_case *s)
{
    s->c.exec.strategy.optimizer = CALC_OPTIMIZER_MUON;
}

/* Master weights and one moment; embedding and head of 512 words have two. */
CALC_TEST(matrices_have_one_moment_and_ends_two)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 1, 4));
    muon(&s);
    calc_stage_memory m = memory_of(&s, 0);
    double ends = 2 * 512 * 64;
    double all = 8 * block_weights + ends + s.terms.head.weights.dense - 512 * 64;
    assert_near(m.state, (2 + 4 + 8) * all + 4 * (all - 8 * block_weights));
    s.c.exec.strategy.optimizer = CALC_OPTIMIZER_ADAM;
    assert_near(memory_of(&s, 0).state, (2 + 4 + 12) * all);
    muon(&s);
    s.c.exec.strategy.zero_stage = 1;
    assert_near(memory_of(&s, 0).state,
                (2 + 4) * all + (8 * all + 4 * (all - 8 * block_weights)) / 4);
}

CALC_TEST(what_is_offloaded_goes_to_the_second_tier)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 1, 1));
    muon(&s);
    double here = memory_of(&s, 0).state;
    s.c.exec.strategy.optimizer_offload = true;
    s.c.exec.strategy.offload_share = 0.5;
    calc_stage_memory m = memory_of(&s, 0);
    calc_stage_weights w = weights_of(&s, 0);
    calc_stage_tier2 away = calc_stage_tier2_at(&s.terms, &s.stages.item[0], &w, 1);
    assert_near(here - m.state, away.optimizer);
}

/* Whole matrices go to ranks that share a state: none takes less than the largest. */
CALC_TEST(ranks_share_matrices_and_split_none)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    muon(&s);
    settle(&s);
    const calc_muon *one = &s.parts.muon[CALC_DENSE_BLOCK];
    assert_near(calc_stage_muon_s(&s.terms, &s.stages.item[0]), 8 * one->dense_s);
    s.c.exec.strategy.zero_stage = 1;
    settle(&s);
    assert_near(calc_stage_muon_s(&s.terms, &s.stages.item[0]), 8 * one->dense_s / 4);
    s.c.exec.strategy.data_par = s.c.exec.num_procs = 4096;
    s.c.exec.batch_size = 4096;
    settle(&s);
    assert_near(calc_stage_muon_s(&s.terms, &s.stages.item[0]), one->longest_s);
}

CALC_TEST(without_training_there_is_none)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 1, 1));
    muon(&s);
    s.c.exec.training = false;
    settle(&s);
    ck_assert(!s.terms.muon.any);
}
