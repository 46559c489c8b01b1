#include "model/operators/shape.h"

#include "frame.h"
#include "modern_case.h"

static calc_shape shape_of(const calc_app *app, const calc_exec *exec)
{
    return calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
}

CALC_TEST(a_gpt_has_what_calculon_assumes)
{
    calc_app app = small_app();
    calc_exec exec = small_exec(1, 1, 1);
    calc_shape s = shape_of(&app, &exec);
    ck_assert(!s.gated && !s.rms && !s.rope && s.bias && s.dropout && s.tied);
    ck_assert(!s.causal && !s.flash && !s.latent && !s.qk_norm);
    ck_assert_double_eq(s.vocab, 0);
    ck_assert_double_eq(s.kv_heads, 4);
    ck_assert_double_eq(s.dense_blocks, 8);
    ck_assert_double_eq(s.tokens, 32);
}

CALC_TEST(llama_is_a_preset_of_the_application_or_the_execution)
{
    for (int i = 0; i < 2; i++) {
        calc_app app = small_app();
        calc_exec exec = small_exec(1, 1, 1);
        *(i == 0 ? &app.structure_type : &exec.strategy.structure_type) = CALC_STRUCTURE_TYPE_LLAMA;
        calc_shape s = shape_of(&app, &exec);
        ck_assert(s.gated && s.rms && s.rope && !s.bias && !s.dropout && !s.tied);
    }
}

CALC_TEST(each_choice_overrides_its_preset)
{
    calc_app app = small_app();
    calc_exec exec = small_exec(1, 1, 1);
    app.ffn_type = CALC_FFN_TYPE_GEGLU;
    app.norm_type = CALC_NORM_TYPE_RMS;
    app.position_type = CALC_POSITION_TYPE_ROPE;
    app.bias = app.dropout = app.tied_embeddings = CALC_CHOICE_FALSE;
    calc_shape s = shape_of(&app, &exec);
    ck_assert(s.gated && s.rms && s.rope && !s.bias && !s.dropout && !s.tied);
    app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    app.ffn_type = CALC_FFN_TYPE_RELU;
    app.norm_type = CALC_NORM_TYPE_LAYER;
    app.position_type = CALC_POSITION_TYPE_NONE;
    app.bias = app.dropout = app.tied_embeddings = CALC_CHOICE_TRUE;
    s = shape_of(&app, &exec);
    ck_assert(!s.gated && !s.rms && !s.rope && s.bias && s.dropout && s.tied);
    app.ffn_type = CALC_FFN_TYPE_SWIGLU;
    ck_assert(shape_of(&app, &exec).gated);
    app.ffn_type = CALC_FFN_TYPE_GELU;
    ck_assert(!shape_of(&app, &exec).gated);
}

/* 4 query heads on 2 key heads: with 4 ranks each rank has one key head, so that two have the same.
 */
CALC_TEST(key_heads_are_repeated_beyond_their_number)
{
    calc_app app = modern_app();
    static const double local[][3] = {{1, 4, 2}, {2, 2, 1}, {4, 1, 1}};
    for (int i = 0; i < 3; i++) {
        calc_exec exec = modern_exec((int64_t)local[i][0], 1, 1);
        calc_shape s = shape_of(&app, &exec);
        ck_assert_double_eq(s.kv_heads, 2);
        ck_assert_double_eq(s.local_heads, local[i][1]);
        ck_assert_double_eq(s.local_kv_heads, local[i][2]);
    }
}

CALC_TEST(the_execution_names_key_heads_where_the_application_does_not)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(2, 1, 1);
    exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
    ck_assert_double_eq(shape_of(&app, &exec).kv_heads, 2);
    app.kv_heads = 0;
    ck_assert_double_eq(shape_of(&app, &exec).kv_heads, 1);
    ck_assert_double_eq(shape_of(&app, &exec).local_kv_heads, 1);
    exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIHEAD;
    ck_assert_double_eq(shape_of(&app, &exec).kv_heads, 4);
    exec.strategy.flash_attention = false;
    ck_assert(!shape_of(&app, &exec).flash);
    exec.strategy.attention_type = CALC_ATTENTION_TYPE_FLASH;
    ck_assert(shape_of(&app, &exec).flash);
}

