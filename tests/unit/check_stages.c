#include "model/stages.h"

#include "modern_case.h"

static const double fast = 0x1p36, slow = 0x1p33, memory = 0x1p38;

/* ---- Blocks ---------------------------------------------------------------------------------- */

static calc_stages split(const calc_app *app, const calc_exec *exec)
{
    calc_shape shape = calc_shape_of(app, exec);
    return calc_stages_split(&shape, exec);
}

static calc_stages split_blocks(int64_t blocks, const calc_exec *exec)
{
    calc_app app = modern_app();
    app.num_blocks = blocks;
    return split(&app, exec);
}

/* Blocks of each stage in turn; `stages` of them. */
static void blocks_are(const calc_stages *s, int stages, const double *blocks)
{
    int at = 0;
    for (size_t i = 0; i < s->count; i++) {
        const calc_stage_class *c = &s->item[i];
        ck_assert_double_eq(c->position, at);
        ck_assert_int_eq(c->first, at == 0);
        for (int k = 0; k < (int)c->stages; k++) {
            ck_assert_int_lt(at, stages);
            ck_assert_double_eq_tol(c->dense + c->moe, blocks[at++], 1e-12);
        }
        ck_assert_int_eq(c->last, at == stages);
    }
    ck_assert_int_eq(at, stages);
}

#define BLOCKS_ARE(s, ...)                                                                         \
    do {                                                                                           \
        const double want_[] = {__VA_ARGS__};                                                      \
        blocks_are(s, (int)(sizeof want_ / sizeof *want_), want_);                                 \
    } while (0)

START_TEST(blocks_are_spread_and_the_first_stages_have_one_more)
{
    calc_exec one = modern_exec(1, 1, 1), four = modern_exec(1, 4, 1);
    calc_stages s = split_blocks(8, &one);
    BLOCKS_ARE(&s, 8);
    s = split_blocks(8, &four);
    BLOCKS_ARE(&s, 2, 2, 2, 2);
    s = split_blocks(9, &four);
    BLOCKS_ARE(&s, 3, 2, 2, 2);
    s = split_blocks(10, &four);
    BLOCKS_ARE(&s, 3, 3, 2, 2);
    ck_assert_double_eq(s.most_blocks, 3);
    s = split_blocks(11, &four);
    BLOCKS_ARE(&s, 3, 3, 3, 2);
    ck_assert(s.fit);
    calc_exec two = modern_exec(1, 2, 1);
    s = split_blocks(3, &two);
    BLOCKS_ARE(&s, 2, 1);
}
END_TEST

START_TEST(a_stage_without_a_block_does_not_fit)
{
    calc_exec four = modern_exec(1, 4, 1);
    ck_assert(split_blocks(4, &four).fit);
    ck_assert(!split_blocks(3, &four).fit);
}
END_TEST

START_TEST(ends_count_as_blocks)
{
    calc_exec four = modern_exec(1, 4, 1);
    four.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS;
    calc_stages s = split_blocks(14, &four);
    BLOCKS_ARE(&s, 3, 4, 4, 3);
    ck_assert(s.fit);
    s = split_blocks(15, &four);
    BLOCKS_ARE(&s, 4, 4, 4, 3);
    s = split_blocks(6, &four);
    BLOCKS_ARE(&s, 1, 2, 2, 1);
    ck_assert(s.fit);
    ck_assert(!split_blocks(2, &four).fit);
}
END_TEST

START_TEST(a_free_layout_is_even_ends_and_all)
{
    calc_exec four = modern_exec(1, 4, 1), one = modern_exec(1, 1, 1);
    four.pipeline_balance = one.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    calc_stages s = split_blocks(10, &four);
    BLOCKS_ARE(&s, 2.5, 2.5, 2.5, 2.5);
    ck_assert(s.ends_spread);
    ck_assert(s.fit);
    ck_assert(!split_blocks(3, &four).fit);
    ck_assert(!split_blocks(10, &one).ends_spread);
}
END_TEST

START_TEST(the_ends_may_be_given)
{
    calc_exec four = modern_exec(1, 4, 1);
    four.first_stage_blocks = 1;
    calc_stages s = split_blocks(10, &four);
    BLOCKS_ARE(&s, 1, 3, 3, 3);
    ck_assert(s.fit);
    four.last_stage_blocks = 1;
    s = split_blocks(10, &four);
    BLOCKS_ARE(&s, 1, 4, 4, 1);
    ck_assert(s.fit);
    ck_assert(!split_blocks(11, &four).fit); /* 9 blocks on two stages */
    four.first_stage_blocks = 0;
    s = split_blocks(10, &four);
    BLOCKS_ARE(&s, 3, 3, 3, 1);
    four.first_stage_blocks = four.last_stage_blocks = 5;
    ck_assert(!split_blocks(8, &four).fit);
    calc_exec two = modern_exec(1, 2, 1);
    two.first_stage_blocks = 6;
    two.last_stage_blocks = 2;
    s = split_blocks(8, &two);
    BLOCKS_ARE(&s, 6, 2);
    ck_assert(s.fit);
    ck_assert(!split_blocks(9, &two).fit);
}
END_TEST

START_TEST(chunks_must_divide_the_blocks_of_every_stage)
{
    calc_exec e = modern_exec(1, 2, 1);
    e.pipeline_interleaving = 2;
    ck_assert(split_blocks(8, &e).fit);
    ck_assert(!split_blocks(6, &e).fit);
    ck_assert(!split_blocks(7, &e).fit);
    e.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS; /* 3 + embedding, 3 + head */
    ck_assert(split_blocks(6, &e).fit);
    ck_assert(!split_blocks(8, &e).fit);
}
END_TEST

