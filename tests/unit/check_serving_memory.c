
#include "engines.h"
#include "frame.h"
#include "queue_case.h"

/* Llama 3 70B on two processors: 66 GiB of weights each, the rest for 4,000 tokens a sequence. */
static calc_exec tight(int64_t batch)
{
    calc_exec e = queue_exec(batch, 3000, 1000);
    e.num_procs = 2;
    e.strategy.tensor_par = 2;
    return e;
}

/* Up to its full length nothing changes; what is beyond runs while it is short, and waits then. */
CALC_TEST(as_many_run_as_there_is_room_for_in_the_mean)
{
    calc_exec e = tight(1);
    double most = queue_run(&e).closed.max_batch;
    ck_assert_double_gt(most, 50);
    e.batch_size = (int64_t)most - 2;
    calc_stats fits = queue_run(&e).closed;
    assert_near(fits.kv_cache_space, (most - 2) * 4000 * fits.kv_bytes_per_token / 2);
    ck_assert_double_lt(fits.proc_mem_tier1_cap_req, fits.mem_tier1_capacity);
    e.batch_size = (int64_t)(1.1 * most);
    calc_stats more = queue_run(&e).closed;
    ck_assert_int_eq(more.verdict, CALC_VERDICT_OK);
    ck_assert_double_gt(more.decode_sequences, most);
    ck_assert_double_le(more.proc_mem_tier1_cap_req, more.mem_tier1_capacity);
    ck_assert_double_gt(more.proc_mem_tier1_cap_req, 0.999 * more.mem_tier1_capacity);
    e.batch_size = (int64_t)(3 * most);
    calc_stats full = queue_run(&e).closed;
    ck_assert_int_eq(full.verdict, CALC_VERDICT_OK);
    /* 3,500 tokens each in the mean */
    ck_assert_double_le(full.decode_sequences, 1.01 * most * 4000 / 3500);
    ck_assert_double_gt(full.decode_sequences, 1.1 * most);
    ck_assert_double_gt(full.ttft, 0.5 * full.request_time);
}

/* An engine that reserves what a request may need runs as many as fit at their end. */
CALC_TEST(reserved_requests_run_as_if_each_were_at_its_end)
{
    calc_exec e = tight(1);
    double most = queue_run(&e).closed.max_batch;
    e.batch_size = (int64_t)(3 * most);
    e.inference.engine.reserves = true;
    calc_stats full = queue_run(&e).closed;
    ck_assert_int_eq(full.verdict, CALC_VERDICT_OK);
    ck_assert_double_le(full.decode_sequences, most);
    ck_assert_double_gt(full.decode_sequences, 0.9 * most);
    e.batch_size = (int64_t)most - 2;
    calc_stats few = queue_run(&e).closed;
    e.inference.engine.reserves = false;
    ck_assert_double_eq(queue_run(&e).closed.tpot, few.tpot);
}

CALC_TEST(one_sequence_has_to_fit)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = queue_system();
    calc_exec e = tight(64);
    calc_reason reason[CALC_MAX_REASONS];
    calc_stats s = queue_run(&e).closed;
    e.inference.prompt_size = (int64_t)s.kv_capacity_tokens - 1100;
    ck_assert_int_eq(queue_run(&e).closed.verdict, CALC_VERDICT_OK);
    /* Drawn lengths may be longer than the mean. */
    e.inference.prompt_spread = 0.2;
    ck_assert_int_eq(queue_run(&e).closed.verdict, CALC_VERDICT_MEM1_CAPACITY);
    e.inference.prompt_spread = 0;
    e.inference.prompt_size += 2000;
    s = queue_run(&e).closed;
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_uint_eq(calc_reasons(&app, &system, &e, CALC_COMPAT_NONE, &s, reason), 1);
    ck_assert_ptr_null(strstr(reason[0].hint, "lower the batch"));
    /* What is needed is that one. */
    assert_near(s.kv_cache_space,
                (double)(e.inference.prompt_size + 1000) * s.kv_bytes_per_token / 2);
}

CALC_TEST(a_batch_that_does_not_wait_has_to_fit)
{
    calc_exec e = tight(1);
    double most = queue_run(&e).closed.max_batch;
    e.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    e.inference.chunk_size = 0;
    e.batch_size = (int64_t)(1.1 * most);
    calc_stats s = queue_run(&e).closed;
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    assert_near(s.kv_cache_space, (double)e.batch_size * 4000 * s.kv_bytes_per_token / 2);
}

/* Arrivals in the time of an answer are more than fit. */
CALC_TEST(what_arrives_is_limited_by_memory_too)
{
    calc_exec e = tight(1);
    double most = queue_run(&e).closed.max_batch;
    e.inference.chunk_size = 0;
    e.inference.arrival_rate = 100;
    calc_stats s = queue_run(&e).closed;
    calc_app app = shipped_app("llama3-70B");
    calc_system system = queue_system();
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_int_eq(s.verdict, CALC_VERDICT_OVERLOADED);
    ck_assert(isnan(s.ttft));
    ck_assert_uint_eq(calc_reasons(&app, &system, &e, CALC_COMPAT_NONE, &s, reason), 1);
    ck_assert_ptr_nonnull(strstr(reason[0].text, "100/s arrive"));
    ck_assert_double_lt(s.requests_per_s, 100);
    e.inference.requests = 1000; /* an end: they wait, and are served */
    ck_assert_int_eq(queue_run(&e).closed.verdict, CALC_VERDICT_OK);
    ck_assert_double_le(s.decode_sequences, 1.01 * most * 4000 / 3500);
    ck_assert_double_le(s.proc_mem_tier1_cap_req, s.mem_tier1_capacity);
}

/* What is left of the shares that engines count. */
CALC_TEST(an_engine_takes_its_share_of_the_memory)
{
    calc_exec e = tight(1);
    calc_stats all = queue_run(&e).closed;
    e.inference.memory_share = 0.9; /* without an engine, and as vLLM counts it: of everything */
    calc_stats some = queue_run(&e).closed;
    double less = 0.1 * all.mem_tier1_capacity / (1 + queue_system().chip.mem_fragmentation);
    double token = all.kv_bytes_per_token / 2; /* on one of two ranks */
    ck_assert_double_eq_tol(all.kv_capacity_tokens - some.kv_capacity_tokens, less / token,
                            0.001 * all.kv_capacity_tokens + 2);
    e.inference.memory_share = 0.01;
    ck_assert_int_eq(queue_run(&e).closed.verdict, CALC_VERDICT_MEM1_CAPACITY);
    /* Without one the engine's own is meant. */
    e.inference.memory_share = 0;
    e.inference.engine = shipped_engine("vllm-0.11");
    ck_assert_double_eq_tol(queue_run(&e).closed.kv_capacity_tokens, some.kv_capacity_tokens, 1);
    /* TensorRT-LLM takes 0.9 of what is left. */
    e.inference.engine = shipped_engine("tensorrt_llm-1.2");
    ck_assert_double_eq_tol(queue_run(&e).closed.kv_capacity_tokens, 0.9 * all.kv_capacity_tokens,
                            2);
}
