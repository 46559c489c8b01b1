#include "model/stages/stages.h"

#include "frame.h"
#include "modern_case.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

static calc_stages split(const calc_app *app, const calc_exec *exec)
{
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    return calc_stages_split(&shape, exec, CALC_COMPAT_NONE);
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
        ck_assert(c->first == (at == 0) || s->ends_spread);
        for (int k = 0; k < (int)c->stages; k++) {
            ck_assert_int_lt(at, stages);
            ck_assert_double_eq_tol(c->dense + c->moe, blocks[at++], 1e-12);
        }
        ck_assert(c->last == (at == stages) || s->ends_spread);
    }
    ck_assert_int_eq(at, stages);
}

#define BLOCKS_ARE(s, ...)                                                                         \
    do {                                                                                           \
        const double want_[] = {__VA_ARGS__};                                                      \
        blocks_are(s, (int)(sizeof want_ / sizeof *want_), want_);                                 \
    } while (0)

CALC_TEST(blocks_are_spread_and_the_first_stages_have_one_more)
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
    ck_assert_double_eq(s.fewest_blocks, 2);
    s = split_blocks(11, &four);
    BLOCKS_ARE(&s, 3, 3, 3, 2);
    ck_assert(s.fit);
    calc_exec two = modern_exec(1, 2, 1);
    s = split_blocks(3, &two);
    BLOCKS_ARE(&s, 2, 1);
}

CALC_TEST(a_stage_without_a_block_does_not_fit)
{
    calc_exec four = modern_exec(1, 4, 1);
    ck_assert(split_blocks(4, &four).fit);
    ck_assert(!split_blocks(3, &four).fit);
}

CALC_TEST(ends_count_as_blocks)
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

CALC_TEST(a_free_layout_is_even_ends_and_all)
{
    calc_exec four = modern_exec(1, 4, 1), one = modern_exec(1, 1, 1);
    four.pipeline_balance = one.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    calc_stages s = split_blocks(10, &four);
    BLOCKS_ARE(&s, 2.5, 2.5, 2.5, 2.5);
    ck_assert(s.ends_spread);
    for (size_t i = 0; i < s.count; i++) {
        ck_assert_double_eq(s.item[i].first, 0.25);
        ck_assert_double_eq(s.item[i].last, 0.25);
    }
    ck_assert(s.fit);
    ck_assert(!split_blocks(3, &four).fit);
    ck_assert(!split_blocks(10, &one).ends_spread);
}

CALC_TEST(the_ends_may_be_given)
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

CALC_TEST(chunks_must_divide_the_blocks_of_every_stage)
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

static void kinds_are(const calc_stages *s, size_t count, const double dense[], const double moe[])
{
    ck_assert_uint_eq(s->count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(s->item[i].dense, dense[i], 1e-12);
        ck_assert_double_eq_tol(s->item[i].moe, moe[i], 1e-12);
    }
}

/* Whether chunks fit is known from the stages without any. */
CALC_TEST(one_split_knows_which_chunks_fit)
{
    static const calc_compat compats[] = {CALC_COMPAT_NONE, CALC_COMPAT_REPAIRED};
    static const int64_t first[] = {0, 0, 0, 6};
    size_t fits = 0;
    for (int i = 0; i < 4 * 2 * 2 * 40 * 5; i++) {
        calc_app app = modern_app();
        calc_exec e = modern_exec(1, (int64_t[]){1, 2, 3, 4, 6}[i % 5], 1);
        calc_compat compat = compats[i / 5 % 2];
        e.pipeline_balance = (calc_pipeline_balance)(i / 10 % 4 % CALC_PIPELINE_BALANCE_COUNT);
        e.first_stage_blocks = first[i / 10 % 4];
        e.batch_size = i / 40 % 2 ? 12 : 13;
        app.num_blocks = i / 80 + 1;
        calc_shape shape = calc_shape_of(&app, &e.strategy, e.microbatch_size, e.seq_size);
        calc_stages one = calc_stages_split(&shape, &e, compat);
        for (e.pipeline_interleaving = 1; e.pipeline_interleaving < 20; e.pipeline_interleaving++) {
            calc_stages s = calc_stages_split(&shape, &e, compat);
            ck_assert(calc_stages_fit(&one, &e, compat) == s.fit);
            ck_assert(!s.fit || e.pipeline_interleaving <= calc_stages_most_chunks(&one) ||
                      e.pipeline_par == 1);
            ck_assert(s.fewest_blocks == one.fewest_blocks);
            fits += s.fit && e.pipeline_interleaving > 1 && e.pipeline_par > 1;
        }
    }
    ck_assert_uint_gt(fits, 1000);
}

CALC_TEST(dense_blocks_come_first)
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
    kinds_are(&s, 1, (double[]){1}, (double[]){3});
}