static void kinds_are(const calc_stages *s, size_t count, const double dense[], const double moe[])
{
    ck_assert_uint_eq(s->count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(s->item[i].dense, dense[i], 1e-12);
        ck_assert_double_eq_tol(s->item[i].moe, moe[i], 1e-12);
    }
}

START_TEST(dense_blocks_come_first)
{
    calc_app app = moe_app();
    calc_exec one = modern_exec(1, 1, 1), two = modern_exec(1, 2, 1), four = modern_exec(1, 4, 1);
    calc_stages s = split(&app, &one);
    kinds_are(&s, 1, (double[]){2}, (double[]){6});
    s = split(&app, &two);
    kinds_are(&s, 2, (double[]){2, 0}, (double[]){2, 4});
    s = split(&app, &four);
    kinds_are(&s, 3, (double[]){2, 0, 0}, (double[]){0, 2, 2});
    app.dense_blocks = 0;
    s = split(&app, &two);
    kinds_are(&s, 2, (double[]){0, 0}, (double[]){4, 4});
    two.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    app.dense_blocks = 2;
    s = split(&app, &two);
    kinds_are(&s, 2, (double[]){1, 1}, (double[]){3, 3});
}
END_TEST

/* The first chunk of two has 2 of the 3, the rest are anywhere behind it. */
START_TEST(the_first_chunk_has_dense_blocks)
{
    calc_app app = moe_app();
    app.dense_blocks = 3;
    calc_exec two = modern_exec(1, 2, 1);
    two.pipeline_interleaving = 2;
    calc_stages s = split(&app, &two);
    kinds_are(&s, 2, (double[]){2, 1}, (double[]){2, 3});
}
END_TEST

/* More dense blocks than the first chunk holds are spread over the rest. */
START_TEST(dense_blocks_beyond_the_first_chunk_are_spread)
{
    calc_app app = moe_app();
    app.dense_blocks = 4;
    calc_exec four = modern_exec(1, 4, 1);
    calc_stages s = split(&app, &four);
    kinds_are(&s, 3, (double[]){2, 2.0 / 3, 2.0 / 3}, (double[]){0, 4.0 / 3, 4.0 / 3});
}
END_TEST

START_TEST(alternating_kinds_are_fractions_of_every_stage)
{
    calc_app app = moe_app();
    app.dense_blocks = 0;
    app.moe_every = 2;
    calc_exec two = modern_exec(1, 2, 1);
    calc_stages s = split(&app, &two);
    kinds_are(&s, 2, (double[]){2, 2}, (double[]){2, 2});
}
END_TEST

START_TEST(micro_batches_are_those_of_a_replica)
{
    calc_exec e = modern_exec(1, 2, 4);
    e.batch_size = 48;
    e.microbatch_size = 3;
    ck_assert_double_eq(split_blocks(8, &e).microbatches, 4);
}
END_TEST

/* ---- In flight ------------------------------------------------------------------------------- */

START_TEST(micro_batches_in_flight_are_those_of_the_schedule)
{
    static const struct {
        calc_pipeline_schedule schedule;
        double stage, chunks, microbatches, held;
    } rows[] = {
        {CALC_PIPELINE_SCHEDULE_GPIPE, 3, 1, 16, 16},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 1, 16, 4},
        {CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 16, 1},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 1, 3, 3},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 2, 16, (4 + 6 + 1) / 2.0},
        {CALC_PIPELINE_SCHEDULE_1F1B, 3, 2, 16, (4 + 1) / 2.0},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 4, 16, 4 * (1 + 3.0 / 16)},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 2, 2, 2},
        {CALC_PIPELINE_SCHEDULE_ZB_H1, 3, 1, 16, 4},
        {CALC_PIPELINE_SCHEDULE_ZB_V, 0, 1, 16, 4},
        {CALC_PIPELINE_SCHEDULE_ZB_H2, 0, 1, 16, 7},
        {CALC_PIPELINE_SCHEDULE_ZB_H2, 3, 1, 16, 1},
        {CALC_PIPELINE_SCHEDULE_ZB_H2, 0, 1, 5, 5},
        {CALC_PIPELINE_SCHEDULE_DUALPIPE, 0, 1, 16, 5},
        {CALC_PIPELINE_SCHEDULE_DUALPIPE_V, 3, 1, 16, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_double_eq(calc_stage_in_flight(rows[i].schedule, rows[i].stage, 4, rows[i].chunks,
                                                 rows[i].microbatches),
                            rows[i].held);
    }
}
END_TEST

/* ---- State ----------------------------------------------------------------------------------- */

/* All of a layout, resolved. */
typedef struct stage_case {
    modern_case c;
    calc_stage_parts parts;
    calc_stages stages;
} stage_case;

static void build(stage_case *s, calc_app app, calc_exec exec)
{
    s->c = case_of(app, exec);
}

static void settle(stage_case *s)
{
    resolve(&s->c);
    s->stages = calc_stages_split(&s->c.shape, &s->c.exec);
    calc_stage_parts_of(&s->c.context, &s->parts);
}

static calc_stage_memory memory_of(stage_case *s, size_t index)
{
    settle(s);
    return calc_stage_memory_of(&s->c.context, &s->parts, &s->stages, index);
}

static calc_stage_weights weights_of(stage_case *s, size_t index)
{
    settle(s);
    return calc_stage_weights_of(&s->parts, &s->stages, &s->c.shape, index);
}

/* 8 blocks, no ends: weights of a Llama block of modern_app(). */
static const double block_weights = 64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64;

static calc_app without_ends(void)
{
    calc_app app = modern_app();
    app.vocab_size = 0;
    return app;
}

