/* Parameters and arithmetic of published models; parts of small ones: unit/check_parameters.txt. */
#include "model/operators/parameters.h"

#include "model/cost/block.h"
#include "model/operators/transformer.h"
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_parameters.txt", .answer = formula_answer};

/* Brown et al. 2020, arXiv 2005.14165, table 2.1. */
static const calc_app gpt3_175b = {.hidden = 12288,
                                   .feedforward = 49152,
                                   .seq_size = 2048,
                                   .attn_heads = 96,
                                   .attn_size = 128,
                                   .num_blocks = 96};

/* ---- Counting -------------------------------------------------------------------------------- */

/* Narayanan et al. 2021, eq. 2: 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), with l = 96,
 * h = 12288, V = 51200 and s = 2048:
 *     12 * 96 * 150,994,944 = 173,946,175,488
 *     13 * 96 * 12,288      =      15,335,424
 *     53,248 * 12,288       =     654,311,424 */
CALC_TEST(gpt3_has_the_parameters_of_equation_2)
{
    calc_parameters p;
    calc_count_parameters(&gpt3_175b, &p);
    ck_assert_double_eq(p.total, 173946175488.0 + 15335424.0 + 2 * 12288 + 654311424.0);
    ck_assert_double_eq_tol(p.total, 175e9, 0.005 * 175e9);
}

/* The model of the next test is counted with one table of 512 rows, or two. */
CALC_TEST(a_model_without_a_head_has_no_table_for_it)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(1, 1, 1);
    calc_parameters two, none;
    calc_operator head[CALC_MAX_OPERATORS];
    app.tied_embeddings = CALC_CHOICE_FALSE;
    calc_count_parameters(&app, &two);
    calc_shape s = calc_shape_of(&app, &exec.strategy, 1, 0);
    double flop = calc_parameters_step_flop(&s, &exec, false);
    app.lm_head = CALC_CHOICE_FALSE;
    calc_count_parameters(&app, &none);
    double table = (double)(app.vocab_size * app.hidden);
    ck_assert_double_eq(none.total, two.total - table);
    ck_assert_double_eq(none.embedding, table);
    s = calc_shape_of(&app, &exec.strategy, 1, 0);
    ck_assert_double_eq(calc_parameters_step_flop(&s, &exec, false),
                        flop - 6 * table * s.seq * (double)exec.batch_size);
    ck_assert_uint_eq(calc_transformer_head(&s, &exec.strategy, true, head), 1);
    ck_assert_str_eq(head[0].name, "final norm");
}

CALC_TEST(the_parts_sum_to_the_total)
{
    calc_app apps[] = {small_app(), gpt3_175b};
    for (int i = 0; i < 2; i++) {
        calc_parameters p;
        calc_count_parameters(&apps[i], &p);
        ck_assert_double_eq(p.attention + p.mlp + p.norm + p.embedding, p.total);
        ck_assert_double_eq(p.active, p.total);
    }
}

static double block_weights_of(const calc_app *app, calc_compat compat)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 1, 1);
    calc_shape shape = calc_shape_of(app, &exec.strategy, exec.microbatch_size, exec.seq_size);
    calc_cost_context context = calc_cost_context_of(&system, &exec, &shape, compat);
    calc_operator operators[CALC_MAX_OPERATORS];
    size_t count = calc_block_operators(&context, CALC_DENSE_BLOCK, operators);
    double weights = 0;
    for (size_t i = 0; i < count; i++) {
        weights += operators[i].weights;
    }
    return weights;
}

/* Calculon's layers have the same matrices and norms, but no biases: 9h per block with feedforward
 * = 4h. */
