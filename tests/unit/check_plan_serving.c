/* What frameworks are told of serving: tokens of a pass, requests in flight. */
#include "formats/plan.h"

#include "frame.h"

/* Eight requests in flight, each of 100 tokens and 20 answered. */
typedef struct step_case {
    calc_inference_phase phase;
    int64_t chunk, together, drafted;
    double tokens;
} step_case;

static const step_case steps[] = {
    {CALC_INFERENCE_PHASE_SERVE, 64, 0, 0, 8 + 64},
    {CALC_INFERENCE_PHASE_SERVE, 1, 0, 0, 8 + 1},
    {CALC_INFERENCE_PHASE_SERVE, 64, 0, 2, 8 * 3 + 64},
    {CALC_INFERENCE_PHASE_SERVE, 0, 0, 0, 100 + 20}, /* a request, preempted at its end */
    {CALC_INFERENCE_PHASE_SERVE, 0, 1, 0, 100 + 20},
    {CALC_INFERENCE_PHASE_SERVE, 0, 2, 0, 2 * 100},
    {CALC_INFERENCE_PHASE_PREFILL, 64, 0, 0, 64},
    {CALC_INFERENCE_PHASE_PREFILL, 4, 0, 0, 8}, /* a token for every slot */
    {CALC_INFERENCE_PHASE_DECODE, 64, 0, 0, 8},
    {CALC_INFERENCE_PHASE_DECODE, 64, 0, 3, 8 * 4},
};

static calc_plan plan;

static void plan_of(const calc_app *app, const calc_exec *exec)
{
    calc_plan_clear(&plan);
    calc_plan_serve(&plan, app, exec);
}

static calc_exec served(void)
{
    return (calc_exec){.batch_size = 8,
                       .strategy = {.tensor_par = 2, .data_par = 1, .expert_par = 1},
                       .inference = {.phase = CALC_INFERENCE_PHASE_SERVE,
                                     .prompt_size = 100,
                                     .generate_size = 20,
                                     .chunk_size = 64}};
}

CALC_TEST_LOOP(a_pass_has_a_chunk_beside_the_decoded_tokens_or_whole_prompts, 0,
               sizeof steps / sizeof *steps)
{
    const step_case *c = &steps[_i];
    calc_app app = {.seq_size = 2048, .mtp_blocks = 1};
    calc_exec e = served();
    e.inference.phase = c->phase;
    e.inference.chunk_size = c->chunk;
    e.inference.prefill_batch = c->together;
    e.inference.speculative_tokens = c->drafted;
    plan_of(&app, &e);
    ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_STEP], c->tokens);
    ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_CHUNKED], c->chunk > 0);
    ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_CHUNK], c->chunk > 0 ? (double)c->chunk : -1);
    ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_LENGTH], 120);
    ck_assert(c->drafted > 0 ? plan.value[CALC_PLAN_SERVE_VERIFIED] == (double)c->drafted + 1
                             : isnan(plan.value[CALC_PLAN_SERVE_VERIFIED]));
}

/* Of a replica: what the layout says that it takes, or the requests of all of them. A single
 * request any server takes: NAN, it is not told how many. */
CALC_TEST(slots_are_the_requests_of_a_replica_or_what_the_engine_takes)
{
    static const struct {
        int64_t batch, replicas, most;
        double rate, slots;
    } cases[] = {{8, 1, 0, 0, 8},   {8, 4, 0, 0, 2}, {2, 4, 0, 0, NAN}, {8, 1, 7, 0, 7},
                 {8, 1, 8, 0, 8},   {8, 1, 9, 0, 9}, {8, 1, 1, 0, 1},   {8, 1, 9, 1, 9},
                 {8, 1, 0, 1, 256}, {8, 1, 7, 1, 7}};
    calc_app app = {.seq_size = 2048};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_exec e = served();
        e.batch_size = cases[i].batch;
        e.strategy.data_par = cases[i].replicas;
        e.inference.max_sequences = cases[i].most;
        e.inference.arrival_rate = cases[i].rate;
        plan_of(&app, &e);
        const double told[] = {plan.value[CALC_PLAN_SERVE_SLOTS],
                               plan.value[CALC_PLAN_SERVE_ALL_SLOTS]};
        for (int k = 0; k < 2; k++) {
            ck_assert(isnan(cases[i].slots) ? isnan(told[k]) : told[k] == cases[i].slots);
        }
    }
}