/* Bytes of a parameter: weights, gradients, optimizer, of 8 blocks on one stage. */
static void state_is(stage_case *s, double weight, double grad, double optimizer)
{
    calc_stage_memory m = memory_of(s, 0);
    double all = 8 * block_weights;
    assert_near(m.weight / all, weight);
    assert_near(m.grad / all, grad);
    assert_near(m.optimizer / all, optimizer);
}

/* One block of eight is whole while it is worked on: 4 bytes of its gradients; of weights two. */
START_TEST(a_parameter_takes_eighteen_bytes_less_what_is_sharded)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    state_is(&s, 2, 4, 12);
    s.c.exec.optimizer_sharding = true;
    state_is(&s, 2, 4, 3);
    s.c.exec.optimizer_sharding = false;
    s.c.exec.zero_stage = 1;
    state_is(&s, 2, 4, 3);
    s.c.exec.zero_stage = 2;
    state_is(&s, 2, 1 + 4.0 / 8, 3);
    s.c.exec.zero_stage = 3;
    state_is(&s, 0.5 + 2 * 2.0 / 8, 1 + 4.0 / 8, 3);
    s.c.exec.fsdp_par = 2;
    state_is(&s, 1 + 2 * 2.0 / 8, 2 + 4.0 / 8, 6);
    s.c.exec.fsdp_par = 8; /* more than there are */
    state_is(&s, 0.5 + 2 * 2.0 / 8, 1 + 4.0 / 8, 3);
}
END_TEST

START_TEST(context_ranks_share_the_state_too)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 2));
    s.c.exec.context_par = 4;
    s.c.exec.num_procs = 8;
    s.c.exec.zero_stage = 1;
    state_is(&s, 2, 4, 12.0 / 8);
}
END_TEST

START_TEST(formats_set_the_bytes_of_the_state)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.zero_stage = 1;
    s.c.exec.weight_datatype = CALC_FORMAT_FLOAT8;
    state_is(&s, 1, 4, 3);
    s.c.exec.optimizer_moment_datatype = CALC_FORMAT_BFLOAT16;
    state_is(&s, 1, 4, 8.0 / 4);
    s.c.exec.master_datatype = CALC_FORMAT_BFLOAT16;
    state_is(&s, 1, 4, 6.0 / 4);
    s.c.exec.grad_datatype = CALC_FORMAT_BFLOAT16;
    state_is(&s, 1, 2, 6.0 / 4);
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.datatype = CALC_DATATYPE_FLOAT32; /* its own master */
    state_is(&s, 4, 4, 8);
}
END_TEST

START_TEST(calculon_shards_gradients_with_the_optimizer)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.memory_model = CALC_MEMORY_MODEL_CALCULON;
    state_is(&s, 2, 2, 12);
    s.c.exec.optimizer_sharding = true;
    state_is(&s, 2, 2.0 / 4 + 4.0 / 8, 3);
}
END_TEST

START_TEST(dualpipe_has_two_copies_of_weights_and_gradients)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.zero_stage = 1;
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE;
    state_is(&s, 4, 8, 3);
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    state_is(&s, 2, 4, 3);
}
END_TEST

START_TEST(inference_has_weights_only)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.training = false;
    state_is(&s, 2, 0, 0);
    calc_stage_memory m = memory_of(&s, 0);
    ck_assert_double_eq(m.activation, 0);
    ck_assert_double_eq(m.working, s.parts.block[CALC_DENSE_BLOCK].kept_whole_bytes);
}
END_TEST

/* 8 experts on 4 ranks of 8: two replicas of an expert, eight of the rest. */
START_TEST(experts_are_sharded_over_their_own_replicas)
{
    stage_case s;
    calc_app app = moe_app();
    app.vocab_size = 0;
    app.dense_blocks = 0;
    build(&s, app, modern_exec(1, 1, 8));
    s.c.exec.expert_par = 4;
    s.c.exec.zero_stage = 1;
    calc_stage_weights w = weights_of(&s, 0);
    double dense = 64 * 128 + 64 * 64 + 3 * 64 * 64 + 64 * 8 + 2 * 64;
    ck_assert_double_eq(w.dense, 8 * dense);
    ck_assert_double_eq(w.expert, 8 * 3 * 64 * 32 * 8 / 4);
    calc_stage_memory m = memory_of(&s, 0);
    assert_near(m.optimizer, 12 * (w.dense / 8 + w.expert / 2));
    assert_near(m.weight, 2 * (w.dense + w.expert));
}
END_TEST

START_TEST(ends_weigh_on_the_first_and_last_stage)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    double table = 512 * 64;
    ck_assert_double_eq(weights_of(&s, 0).dense, 2 * block_weights + table);
    ck_assert_double_eq(weights_of(&s, 1).dense, 2 * block_weights);
    ck_assert_double_eq(weights_of(&s, 2).dense, 2 * block_weights + table + 64);
    s.c.exec = modern_exec(1, 1, 1);
    ck_assert_double_eq(weights_of(&s, 0).dense, 8 * block_weights + 2 * table + 64);
    s.c.app.tied_embeddings = CALC_CHOICE_TRUE; /* one table, if the ends are on one stage */
    ck_assert_double_eq(weights_of(&s, 0).dense, 8 * block_weights + table + 64);
    s.c.exec = modern_exec(1, 4, 1);
    ck_assert_double_eq(weights_of(&s, 2).dense, 2 * block_weights + table + 64);
    s.c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq(weights_of(&s, i).dense, 2 * block_weights + (2 * table + 64) / 4);
    }
}
END_TEST

START_TEST(predicted_tokens_weigh_on_the_last_stage)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    double without = weights_of(&s, 2).dense;
    s.c.app.mtp_blocks = 2;
    double extra = block_weights + 2 * 64 * 64 + 3 * 64;
    ck_assert_double_eq(weights_of(&s, 2).dense, without + 2 * extra);
    ck_assert_double_eq(weights_of(&s, 1).dense, 2 * block_weights);
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes of a block of modern_app() for its 32 tokens. */
static const double block_bytes = 32.0 * (8 * 64 + 2 * (2 * 64 + 2 * 32) + 6 * 256 + 4 * 4);

