/* Answers of replicas: what is kept of them, and what layouts with others of them make of it. */
#include "serve.h"

#include "frame.h"
#include "small_case.h"

static calc_replicas replicas;
static calc_sweep_options options;
static calc_constraint condition[12];
static calc_system sys;

static void ask(const char *objective, const char *top_by)
{
    options = (calc_sweep_options){.objectives = 1, .top = 1, .constraint = condition};
    ck_assert_int_eq(calc_objective_parse(&options.objective[0], objective, NULL), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.top_by, top_by, NULL), CALC_OK);
}

static void ask_for(const char *text)
{
    ck_assert_int_eq(calc_constraint_parse(&condition[options.constraints++], text, NULL), CALC_OK);
}

static void begin(void)
{
    sys = small_system();
    sys.chip.usd_per_hour = 3.6;
    ck_assert(calc_replicas_init(&replicas, &options));
}

static void end(void)
{
    calc_replicas_free(&replicas);
}

/* The answer of a replica that takes 4 requests in 2 s. */
static calc_serving_flow flow_of(double tpot)
{
    return (calc_serving_flow){.watts = sys.chip.watts,
                               .usd_per_hour = sys.chip.usd_per_hour,
                               .phase = CALC_INFERENCE_PHASE_SERVE,
                               .replicas = 1,
                               .procs = 8,
                               .slots = 4,
                               .round_s = 2,
                               .batch = 4,
                               .prompt = 100,
                               .generate = 50,
                               .tpot = tpot};
}

static calc_replica *find(const calc_replica_key *key)
{
    return calc_replicas_at(&replicas, calc_replicas_place(key), key);
}

CALC_TEST(others_of_it_differ_in_their_throughput)
{
    const calc_replica_key key = {.number = 7, .stages = 2, .batch = 4};
    ask("output_tokens_per_s_per_proc", "ttft");
    ask_for("tpot <= 1");
    ask_for("tensor_par < 8");
    begin();
    ck_assert(replicas.keeps && replicas.shared);
    ck_assert_uint_eq(replicas.asked, 2);
    calc_replica *at = find(&key);
    ck_assert(!at->known);
    calc_stats one = {.verdict = CALC_VERDICT_OK, .ttft = 0.25, .tpot = 0.5, .queue_time = 9};
    calc_serving_flow flow = flow_of(0.5);
    calc_replicas_keep(&replicas, at, &flow, &one);
    ck_assert_ptr_eq(find(&key), at);
    ck_assert(at->known);
    calc_stats three = {.queue_time = 1};
    calc_replicas_put(&replicas, at, 3, 24, &three);
    ck_assert_int_eq(three.verdict, CALC_VERDICT_OK);
    ck_assert_double_eq(three.ttft, 0.25);
    ck_assert_double_eq(three.tpot, 0.5);
    ck_assert_double_eq(three.queue_time, 1); /* nobody asked for it */
    ck_assert_double_eq(three.requests_per_s, 6);
    ck_assert_double_eq(three.output_tokens_per_s, 300);
    ck_assert_double_eq(three.output_tokens_per_s_per_proc, 12.5);
    ck_assert_double_eq(three.tokens_per_s, 900);
    ck_assert_double_eq_tol(three.usd_per_million_output_tokens, 80, 1e-9);
    ck_assert(calc_replicas_know(&replicas, offsetof(calc_stats, ttft)));
    ck_assert(calc_replicas_know(&replicas, offsetof(calc_stats, requests_per_s)));
    ck_assert(!calc_replicas_know(&replicas, offsetof(calc_stats, queue_time)));
    end();
}

CALC_TEST(one_that_does_not_fit_says_so)
{
    const calc_replica_key key = {.number = 7};
    const calc_stats full = {.verdict = CALC_VERDICT_MEM1_CAPACITY};
    ask("ttft", "ttft");
    begin();
    calc_replica *at = find(&key);
    calc_replicas_keep(&replicas, at, NULL, &full);
    calc_stats other = {.ttft = 17};
    calc_replicas_put(&replicas, find(&key), 3, 24, &other);
    ck_assert_int_eq(other.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_double_eq(other.ttft, 17);
    end();
}

/* Every member tells keys apart, though two may fall on one place. */
CALC_TEST(another_key_is_not_known)
{
    calc_replica_key key = {0};
    const calc_stats stats = {.verdict = CALC_VERDICT_OK};
    calc_serving_flow flow = flow_of(1);
    ask("ttft", "ttft");
    begin();
    calc_replicas_keep(&replicas, find(&key), &flow, &stats);
    for (size_t i = 0; i < sizeof key / sizeof(int64_t); i++) {
        calc_replica_key other = key;
        ((int64_t *)(void *)&other)[i] = 1;
        ck_assert(!find(&other)->known);
        /* Where it took the place of the first, that one is not known any more. */
        calc_replica *first = find(&key);
        calc_replicas_keep(&replicas, first, &flow, &stats);
    }
    end();
}

CALC_TEST(what_depends_on_how_many_there_are_is_not_shared)
{
    ask("max_batch", "ttft");
    begin();
    ck_assert(replicas.keeps && !replicas.shared);
    end();
}

CALC_TEST(more_statistics_than_there_is_room_for_are_not_kept)
{
    static const char *const many[] = {
        "ttft < 1",         "ttft_p50 < 1",      "ttft_p99 < 1",
        "queue_time < 1",   "tpot < 1",          "request_time < 1",
        "prefill_time < 1", "total_time < 1",    "decode_step_time < 1",
        "tpot > 0",         "requests_per_s > 1"};
    ask("ttft", "ttft");
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        ask_for(many[i]);
    }
    begin();
    ck_assert(!replicas.keeps);
    end();
    options.constraints = 8; /* of 8 statistics */
    begin();
    ck_assert(replicas.keeps);
    ck_assert_uint_eq(replicas.asked, 8);
    end();
}