/* 4 replicas on 2 ranks each, whose experts are split over all 8. */
CALC_TEST(replicas_that_share_experts_are_one_server)
{
    calc_app app = {.seq_size = 2048, .num_experts = 16};
    calc_exec e = served();
    e.strategy.data_par = 4;
    e.strategy.expert_par = 8;
    e.strategy.expert_tensor_par = 1;
    for (int shared = 0; shared < 2; shared++) {
        e.strategy.expert_par = shared ? 8 : 2;
        plan_of(&app, &e);
        int64_t together = shared ? 4 : 1;
        ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_TOGETHER], shared);
        ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_SLOTS], 2);
        ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_ALL_SLOTS], 2 * (double)together);
        ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_CHUNK], 64 * (double)together);
        ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_RANKS], 2 * (double)together);
        ck_assert_double_eq(plan.value[CALC_PLAN_SERVE_EXPERTS], 1);
    }
}

CALC_TEST(training_has_nothing_to_serve)
{
    calc_app app = {.seq_size = 2048};
    calc_exec e = served();
    e.training = true;
    plan_of(&app, &e);
    ck_assert(isnan(plan.value[CALC_PLAN_SERVE_STEP]));
    e.training = false;
    e.inference.phase = CALC_INFERENCE_PHASE_NONE;
    plan_of(&app, &e);
    ck_assert(isnan(plan.value[CALC_PLAN_SERVE_STEP]));
}

/* ---- Read ------------------------------------------------------------------------------------ */

/* What a plan says, NAN: nothing, and the chunk that follows. */
typedef struct chunk_case {
    double slots, step, chunked, chunk, drafted;
    int64_t want;
} chunk_case;

static const chunk_case chunks[] = {
    {8, 72, 1, NAN, 0, 64}, /* of the step, without the decoded tokens */
    {8, 72, 1, NAN, 2, 72 - 8 * 3}, {8, 10, 1, NAN, 0, 2}, {8, 9, 1, NAN, 0, 1},
    {8, 8, 1, NAN, 0, 1}, /* some token at least */
    {8, 72, 0, NAN, 0, 0},          {8, 72, 0, 32, 0, 32}, {8, 72, 1, 0, 0, 0},
};

CALC_TEST_LOOP(a_chunk_is_what_a_step_has_beside_the_decoded_tokens, 0,
               sizeof chunks / sizeof *chunks)
{
    const chunk_case *c = &chunks[_i];
    calc_exec e = served();
    e.strategy.data_par = 3;
    e.training = true;
    calc_plan_clear(&plan);
    plan.value[CALC_PLAN_SERVE_SLOTS] = c->slots;
    plan.value[CALC_PLAN_SERVE_STEP] = c->step;
    plan.value[CALC_PLAN_SERVE_CHUNKED] = c->chunked;
    plan.value[CALC_PLAN_SERVE_CHUNK] = c->chunk;
    plan.value[CALC_PLAN_SERVE_PREDICTED] = c->drafted;
    calc_plan_serve_apply(&plan, &e);
    ck_assert_int_eq(e.inference.chunk_size, c->want);
    ck_assert_int_eq(e.inference.phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert_int_eq(e.inference.max_sequences, 8);
    ck_assert_int_eq(e.batch_size, 3 * 8);
    ck_assert_int_eq(e.inference.speculative_tokens, (int64_t)c->drafted);
    ck_assert(!e.training);
}

/* Weights and how they are multiplied: as the plan calls them, and as they are stored. */
CALC_TEST(weights_are_as_narrow_as_a_plan_says)
{
    static const struct {
        int narrow;
        calc_format weights, products;
    } cases[] = {{0, CALC_FORMAT_BFLOAT16, CALC_FORMAT_BFLOAT16},
                 {CALC_PLAN_NARROW_8, CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT8},
                 {CALC_PLAN_NARROW_4, CALC_FORMAT_FLOAT4, CALC_FORMAT_FLOAT4},
                 {CALC_PLAN_NARROW_4_STORED, CALC_FORMAT_FLOAT4, CALC_FORMAT_BFLOAT16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_exec e = served();
        e.strategy.weight_datatype = e.strategy.matrix_datatype = CALC_FORMAT_BFLOAT16;
        calc_plan_clear(&plan);
        plan.value[CALC_PLAN_NARROW] = cases[i].narrow;
        plan.value[CALC_PLAN_SERVE_PAGE] = 1;
        calc_plan_serve_apply(&plan, &e);
        ck_assert_int_eq(e.strategy.weight_datatype, cases[i].weights);
        ck_assert_int_eq(e.strategy.matrix_datatype, cases[i].products);
        ck_assert_int_eq(e.strategy.scaling == CALC_SCALING_BLOCK,
                         cases[i].narrow == CALC_PLAN_NARROW_4);
        /* Nothing said: any number of requests, whole prompts, the whole memory. */
        ck_assert_int_eq(e.inference.max_sequences, 0);
        ck_assert_int_eq(e.batch_size, 1);
        ck_assert_int_eq(e.inference.chunk_size, 0);
        ck_assert_int_eq(e.inference.page_size, 0);
        ck_assert_double_eq(e.inference.memory_share, 0);
    }
}