START_TEST(activations_are_kept_for_what_is_in_flight)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    calc_stage_memory first = memory_of(&s, 0), middle = memory_of(&s, 1), last = memory_of(&s, 2);
    ck_assert_double_eq(first.in_flight, 4);
    ck_assert_double_eq(first.activation, 4 * 2 * block_bytes);
    ck_assert_double_eq(middle.activation, 3 * 2 * block_bytes);
    ck_assert_double_eq(last.activation, 2 * block_bytes);
    ck_assert_double_eq(first.ends, 0);
    ck_assert_double_eq(last.ends, 32 * (4 * 64 + 2 * 512));
    ck_assert_double_eq(first.total,
                        first.weight + first.grad + first.optimizer + first.activation);
}
END_TEST

/* Of the 4 blocks of a stage, the first 3 keep their input only; one block's worth exists when it
   is computed again. */
START_TEST(blocks_that_do_not_recompute_keep_all)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 2, 1));
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.seq_par_ag_redo = false;
    double input = 2 * 32 * 64;
    calc_stage_memory m = memory_of(&s, 1);
    ck_assert_double_eq(m.activation, 4 * input);
    ck_assert_double_eq(m.working, block_bytes - input);
    s.c.exec.recompute_blocks = 3;
    m = memory_of(&s, 1);
    ck_assert_double_eq(m.activation, 3 * input + block_bytes);
    ck_assert_double_eq(m.working, block_bytes - input);
    s.c.exec.recompute_blocks = 4;
    ck_assert_double_eq(memory_of(&s, 1).activation, 4 * input);
    s.c.exec.recompute_blocks = 5;
    ck_assert_double_eq(memory_of(&s, 1).activation, 4 * input);
}
END_TEST

/* Dense and expert blocks of one stage, and a predicted token of the last kind. */
START_TEST(blocks_of_both_kinds_are_kept)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 2, 1));
    calc_stage_memory first = memory_of(&s, 0), last = memory_of(&s, 1);
    double dense = s.parts.block[CALC_DENSE_BLOCK].kept_bytes;
    double moe = s.parts.block[CALC_MOE_BLOCK].kept_bytes;
    ck_assert_double_ne(dense, moe);
    assert_near(first.activation, 2 * (2 * dense + 2 * moe));
    assert_near(last.activation, 4 * moe);
    s.c.app.mtp_blocks = 1;
    calc_stage_memory more = memory_of(&s, 1);
    assert_near(more.activation, 5 * moe + s.parts.mtp.kept_bytes);
    assert_near(more.ends, 2 * last.ends);
    s.c.app.mtp_blocks = 0;
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.seq_par_ag_redo = false;
    s.c.exec.recompute_blocks = 1;
    first = memory_of(&s, 0); /* one block in four is lean */
    double input = 2 * 32 * 64;
    assert_near(first.activation, 2 * (0.75 * (2 * dense + 2 * moe) + 0.25 * 4 * input));
    s.c.app.mtp_blocks = 1;
    assert_near(memory_of(&s, 1).activation,
                0.75 * 5 * moe + 0.25 * 5 * input + s.parts.mtp.kept_bytes);
    s.c.app.mtp_blocks = 0;
    assert_near(first.working, fmax(dense, moe) - input);
    assert_near(memory_of(&s, 1).working, moe - input);
}
END_TEST

/* One copy of each shape of a matrix: four in a block, and the head. */
START_TEST(dummy_gradients_are_one_of_each_shape)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    ck_assert_double_eq(memory_of(&s, 0).framework, 0);
    s.c.exec.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD;
    double shapes = 64 * 128 + 64 * 64 + 64 * 512 + 256 * 64;
    ck_assert_double_eq(memory_of(&s, 0).framework, 2 * shapes);
    ck_assert_double_eq(memory_of(&s, 1).framework, 2 * (shapes + 512 * 64));
    s.c.exec.tensor_par = 2;
    ck_assert_double_eq(memory_of(&s, 1).framework, 2 * (shapes + 512 * 64) / 2);
    s.c.exec.tensor_par = 1;
    /* as many weights as another: shared experts, and the first matrix of experts */
    s.c.app = moe_app();
    s.c.app.dense_blocks = 0;
    shapes = 64 * 128 + 64 * 64 + 64 * 32;
    ck_assert_double_eq(memory_of(&s, 0).framework, 2 * shapes);
    s.c.exec = modern_exec(1, 2, 2); /* of one expert, however many are here */
    s.c.exec.expert_par = 2;
    s.c.exec.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD;
    ck_assert_double_eq(memory_of(&s, 0).framework, 2 * shapes);
}
END_TEST

/* ---- Time ------------------------------------------------------------------------------------ */

static calc_stage_time time_of(stage_case *s, size_t index)
{
    settle(s);
    return calc_stage_time_of(&s->c.context, &s->parts, &s->stages, index);
}

static double all_s(const calc_stage_time *t)
{
    return t->fw_s + t->agrad_s + t->wgrad_s;
}

static double spent_s(const calc_stage_time *t)
{
    return t->kernel_fw_s + t->kernel_bw_s + t->kernel_re_s + t->ends_s + t->tensor_s +
           t->context_s + t->expert_s + t->repeated_s + t->sharded_s + t->host_s + t->message_s;
}