/* The first chunk of two has 2 of the 3, the rest are anywhere behind it. */
CALC_TEST(the_first_chunk_has_dense_blocks)
{
    calc_app app = moe_app();
    app.dense_blocks = 3;
    calc_exec two = modern_exec(1, 2, 1);
    two.pipeline_interleaving = 2;
    calc_stages s = split(&app, &two);
    kinds_are(&s, 2, (double[]){2, 1}, (double[]){2, 3});
}

/* More dense blocks than the first chunk holds are spread over the rest. */
CALC_TEST(dense_blocks_beyond_the_first_chunk_are_spread)
{
    calc_app app = moe_app();
    app.dense_blocks = 4;
    calc_exec four = modern_exec(1, 4, 1);
    calc_stages s = split(&app, &four);
    kinds_are(&s, 3, (double[]){2, 2.0 / 3, 2.0 / 3}, (double[]){0, 4.0 / 3, 4.0 / 3});
}

/* Up to all blocks, however they are laid out: each stage has some of each kind, and together they
   have them all. */
CALC_TEST(no_stage_has_fewer_blocks_of_a_kind_than_none)
{
    for (int64_t prefix = 0; prefix <= 8; prefix++) {
        for (int i = 0; i < 6; i++) {
            calc_app app = moe_app();
            calc_exec e = modern_exec(1, i < 3 ? 2 : 4, 1);
            app.dense_blocks = prefix;
            e.pipeline_interleaving = i % 3 == 1 ? 2 : 1;
            e.first_stage_blocks = i % 3 == 2 ? 5 : 0;
            e.last_stage_blocks = i == 5 ? 1 : 0;
            calc_stages s = split(&app, &e);
            double dense = 0, moe = 0;
            ck_assert(s.fit);
            for (size_t k = 0; k < s.count; k++) {
                const calc_stage_class *c = &s.item[k];
                ck_assert_msg(c->dense >= 0 && c->moe >= 0, "%d dense, layout %d, class %d",
                              (int)prefix, i, (int)k);
                dense += c->stages * c->dense;
                moe += c->stages * c->moe;
            }
            ck_assert_double_eq_tol(dense, (double)prefix, 1e-12);
            ck_assert_double_eq_tol(moe, (double)(8 - prefix), 1e-12);
        }
    }
}

/* The pipeline is computed over all of them, without asking. */
CALC_TEST(classes_that_are_not_there_are_empty)
{
    calc_exec two = modern_exec(1, 2, 1);
    calc_stages s = split_blocks(8, &two);
    ck_assert_uint_eq(s.count, 2);
    for (size_t i = s.count; i < CALC_MAX_STAGE_CLASSES; i++) {
        const calc_stage_class *c = &s.item[i];
        ck_assert_double_eq(c->stages + c->dense + c->moe + c->first + c->last, 0);
    }
}

/* What is in flight tells stages apart, but the first holds most; in ZB-V the last may. */
CALC_TEST(classes_that_differ_in_nothing_but_their_place_are_one)
{
    calc_app app = modern_app();
    calc_exec four = modern_exec(1, 4, 1);
    app.vocab_size = 0;
    calc_stages s = split(&app, &four);
    ck_assert_int_eq(calc_stages_classes(&s), 1);
    ck_assert_double_eq(s.item[0].stages, 4);
    ck_assert_double_eq(s.item[0].position + s.item[0].first + s.item[0].last, 0);
    ck_assert_double_eq(s.item[0].dense, 2);
    four.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_V;
    ck_assert_uint_eq(split(&app, &four).count, 3);
    four.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    app.num_blocks = 10; /* 3, 3, 2, 2 */
    s = split(&app, &four);
    ck_assert_uint_eq(s.count, 2);
    ck_assert_int_eq(calc_stages_classes(&s), 2);
    ck_assert(s.item[0].stages == 2 && s.item[1].stages == 2 && s.item[1].position == 2);
    ck_assert(s.item[0].dense == 3 && s.item[1].dense == 2 && s.item[2].stages == 0);
    app = modern_app(); /* with ends */
    s = split(&app, &four);
    ck_assert_uint_eq(s.count, 3);
}

CALC_TEST(alternating_kinds_are_fractions_of_every_stage)
{
    calc_app app = moe_app();
    app.dense_blocks = 0;
    app.moe_every = 2;
    calc_exec two = modern_exec(1, 2, 1);
    calc_stages s = split(&app, &two);
    kinds_are(&s, 2, (double[]){2, 2}, (double[]){2, 2});
}

CALC_TEST(micro_batches_are_those_of_a_replica)
{
    calc_exec e = modern_exec(1, 2, 4);
    e.batch_size = 48;
    e.microbatch_size = 3;
    ck_assert_double_eq(split_blocks(8, &e).microbatches, 4);
}