/* Latent attention has a key and a value per query head, 24 and 16 wide. */
CALC_TEST(latent_attention_expands_its_keys)
{
    calc_app app = latent_app();
    calc_exec exec = modern_exec(4, 1, 1);
    calc_shape s = shape_of(&app, &exec);
    ck_assert(s.latent);
    ck_assert_double_eq(s.q_rank, 32);
    ck_assert_double_eq(s.kv_rank, 16);
    ck_assert_double_eq(s.rope_size, 8);
    ck_assert_double_eq(s.qk_size, 24);
    ck_assert_double_eq(s.v_size, 16);
    ck_assert_double_eq(s.kv_heads, 4);
    ck_assert_double_eq(s.local_heads, 1);
    ck_assert_double_eq(s.local_kv_heads, 1);
    app.kv_heads = 2; /* of the file, without a meaning here */
    ck_assert_double_eq(shape_of(&app, &exec).kv_heads, 4);
}

CALC_TEST(tokens_are_those_of_one_context_rank)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(1, 1, 1);
    exec.microbatch_size = 2;
    ck_assert_double_eq(shape_of(&app, &exec).tokens, 64);
    exec.strategy.context_par = 1;
    ck_assert_double_eq(shape_of(&app, &exec).tokens, 64);
    exec.strategy.context_par = 2;
    ck_assert_double_eq(shape_of(&app, &exec).tokens, 32);
    exec.seq_size = 128;
    calc_shape s = shape_of(&app, &exec);
    ck_assert_double_eq(s.seq, 128);
    ck_assert_double_eq(s.tokens, 128);
}

/* The next multiple of 128 per rank, or of what is given. */
CALC_TEST(the_vocabulary_is_padded)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(1, 1, 1);
    static const int64_t rows[][4] = {{1, 0, 1, 128},      {128, 0, 1, 128},  {129, 0, 1, 256},
                                      {129, 0, 4, 512},    {513, 0, 4, 1024}, {129, 1, 1, 129},
                                      {129, 2, 1, 130},    {129, 2, 4, 136},  {512, 0, 4, 512},
                                      {50257, 0, 8, 51200}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        app.vocab_size = rows[i][0];
        app.vocab_multiple = rows[i][1];
        exec.strategy.tensor_par = rows[i][2];
        ck_assert_double_eq(shape_of(&app, &exec).vocab, (double)rows[i][3]);
    }
}

CALC_TEST(formats_are_the_datatype_unless_given)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(1, 1, 1);
    calc_shape s = shape_of(&app, &exec);
    ck_assert_double_eq(s.element_bytes, 2);
    ck_assert_double_eq(s.matrix_bytes, 2);
    ck_assert_double_eq(s.weight_bytes, 2);
    ck_assert_double_eq(s.kept_bytes, 2);
    ck_assert_double_eq(s.grad_bytes, 4);
    exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    ck_assert_double_eq(shape_of(&app, &exec).grad_bytes, 2);
    exec.strategy.datatype = CALC_DATATYPE_FLOAT32;
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT4;
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    exec.strategy.activation_datatype = CALC_FORMAT_BFLOAT16;
    exec.strategy.grad_datatype = CALC_FORMAT_FLOAT16;
    s = shape_of(&app, &exec);
    ck_assert_double_eq(s.element_bytes, 4);
    ck_assert_double_eq(s.matrix_bytes, 0.5625);
    ck_assert_double_eq(s.weight_bytes, 1);
    ck_assert_double_eq(s.kept_bytes, 2);
    ck_assert_double_eq(s.grad_bytes, 2);
}