START_TEST(a_stage_takes_its_blocks_ends_and_messages)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    calc_stage_time first = time_of(&s, 0), middle = time_of(&s, 1), last = time_of(&s, 2);
    const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK];
    double message_s = 2 * 32 * 64 / slow;
    assert_near(middle.fw_s, 2 * b->fw_s + message_s);
    assert_near(middle.agrad_s, 2 * b->agrad_s + message_s);
    assert_near(middle.wgrad_s, 2 * b->wgrad_s);
    assert_near(middle.message_s, 2 * message_s);
    ck_assert_double_eq(middle.ends_s, 0);
    assert_near(first.ends_s, s.parts.embedding.fw_s + s.parts.embedding.agrad_s);
    assert_near(last.ends_s, s.parts.head.fw_s + s.parts.head.agrad_s + s.parts.head.wgrad_s);
    assert_near(all_s(&first), spent_s(&first));
    assert_near(all_s(&last), spent_s(&last));
}
END_TEST

/* Full recomputation of a block with experts repeats its exchange too. */
START_TEST(a_stage_with_experts_takes_what_it_spends)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(2, 2, 2));
    s.c.exec.expert_par = 2;
    s.c.exec.context_par = 2;
    s.c.exec.num_procs = 16;
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.seq_par_ag_redo = false;
    calc_stage_time t = time_of(&s, 0);
    const calc_cost *dense = &s.parts.block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &s.parts.block[CALC_MOE_BLOCK];
    ck_assert_double_gt(moe->expert.re_exposed_s, 0);
    assert_near(t.expert_s, 2 * (moe->expert.fw_exposed_s + moe->expert.bw_exposed_s));
    assert_near(t.repeated_s, 2 * (dense->tensor.re_exposed_s + dense->context.re_exposed_s +
                                   moe->tensor.re_exposed_s + moe->context.re_exposed_s +
                                   moe->expert.re_exposed_s));
    assert_near(t.context_s, 2 * (dense->context.fw_exposed_s + dense->context.bw_exposed_s +
                                  moe->context.fw_exposed_s + moe->context.bw_exposed_s));
    assert_near(all_s(&t), spent_s(&t));
}
END_TEST

START_TEST(free_stages_are_all_alike)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    s.c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    calc_stage_time first = time_of(&s, 0), middle = time_of(&s, 1), last = time_of(&s, 2);
    ck_assert_double_eq(all_s(&first), all_s(&middle));
    ck_assert_double_eq(all_s(&middle), all_s(&last));
    const calc_cost *e = &s.parts.embedding, *h = &s.parts.head;
    assert_near(middle.ends_s, (e->fw_s + e->agrad_s + h->fw_s + h->agrad_s + h->wgrad_s) / 4);
}
END_TEST

START_TEST(messages_are_scattered_sent_per_chunk_and_may_hide)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(2, 2, 1));
    double whole_s = 2 * 32 * 64 / slow;
    assert_near(time_of(&s, 0).message_s, 2 * whole_s / 2);
    s.c.exec.pipeline_interleaving = 4;
    assert_near(time_of(&s, 0).message_s, 4 * 2 * whole_s / 2);
    s.c.exec.pipeline_par_overlap = true;
    assert_near(time_of(&s, 0).message_s, 4 * 2 * whole_s / 2 * 0.15);
    s.c.system.overlap.pipeline_par = 0.5;
    assert_near(time_of(&s, 0).message_s, 4 * 2 * whole_s / 2 * 0.5);
    s.c.exec.pipeline_par_overlap = false;
    s.c.exec.pipeline_interleaving = 1;
    s.c.exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    s.c.exec.seq_par_ag_redo = false;
    assert_near(time_of(&s, 0).message_s, 2 * whole_s / 2);
    s.c.exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    assert_near(time_of(&s, 0).message_s, 2 * whole_s);
    s.c.exec.training = false;
    assert_near(time_of(&s, 0).message_s, whole_s);
    s.c.exec = modern_exec(2, 1, 1);
    ck_assert_double_eq(time_of(&s, 0).message_s, 0);
}
END_TEST

START_TEST(some_blocks_recompute_and_others_do_not)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.seq_par_ag_redo = false;
    calc_stage_time t = time_of(&s, 0);
    const double forward_s = s.parts.block[CALC_DENSE_BLOCK].fw_s;
    assert_near(t.kernel_re_s, 8 * forward_s);
    double all = all_s(&t);
    s.c.exec.recompute_blocks = 2;
    t = time_of(&s, 0);
    assert_near(t.kernel_re_s, 2 * forward_s);
    assert_near(all_s(&t), all - 6 * forward_s);
    s.c.exec = modern_exec(2, 1, 1); /* with communication */
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.seq_par_ag_redo = false;
    s.c.exec.recompute_blocks = 2;
    t = time_of(&s, 0);
    assert_near(t.repeated_s, 2 * s.parts.block[CALC_DENSE_BLOCK].tensor.re_link_s);
    assert_near(all_s(&t), spent_s(&t));
}
END_TEST

/* A block takes a few microseconds: the host's second decides. */
START_TEST(a_block_takes_no_less_than_the_host)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    s.c.system.host.block_s = 1;
    calc_stage_time t = time_of(&s, 0);
    assert_near(all_s(&t), 8);
    assert_near(spent_s(&t), 8);
    s.c.system.host.block_s = 1e-9; /* and not where it is quicker */
    t = time_of(&s, 0);
    ck_assert_double_eq(t.host_s, 0);
}
END_TEST

static double host_s(stage_case *s, calc_block_kind kind)
{
    settle(s);
    return s->parts.host_s[kind];
}