/* ---- Even stages ----------------------------------------------------------------------------- */

static calc_stages split_even(int64_t blocks, const calc_exec *exec)
{
    calc_app app = small_app();
    app.num_blocks = blocks;
    calc_shape shape = calc_shape_of(&app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    return calc_stages_split(&shape, exec, 1 << CALC_COMPAT_EVEN_STAGES);
}

/* 8 blocks on 3 stages: as if there were 9. */
CALC_TEST(by_rule_every_stage_has_the_ceiling)
{
    calc_exec e = small_exec(1, 3, 1);
    calc_stages s = split_even(8, &e);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_double_eq(s.item[0].stages, 3);
    ck_assert_double_eq(s.item[0].position, 0);
    ck_assert_double_eq(s.item[0].dense, 3);
    ck_assert_double_eq(s.item[0].missing, 1);
    ck_assert_double_eq(s.item[0].first, 1.0 / 3);
    ck_assert_double_eq(s.item[0].last, 1.0 / 3);
    ck_assert_double_eq(s.most_blocks, 3);
    ck_assert_double_eq(s.fewest_blocks, 3);
    ck_assert(s.fit);
    s = split_even(9, &e);
    ck_assert_double_eq(s.item[0].dense, 3);
    ck_assert_double_eq(s.item[0].missing, 0);
    s = split_even(10, &e);
    ck_assert_double_eq(s.item[0].dense, 4);
    ck_assert_double_eq(s.item[0].missing, 2);
    s = split_even(1, &e); /* two stages have nothing but the ceiling */
    ck_assert_double_eq(s.item[0].dense, 1);
    ck_assert_double_eq(s.item[0].missing, 2);
    ck_assert(s.fit);
    e = small_exec(1, 1, 1);
    s = split_even(8, &e);
    ck_assert_double_eq(s.item[0].dense, 8);
    ck_assert_double_eq(s.item[0].missing, 0);
    ck_assert_double_eq(s.item[0].first, 1);
}

/* Of 7 blocks on 2 stages 4 chunks of one: the ceiling decides, not what the last stage has. */
CALC_TEST(by_rule_chunks_divide_the_ceiling)
{
    calc_exec e = small_exec(1, 2, 1);
    for (int64_t chunks = 1; chunks <= 5; chunks++) {
        e.pipeline_interleaving = chunks;
        ck_assert(split_even(7, &e).fit == (chunks == 1 || chunks == 2 || chunks == 4));
        ck_assert(split_blocks(7, &e).fit == (chunks == 1));
    }
}

/* No other rule touches the stages. */
CALC_TEST(other_rules_leave_the_stages_alone)
{
    calc_exec e = small_exec(1, 3, 1);
    calc_app app = modern_app();
    calc_shape shape = calc_shape_of(&app, &e.strategy, e.microbatch_size, e.seq_size);
    calc_compat others = CALC_COMPAT_CALCULON & ~((calc_compat)1 << CALC_COMPAT_EVEN_STAGES);
    calc_stages s = calc_stages_split(&shape, &e, others);
    BLOCKS_ARE(&s, 3, 3, 2);
    ck_assert_double_eq(s.item[0].missing, 0);
}

/* Blocks, and embedding and head as one each, are the most that chunks can have one of. */
CALC_TEST(no_spread_has_more_chunks_than_the_limit)
{
    int reached = 0;
    for (int p = 1; p <= 12; p++) {
        for (int blocks = p; blocks <= 40; blocks++) {
            calc_exec e = modern_exec(1, p, 1);
            calc_app app = modern_app();
            app.num_blocks = blocks;
            e.batch_size = 2 * p * e.strategy.data_par * e.microbatch_size;
            int64_t limit = calc_stages_chunks_limit(&app, &e);
            ck_assert_int_eq(limit, p > 1 ? (blocks + 2) / p : 1);
            for (int balance = 0; balance < 3; balance++) {
                e.pipeline_balance = (calc_pipeline_balance)balance;
                for (e.pipeline_interleaving = 1; e.pipeline_interleaving <= limit + 3;
                     e.pipeline_interleaving++) {
                    bool fit = (p > 1 || e.pipeline_interleaving == 1) && split(&app, &e).fit;
                    ck_assert(!fit || e.pipeline_interleaving <= limit);
                    reached += fit && e.pipeline_interleaving == limit &&
                               balance == CALC_PIPELINE_BALANCE_ENDS && (blocks + 2) % p == 0;
                }
            }
            e.pipeline_schedule = CALC_PIPELINE_SCHEDULE_GPIPE;
            ck_assert_int_eq(calc_stages_chunks_limit(&app, &e), 1);
        }
    }
    ck_assert_int_ge(reached, 50);
}