CALC_TEST(the_blocks_of_the_model_have_all_of_them_and_calculons_no_biases)
{
    calc_app app = small_app();
    calc_parameters p;
    calc_count_parameters(&app, &p);
    double all = p.attention + p.mlp + p.norm - 2 * 64; /* the last norm is the head's */
    ck_assert_double_eq(all, 8 * block_weights_of(&app, CALC_COMPAT_NONE));
    ck_assert_double_eq(all, 8 * (block_weights_of(&app, CALC_COMPAT_REPAIRED) + 9 * 64));
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* FLOP of a token, of a step of one micro-batch. */
static double token_flop(const calc_app *app, const calc_exec *exec)
{
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    double tokens = (double)app->seq_size * (double)exec->batch_size;
    return calc_parameters_step_flop(&shape, exec, true) / tokens;
}

/* Chowdhery et al. 2022, appendix B: 6 N + 12 L H Q T per token, here with the matrices as N. */
CALC_TEST(a_token_takes_six_flop_per_weight_and_twelve_per_position)
{
    calc_exec exec = small_exec(1, 1, 1);
    double matrices = 12.0 * 96 * 12288 * 12288;
    double attention = 12.0 * 96 * 12288 * 2048;
    ck_assert_double_eq(token_flop(&gpt3_175b, &exec), 6 * matrices + attention);
    exec.training = false;
    ck_assert_double_eq(token_flop(&gpt3_175b, &exec), 2 * matrices + attention / 3);
}

/* By the other route: the matrix layers of Calculon's block, all three passes, over its tokens. */
static double token_flop_of_layers(const calc_app *app, const calc_exec *exec)
{
    calc_system system = small_system();
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_operator layers[CALC_MAX_OPERATORS];
    calc_cost_context context = calc_cost_context_of(&system, exec, &shape, CALC_COMPAT_NONE);
    calc_recipe recipe = calc_block_recipe(&context, CALC_DENSE_BLOCK);
    size_t count = calc_calculon_block(&recipe, layers);
    double flop = 0;
    for (size_t i = 0; i < count; i++) {
        bool matrix = layers[i].kind == CALC_OPERATOR_MATRIX;
        for (int stage = 0; matrix && stage < CALC_PASS_COUNT; stage++) {
            flop += exec->training || stage == CALC_PASS_FW ? layers[i].flop[stage] : 0;
        }
    }
    double tokens = (double)app->seq_size * (double)exec->microbatch_size;
    return (double)app->num_blocks * flop / tokens;
}

CALC_TEST(the_matrix_layers_of_the_block_agree)
{
    calc_app apps[] = {small_app(), gpt3_175b, small_app()};
    apps[2].attn_heads = 3;
    for (int i = 0; i < 3; i++) {
        for (int training = 0; training < 2; training++) {
            calc_exec exec = small_exec(1, 1, 1);
            exec.microbatch_size = 2;
            exec.training = training;
            assert_near(token_flop(&apps[i], &exec), token_flop_of_layers(&apps[i], &exec));
            exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
            assert_near(token_flop(&apps[i], &exec), token_flop_of_layers(&apps[i], &exec));
        }
    }
}

CALC_TEST(recomputation_is_not_work_of_the_model)
{
    calc_app app = small_app();
    calc_exec exec = small_exec(1, 1, 1);
    double flop = token_flop(&app, &exec);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_double_eq(token_flop(&app, &exec), flop);
}

static void has_tensors(const calc_app *app, int64_t expert_par, double stages, double dense,
                        double expert)
{
    calc_strategy strategy = {.expert_par = expert_par};
    calc_shape shape = calc_shape_of(app, &strategy, 1, 0);
    double found[2];
    calc_parameters_tensors(&shape, stages, &found[0], &found[1]);
    ck_assert_double_eq(found[0], dense);
    ck_assert_double_eq(found[1], expert);
}

/* Llama: per block two norms, queries with keys and values, output, and three matrices; two tables
 * and the last norm. With biases, one more per matrix. */
CALC_TEST(tensors_are_those_that_frameworks_allocate)
{
    calc_app llama = modern_app();
    has_tensors(&llama, 1, 1, 8 * 7 + 3, 0);
    has_tensors(&llama, 1, 4, (8 * 7 + 3) / 4.0, 0);
    llama.bias = CALC_CHOICE_TRUE;
    has_tensors(&llama, 1, 1, 8 * (2 + 2 * 5) + 3, 0);
}

/* 2 dense blocks, 6 with a router and 8 experts, of which a quarter is on a rank. */
CALC_TEST(tensors_of_experts_are_those_of_a_rank)
{
    calc_app app = moe_app();
    calc_shape shape = calc_shape_of(&app, &(calc_strategy){0}, 1, 0);
    double shared = shape.shared_feedforward > 0 ? 3 : 0;
    has_tensors(&app, 4, 1, 8 * 4 + 2 * 3 + 6 * (1 + shared) + 3, 6 * 2 * 3);
}