START_TEST(the_host_needs_more_for_experts_ranks_and_repetition)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 4));
    s.c.system.host = (calc_host){.block_s = 16, .moe_block_s = 32, .expert_s = 3};
    s.c.exec.expert_par = 4;
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 48);
    s.c.exec.matrix_datatype = CALC_FORMAT_FLOAT8; /* 2 local experts are converted */
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 54);
    s.c.exec.cuda_graph = 1; /* a tenth of issuing is left */
    assert_near(host_s(&s, CALC_MOE_BLOCK), 4.8 + 6);
    s.c.exec.cuda_graph = 0.5;
    assert_near(host_s(&s, CALC_MOE_BLOCK), 48 * 0.55 + 6);
    s.c.exec.cuda_graph = 0;
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.seq_par_ag_redo = false;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 24);
    s.c.system.host.recompute_growth = 0.25;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 20);
    s.c.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s.c.exec.training = false;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 16.0 / 3);
}
END_TEST

START_TEST(many_tensor_parallel_ranks_wait_for_the_slowest_host)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(4, 1, 1));
    s.c.app.attn_heads = 16;
    s.c.system.host = (calc_host){.block_s = 16, .tensor_par_growth = 0.25};
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    s.c.exec.tensor_par = s.c.exec.num_procs = 8;
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 20);
    s.c.exec.tensor_par = s.c.exec.num_procs = 16;
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 24);
}
END_TEST

START_TEST(slower_software_takes_longer_but_for_messages)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    calc_stage_time t = time_of(&s, 1);
    s.c.exec.software_efficiency = 0.5;
    calc_stage_time u = time_of(&s, 1);
    ck_assert_double_eq(u.message_s, t.message_s);
    assert_near(all_s(&u) - u.message_s, 2 * (all_s(&t) - t.message_s));
    assert_near(u.kernel_fw_s, 2 * t.kernel_fw_s);
}
END_TEST

START_TEST(predicted_tokens_repeat_a_block_and_the_head)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 1, 1));
    double without = time_of(&s, 0).ends_s;
    s.c.app.mtp_blocks = 2;
    calc_stage_time t = time_of(&s, 0);
    const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK], *h = &s.parts.head, *m = &s.parts.mtp;
    double each = b->fw_s + b->agrad_s + b->wgrad_s + h->fw_s + h->agrad_s + h->wgrad_s + m->fw_s +
                  m->agrad_s + m->wgrad_s;
    assert_near(t.ends_s, without + 2 * each);
}
END_TEST

/* ---- Data parallelism -------------------------------------------------------------------------
 */

static calc_stage_reduction reduction_of(stage_case *s, size_t index)
{
    calc_stage_time t = time_of(s, index);
    return calc_stage_reduction_of(&s->c.context, &s->parts, &s->stages, index, &t);
}

/* 4 replicas on the slow network: three quarters of the bytes, twice for an all-reduce. */
START_TEST(gradients_are_reduced_and_weights_gathered)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 1.5 * 4 * P / slow);
    ck_assert_double_eq(r.gather_s, 0);
    ck_assert_double_eq(r.exposed_s, r.reduce_s);
    s.c.exec.zero_stage = 1;
    r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 0.75 * 4 * P / slow);
    assert_near(r.gather_s, 0.75 * 2 * P / slow);
    assert_near(r.exposed_s, r.reduce_s + r.gather_s);
    s.c.exec.grad_reduce_datatype = CALC_FORMAT_BFLOAT16;
    assert_near(reduction_of(&s, 0).reduce_s, 0.75 * 2 * P / slow);
    s.c.exec.weight_datatype = CALC_FORMAT_FLOAT8;
    assert_near(reduction_of(&s, 0).gather_s, 0.75 * P / slow);
    s.c.exec.training = false;
    r = reduction_of(&s, 0);
    ck_assert_double_eq(r.reduce_s + r.gather_s + r.exposed_s, 0);
}
END_TEST

START_TEST(whole_gradients_are_reduced_after_every_micro_batch_when_sharded)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    s.c.exec.zero_stage = 2;
    assert_near(reduction_of(&s, 0).reduce_s, 4 * 0.75 * 4 * P / slow);
    assert_near(reduction_of(&s, 0).gather_s, 0.75 * 2 * P / slow);
    s.c.exec.zero_stage = 3; /* in the blocks, not here */
    calc_stage_reduction r = reduction_of(&s, 0);
    ck_assert_double_eq(r.reduce_s + r.gather_s + r.exposed_s, 0);
}
END_TEST

START_TEST(experts_are_reduced_over_their_own_replicas)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 4));
    s.c.exec.expert_par = 2;
    s.c.exec.expert_data_par_net = 0;
    s.c.exec.zero_stage = 1;
    calc_stage_weights w = weights_of(&s, 0);
    assert_near(reduction_of(&s, 0).reduce_s, 4 * (0.75 * w.dense / slow + 0.5 * w.expert / fast));
}
END_TEST

/* What is hidden is seven tenths of the backward pass, less what the last bucket cannot hide. */
START_TEST(the_reduction_hides_behind_the_backward_pass)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.data_par_overlap = true;
    calc_stage_time t = time_of(&s, 0);
    double window = t.agrad_s + t.wgrad_s;
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.exposed_s, r.reduce_s - 0.7 * window);
    s.c.system.overlap.data_par = 0.5;
    assert_near(reduction_of(&s, 0).exposed_s, r.reduce_s - 0.5 * window);
    s.c.system.overlap.contention = 0.25; /* both run side by side for the whole window */
    assert_near(reduction_of(&s, 0).exposed_s, r.reduce_s - 0.5 * window + 0.25 * window);
    s.c.system.networks[1].bytes_per_s = 1e30;
    s.c.system.overlap.contention = 0;
    r = reduction_of(&s, 0);
    assert_near(r.exposed_s, 0.03 * r.reduce_s);
}
END_TEST