static void assert_stored(calc_exec exec, double kept_bytes, double activated_bytes)
{
    calc_app app = modern_app();
    calc_shape s = shape_of(&app, &exec);
    ck_assert_double_eq(s.kept_bytes, kept_bytes);
    ck_assert_double_eq(s.activated_bytes, activated_bytes);
}

/* Bytes of Transformer Engine's tensors: MXFP8 has a scale of a byte for 32 numbers, NVFP4 one for
 * 16 half bytes. */
CALC_TEST(inputs_are_stored_as_the_software_does)
{
    calc_exec exec = modern_exec(1, 1, 1);
    exec.strategy.scaling = CALC_SCALING_BLOCK;
    assert_stored(exec, 2, 2);
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    assert_stored(exec, 1.03125, 2);
    exec.strategy.scaling = CALC_SCALING_TENSOR;
    assert_stored(exec, 1, 2);
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT4;
    assert_stored(exec, 0.5625, 2);
    exec.strategy.activation_datatype = CALC_FORMAT_BFLOAT16; /* torchao */
    assert_stored(exec, 2, 2);
    exec.strategy.activation_datatype = CALC_FORMAT_FLOAT8; /* DeepSeek-V3, both */
    assert_stored(exec, 1, 1);
    exec.strategy.activation_datatype = CALC_FORMAT_AUTO;
    exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    assert_stored(exec, 2, 2);
}