START_TEST(the_gathering_of_weights_may_hide_or_not_on_its_own)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.zero_stage = 1;
    s.c.exec.param_gather_overlap = CALC_CHOICE_TRUE;
    calc_stage_time t = time_of(&s, 0);
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.exposed_s, r.reduce_s + r.gather_s - 0.7 * t.fw_s);
    s.c.exec.data_par_overlap = true;
    s.c.exec.param_gather_overlap = CALC_CHOICE_FALSE;
    r = reduction_of(&s, 0);
    assert_near(r.exposed_s, r.reduce_s - 0.7 * (t.agrad_s + t.wgrad_s) + r.gather_s);
    s.c.exec.param_gather_overlap = CALC_CHOICE_AUTO;
    r = reduction_of(&s, 0);
    assert_near(r.exposed_s,
                r.reduce_s - 0.7 * (t.agrad_s + t.wgrad_s) + r.gather_s - 0.7 * t.fw_s);
}
END_TEST

/* With 2 chunks, half of the gradients are final two stages' rounds before the end. */
START_TEST(chunks_leave_more_to_hide_behind)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 2, 4));
    s.c.exec.pipeline_interleaving = 2;
    s.c.exec.data_par_overlap = true;
    calc_stage_time t = time_of(&s, 0);
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.exposed_s, r.reduce_s - 0.7 * (t.agrad_s + t.wgrad_s) * 2 / 2);
    s.c.exec.pipeline_interleaving = 4;
    t = time_of(&s, 0);
    assert_near(reduction_of(&s, 0).exposed_s,
                r.reduce_s - 0.7 * (t.agrad_s + t.wgrad_s) * 2 * 3 / 4);
}
END_TEST

/* One all-reduce of two ranks: all bytes once. */
START_TEST(tied_tables_are_added_up_between_the_ends)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    ck_assert_double_eq(reduction_of(&s, 0).reduce_s, 0);
    s.c.app.tied_embeddings = CALC_CHOICE_TRUE;
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 4.0 * 512 * 64 / slow);
    assert_near(r.exposed_s, r.reduce_s);
    s.c.exec = modern_exec(1, 1, 1);
    ck_assert_double_eq(reduction_of(&s, 0).reduce_s, 0);
}
END_TEST

/* Every pass gathers the block's weights, the backward pass scatters its gradients; 7 tenths of the
   pass hide them. */
START_TEST(sharded_weights_are_gathered_in_every_pass)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    calc_stage_time without = time_of(&s, 0);
    s.c.exec.zero_stage = 3;
    calc_stage_time t = time_of(&s, 0);
    double gather_s = 0.75 * 2 * block_weights / slow, scatter_s = 0.75 * 4 * block_weights / slow;
    assert_near(t.fw_s, without.fw_s + 8 * gather_s - 0.7 * without.fw_s);
    double backward_s = without.agrad_s + without.wgrad_s;
    assert_near(t.agrad_s + t.wgrad_s, backward_s + 8 * (gather_s + scatter_s) - 0.7 * backward_s);
    assert_near(t.sharded_s, all_s(&t) - all_s(&without));
    s.c.exec.fsdp_par = 2; /* pairs gather a half; replicas of a shard reduce its half */
    t = time_of(&s, 0);
    gather_s = 0.5 * 2 * block_weights / slow;
    scatter_s = (0.5 * 4 + 4 * 0.5) * block_weights / slow;
    assert_near(t.sharded_s, 8 * (2 * gather_s + scatter_s) - 0.7 * all_s(&without));
}
END_TEST

/* 16 replicas of two ranks each, sharded over 4 of them in a node of 8: 4 replicas of a shard, one
   in each of 4 nodes. */
START_TEST(shards_are_inside_nodes_and_their_replicas_across)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(2, 1, 16));
    s.c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    s.c.exec.zero_stage = 3;
    s.c.exec.fsdp_par = 4;
    s.c.system.overlap.data_par = 1e-300; /* nothing hides */
    calc_stage_time t = time_of(&s, 0);
    double weights = s.parts.block[CALC_DENSE_BLOCK].dense_weights;
    double inside_s = 0.75 * (2 * 2 + 4) * weights / fast;
    assert_near(t.sharded_s, 8 * (inside_s + 1.5 * 4 * weights / 4 / slow));
}
END_TEST

/* 4 replicas of the rest and 2 of an expert, each in pairs: experts have no replica of a shard. */
START_TEST(sharded_experts_are_gathered_over_their_own_replicas)
{
    stage_case s;
    calc_app app = moe_app();
    app.vocab_size = 0;
    app.dense_blocks = 0;
    build(&s, app, modern_exec(1, 1, 8));
    s.c.exec.expert_par = 2;
    s.c.exec.zero_stage = 3;
    s.c.exec.fsdp_par = 2;
    s.c.exec.grad_reduce_datatype = CALC_FORMAT_BFLOAT16;
    s.c.system.overlap.data_par = 1e-300; /* nothing hides */
    calc_stage_time t = time_of(&s, 0);
    const calc_cost *b = &s.parts.block[CALC_MOE_BLOCK];
    double dense = b->dense_weights, expert = b->expert_weights;
    double gather_s = 0.5 * 2 * (dense + expert) / slow;
    double scatter_s = 0.5 * 2 * (dense + expert) / slow;
    double replicas_s = 2 * (1.5 * dense + 1.0 * expert) / 2 / slow; /* 4 and 2 of a shard */
    assert_near(t.sharded_s, 8 * (2 * gather_s + scatter_s + replicas_s));
}
END_TEST

/* ---- Optimizer ------------------------------------------------------------------------------- */

START_TEST(the_optimizer_reads_and_writes_its_state)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    calc_stage_weights w = weights_of(&s, 0);
    double P = w.dense;
    assert_near(calc_stage_optimizer_s(&s.c.context, &w), (2 * 4 + 3 * 4 + 2 * 12) * P / memory);
    s.c.exec.zero_stage = 1;
    settle(&s);
    assert_near(calc_stage_optimizer_s(&s.c.context, &w),
                (2 * 4 + (3 * 4 + 2 * 12) / 4.0) * P / memory);
    s.c.exec.zero_stage = 2;
    s.c.system.optimizer_efficiency = 0.25;
    settle(&s);
    assert_near(calc_stage_optimizer_s(&s.c.context, &w), 44 / 4.0 * P / memory / 0.25);
    s.c.exec.training = false;
    settle(&s);
    ck_assert_double_eq(calc_stage_optimizer_s(&s.c.context, &w), 0);
}
END_TEST

START_TEST(the_optimizer_of_experts_is_sharded_over_their_replicas)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 8));
    s.c.exec.expert_par = 4;
    s.c.exec.zero_stage = 1;
    calc_stage_weights w = weights_of(&s, 0);
    assert_near(calc_stage_optimizer_s(&s.c.context, &w),
                (8 * (w.dense + w.expert) + 36 * (w.dense / 8 + w.expert / 2)) / memory);
}
END_TEST

START_TEST(zero_stage_overrules_optimizer_sharding)
{
    calc_exec e = modern_exec(1, 1, 4);
    ck_assert_int_eq(calc_zero_stage(&e), 0);
    e.optimizer_sharding = true;
    ck_assert_int_eq(calc_zero_stage(&e), 1);
    e.zero_stage = 3;
    ck_assert_int_eq(calc_zero_stage(&e), 3);
}
END_TEST

static TCase *split_cases(void)
{
    TCase *cases = tcase_create("stages");
    tcase_add_test(cases, blocks_are_spread_and_the_first_stages_have_one_more);
    tcase_add_test(cases, a_stage_without_a_block_does_not_fit);
    tcase_add_test(cases, ends_count_as_blocks);
    tcase_add_test(cases, a_free_layout_is_even_ends_and_all);
    tcase_add_test(cases, the_ends_may_be_given);
    tcase_add_test(cases, chunks_must_divide_the_blocks_of_every_stage);
    tcase_add_test(cases, dense_blocks_come_first);
    tcase_add_test(cases, the_first_chunk_has_dense_blocks);
    tcase_add_test(cases, dense_blocks_beyond_the_first_chunk_are_spread);
    tcase_add_test(cases, alternating_kinds_are_fractions_of_every_stage);
    tcase_add_test(cases, micro_batches_are_those_of_a_replica);
    tcase_add_test(cases, micro_batches_in_flight_are_those_of_the_schedule);
    return cases;
}

static void add_memory_cases(TCase *cases)
{
    tcase_add_test(cases, a_parameter_takes_eighteen_bytes_less_what_is_sharded);
    tcase_add_test(cases, context_ranks_share_the_state_too);
    tcase_add_test(cases, formats_set_the_bytes_of_the_state);
    tcase_add_test(cases, calculon_shards_gradients_with_the_optimizer);
    tcase_add_test(cases, dualpipe_has_two_copies_of_weights_and_gradients);
    tcase_add_test(cases, inference_has_weights_only);
    tcase_add_test(cases, experts_are_sharded_over_their_own_replicas);
    tcase_add_test(cases, ends_weigh_on_the_first_and_last_stage);
    tcase_add_test(cases, predicted_tokens_weigh_on_the_last_stage);
    tcase_add_test(cases, activations_are_kept_for_what_is_in_flight);
    tcase_add_test(cases, blocks_that_do_not_recompute_keep_all);
    tcase_add_test(cases, blocks_of_both_kinds_are_kept);
    tcase_add_test(cases, dummy_gradients_are_one_of_each_shape);
}

static void add_time_cases(TCase *cases)
{
    tcase_add_test(cases, a_stage_takes_its_blocks_ends_and_messages);
    tcase_add_test(cases, a_stage_with_experts_takes_what_it_spends);
    tcase_add_test(cases, free_stages_are_all_alike);
    tcase_add_test(cases, messages_are_scattered_sent_per_chunk_and_may_hide);
    tcase_add_test(cases, some_blocks_recompute_and_others_do_not);
    tcase_add_test(cases, a_block_takes_no_less_than_the_host);
    tcase_add_test(cases, the_host_needs_more_for_experts_ranks_and_repetition);
    tcase_add_test(cases, many_tensor_parallel_ranks_wait_for_the_slowest_host);
    tcase_add_test(cases, slower_software_takes_longer_but_for_messages);
    tcase_add_test(cases, predicted_tokens_repeat_a_block_and_the_head);
    tcase_add_test(cases, gradients_are_reduced_and_weights_gathered);
    tcase_add_test(cases, whole_gradients_are_reduced_after_every_micro_batch_when_sharded);
    tcase_add_test(cases, experts_are_reduced_over_their_own_replicas);
    tcase_add_test(cases, the_reduction_hides_behind_the_backward_pass);
    tcase_add_test(cases, the_gathering_of_weights_may_hide_or_not_on_its_own);
    tcase_add_test(cases, chunks_leave_more_to_hide_behind);
    tcase_add_test(cases, tied_tables_are_added_up_between_the_ends);
    tcase_add_test(cases, sharded_weights_are_gathered_in_every_pass);
    tcase_add_test(cases, shards_are_inside_nodes_and_their_replicas_across);
    tcase_add_test(cases, sharded_experts_are_gathered_over_their_own_replicas);
    tcase_add_test(cases, the_optimizer_of_experts_is_sharded_over_their_replicas);
    tcase_add_test(cases, the_optimizer_reads_and_writes_its_state);
    tcase_add_test(cases, zero_stage_overrules_optimizer_sharding);
}

int main(void)
{
    TCase *cases = split_cases();
    add_memory_cases(cases);
    add_time_cases(cases);
    return run_cases(cases);
}