/* Of 8 blocks: all behind the dense ones, or one in so many of them. */
CALC_TEST(blocks_with_experts_are_counted)
{
    calc_app app = moe_app();
    calc_exec exec = modern_exec(1, 1, 1);
    static const int64_t rows[][3] = {{0, 0, 8}, {2, 0, 6}, {2, 1, 6}, {2, 2, 3},
                                      {2, 4, 1}, {2, 7, 0}, {7, 1, 1}, {0, 2, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        app.dense_blocks = rows[i][0];
        app.moe_every = rows[i][1];
        calc_shape s = shape_of(&app, &exec);
        ck_assert_double_eq(s.moe_blocks, (double)rows[i][2]);
    }
    app = modern_app();
    app.dense_blocks = 2;
    calc_shape s = shape_of(&app, &exec);
    ck_assert_double_eq(s.moe_blocks, 0);
    ck_assert_double_eq(s.dense_blocks, 8);
}

CALC_TEST(an_expert_without_a_width_is_as_wide_as_the_feedforward)
{
    calc_app app = moe_app();
    calc_exec exec = modern_exec(1, 1, 1);
    ck_assert_double_eq(shape_of(&app, &exec).expert_feedforward, 32);
    app.expert_feedforward = 0;
    ck_assert_double_eq(shape_of(&app, &exec).expert_feedforward, 256);
    app.num_experts = 0;
    ck_assert_double_eq(shape_of(&app, &exec).expert_feedforward, 0);
    ck_assert_double_eq(shape_of(&app, &exec).shared_feedforward, 0);
}

/* Destinations that a token's experts are on, mean over all choices of k out of E, one by one. The
   first E mod n destinations have one expert more than the others. */
static double reached_by_hand(int experts, int per_token, int destinations)
{
    int choices = 0, reached = 0;
    for (unsigned choice = 0; choice < 1U << experts; choice++) {
        int chosen = 0, first = 0, met = 0;
        for (int d = 0; d < destinations; d++) {
            int here = 0;
            int own = experts / destinations + (d < experts % destinations);
            for (int e = first; e < first + own; e++) {
                here += (int)(choice >> e & 1);
            }
            first += own;
            chosen += here;
            met += here > 0;
        }
        if (chosen == per_token) {
            choices++;
            reached += met;
        }
    }
    return (double)reached / choices;
}

CALC_TEST(a_token_reaches_the_destinations_of_its_different_experts)
{
    for (int experts = 1; experts <= 9; experts++) {
        for (int per_token = 1; per_token <= experts; per_token++) {
            calc_shape s = {.experts = experts, .experts_per_token = per_token};
            for (int n = 1; n <= 10; n++) {
                double want = reached_by_hand(experts, per_token, n);
                ck_assert_double_eq_tol(calc_shape_reached(&s, n), want, 1e-12);
            }
        }
    }
    calc_shape s = {.experts = 64, .experts_per_token = 8};
    /* 8 destinations of 8 experts: 1 - C(56, 8) / C(64, 8) of them. */
    ck_assert_double_eq_tol(calc_shape_reached(&s, 8), 8 * (1 - 1420494075 / 4426165368.0), 1e-12);
}

/* Destinations of a token whose experts have scores in an order, the best first: it reaches the
   `limit` groups with the best experts, and takes the best of theirs. */
static int reached_in_order(const int *order, const calc_shape *s, int destinations)
{
    int experts = (int)s->experts, size = experts / (int)s->expert_groups;
    unsigned groups = 0, met = 0;
    int taken = 0;
    for (int i = 0; i < experts && taken < (int)s->experts_per_token; i++) {
        unsigned group = 1U << order[i] / size;
        bool full = __builtin_popcount(groups) == (int)s->groups_per_token;
        if (!full || (groups & group)) {
            groups |= group;
            met |= 1U << order[i] * destinations / experts;
            taken++;
        }
    }
    return __builtin_popcount(met);
}

/* The mean over all orders of the experts from a place on. */
static double over_orders(int *order, int place, const calc_shape *s, int destinations)
{
    int experts = (int)s->experts;
    double sum = 0;
    for (int i = place; i < experts; i++) {
        int first = order[place];
        order[place] = order[i];
        order[i] = first;
        sum += over_orders(order, place + 1, s, destinations) / (experts - place);
        order[i] = order[place];
        order[place] = first;
    }
    return place == experts ? reached_in_order(order, s, destinations) : sum;
}

/* Groups that are parts of a destination, are one, and have several. */
CALC_TEST(limited_routing_keeps_a_token_in_the_groups_of_its_best_experts)
{
    static const int sizes[][2] = {{6, 2}, {6, 3}, {7, 7}, {8, 2}, {8, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        calc_shape s = {.experts = sizes[i][0], .expert_groups = sizes[i][1]};
        for (int limit = 1; limit <= sizes[i][1]; limit++) {
            s.groups_per_token = limit;
            for (int k = 1; k <= limit * sizes[i][0] / sizes[i][1]; k++) {
                s.experts_per_token = k;
                for (int n = 1; n <= sizes[i][0]; n++) {
                    int order[] = {0, 1, 2, 3, 4, 5, 6, 7};
                    if (sizes[i][0] % n == 0 && (sizes[i][1] % n == 0 || n % sizes[i][1] == 0)) {
                        ck_assert_double_eq_tol(calc_shape_reached(&s, n),
                                                over_orders(order, 0, &s, n), 1e-12);
                    }
                }
            }
        }
    }
    /* DeepSeek-V3's router adds the two best scores of a group: 3.13, 3.97, 5.72, 6.86, 7.50 in a
       simulation with random scores. */
    calc_shape s = {
        .experts = 256, .experts_per_token = 8, .expert_groups = 8, .groups_per_token = 4};
    static const double nodes[][2] = {{4, 3.13}, {8, 3.97}, {16, 5.72}, {32, 6.86}, {64, 7.50}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        double want = nodes[i][1];
        ck_assert_double_eq_tol(calc_shape_reached(&s, nodes[i][0]), want, want / 100);
    }
}

/* Also where no whole number of experts is on each: a group of ranks may end inside a node. */
CALC_TEST(more_destinations_are_reached_of_more_and_never_more_than_experts)
{
    static const double experts[][2] = {{8, 2}, {64, 8}, {256, 8}, {16, 16}};
    for (size_t i = 0; i < sizeof experts / sizeof *experts; i++) {
        calc_shape s = {.experts = experts[i][0], .experts_per_token = experts[i][1]};
        double before = 1;
        ck_assert_double_eq(calc_shape_reached(&s, 1), 1);
        for (double n = 1.0625; n < 300; n += 0.0625) {
            double reached = calc_shape_reached(&s, n);
            double most = fmin(n, s.experts_per_token);
            ck_assert_msg(reached >= before - 1e-12 && reached <= most + 1e-12,
                          "%g of %g experts on %g: %.17g after %.17g", experts[i][1], experts[i][0],
                          n, reached, before);
            before = reached;
        }
    }
}

/* Of 32 * 32 scores: 32 * 33 / 2 under the diagonal; a window of 8 has 8 a row, less 8 * 8 / 2 at
   its start. */
CALC_TEST(the_share_of_scores_is_that_of_the_mask)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(1, 1, 1);
    const double triangle = 33.0 / 64, band = (8 * 32 - 32) / 1024.0;
    calc_shape s = shape_of(&app, &exec);
    ck_assert_double_eq(calc_shape_score_share(&s), triangle);
    s.window = 8;
    ck_assert_double_eq(calc_shape_score_share(&s), band);
    s.window = 32; /* a window as long as the sequence is none */
    ck_assert_double_eq(calc_shape_score_share(&s), triangle);
    s.window = 31;
    assert_near(calc_shape_score_share(&s), (31 * 32 - 31 * 31 / 2.0) / 1024);
    s.window = 8;
    s.global_every = 4;
    assert_near(calc_shape_score_share(&s), (triangle + 3 * band) / 4);
    s.global_every = 3; /* the third and the sixth of 8 */
    assert_near(calc_shape_score_share(&s), (2 * triangle + 6 * band) / 8);
    s.global_every = 9;
    assert_near(calc_shape_score_share(&s), band);
    s.global_every = 1;
    ck_assert_double_eq(calc_shape_score_share(&s), triangle);
    s.causal = false;
    ck_assert_double_eq(calc_shape_score_share(&s), 1);
}

/* A window of 8 reaches 4 tokens to each side: of 32 rows the first have 5, 6, 7, 8 of 9, and so
 * do the last. */
CALC_TEST(a_window_without_a_direction_has_two_sides)
{
    calc_app app = modern_app();
    calc_exec exec = modern_exec(1, 1, 1);
    const double band = (32 * 9 - 2 * (4 + 3 + 2 + 1)) / 1024.0;
    calc_shape s = shape_of(&app, &exec);
    s.causal = false;
    s.window = 8;
    assert_near(calc_shape_score_share(&s), band);
    s.global_every = 4;
    assert_near(calc_shape_score_share(&s), (1 + 3 * band) / 4);
    s.global_every = 0;
    s.window = 62; /* reaches from one end to the other */
    assert_near(calc_shape_score_share(&s), 1);
    s.window = 1000;
    assert_near(calc_shape_score_share(&s), 1);
}

/* Of 12 blocks, numbered from 1, those whose number g divides. */
CALC_TEST(one_block_in_so_many_has_no_window)
{
    calc_shape s = {.blocks = 12, .window = 8};
    ck_assert_double_eq(calc_shape_global_share(&s), 0);
    for (int every = 1; every < 15; every++) {
        int global = 0;
        for (int block = 1; block <= 12; block++) {
            global += block % every == 0;
        }
        s.global_every = every;
        ck_assert_double_eq(calc_shape_global_share(&s), global / 12.0);
    }
    s.window = 0;
    ck_assert_double_eq(calc_shape_global_share(&s), 1);
}

CALC_TEST(an_absent_size_is_one)
{
    ck_assert_double_eq(calc_par_size(0), 1);
    ck_assert_double_eq(calc_par_size(1), 1);
    ck_assert_double_eq(calc_par_size(2), 2);
}
