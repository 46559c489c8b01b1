#include "model/serve/inference.h"

#include <string.h>

#include "base/rng.h"
#include "cli/draw/breakdown.h"
#include "frame.h"
#include "serving_case.h"
#include "spec/field.h"

#define PREFILL CALC_INFERENCE_PHASE_PREFILL
#define DECODE CALC_INFERENCE_PHASE_DECODE
#define SERVE CALC_INFERENCE_PHASE_SERVE
#define DISAGGREGATED CALC_INFERENCE_PHASE_DISAGGREGATED

/* A shipped machine, with everything that takes time. */
static calc_system shipped_system(void)
{
    calc_system system;
    char path[512];
    snprintf(path, sizeof path, "%s/systems/h200.json", CALC_DATA_DIR_SOURCE);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, path, NULL), CALC_OK);
    return system;
}

static calc_stats run(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    calc_stats s;
    calc_errors errors = {0};
    calc_status status = calc_check(app, system, exec, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", errors.item[0].pointer, errors.item[0].text);
    calc_run(app, system, exec, CALC_COMPAT_NONE, &s);
    return s;
}

/* Llama 3 70B on H200. */
static calc_stats llama(const calc_exec *exec)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = shipped_system();
    return run(&app, &system, exec);
}

/* ---- Speculation ----------------------------------------------------------------------------- */

CALC_TEST(drafts_give_a_geometric_sum_of_tokens)
{
    ck_assert_double_eq(calc_inference_tokens_per_step(0, 0.9), 1);
    ck_assert_double_eq(calc_inference_tokens_per_step(5, 0), 1);
    ck_assert_double_eq(calc_inference_tokens_per_step(5, 1), 6);
    assert_near(calc_inference_tokens_per_step(3, 0.7), 1 + 0.7 + 0.49 + 0.343);
}

CALC_TEST(rejected_drafts_only_cost)
{
    calc_exec e = serving_exec(DECODE, 8, 1, 1, 16);
    calc_stats plain = llama(&e);
    e.inference.speculative_tokens = 3;
    calc_stats never = llama(&e);
    e.inference.speculative_accept = 0.8;
    calc_stats often = llama(&e);
    e.inference.speculative_cost = 0.1;
    calc_stats drafted = llama(&e);
    ck_assert_double_eq(never.tokens_per_step, 1);
    ck_assert_double_gt(never.tpot, plain.tpot);
    assert_near(often.tokens_per_step, 1 + 0.8 + 0.64 + 0.512);
    ck_assert_double_eq(often.decode_step_time, never.decode_step_time);
    assert_near(often.tpot, often.decode_step_time / often.tokens_per_step);
    ck_assert_double_lt(often.tpot, plain.tpot);
    assert_near(drafted.decode_step_time,
                often.decode_step_time + 3 * 0.1 * plain.decode_step_time);
}

/* DeepSeek-V3 drafts with its own prediction block: one of 61 blocks more, and the head. */
CALC_TEST(a_prediction_block_drafts_for_about_a_block_and_a_head)
{
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = shipped_system();
    calc_exec e = serving_exec(DECODE, 1, 1, 32, 32 * 16);
    e.strategy.expert_par = 32;
    calc_stats plain = run(&app, &system, &e);
    e.inference.speculative_tokens = 1;
    e.inference.speculative_accept = 0.85;
    calc_stats own = run(&app, &system, &e);
    app.mtp_blocks = 0;
    calc_stats lookup = run(&app, &system, &e);
    double drafting_s = own.decode_step_time - lookup.decode_step_time;
    double block_s = plain.decode_step_time / 61;
    ck_assert_double_gt(drafting_s, block_s);
    ck_assert_double_lt(drafting_s, 3 * block_s);
    ck_assert_double_gt(own.weight_space, lookup.weight_space);
    ck_assert_double_gt(own.kv_cache_space, lookup.kv_cache_space);
    ck_assert_double_eq(plain.kv_bytes_per_token, 70272);
    ck_assert_double_lt(own.tpot, plain.tpot);
}

/* ---- Prefill --------------------------------------------------------------------------------- */

static calc_prefill prefill_of(const calc_app *app, const calc_exec *e, double prompts,
                               double fresh, double cached, double chunk)
{
    static calc_inference_pass_model model;
    calc_system system = memory_bound_system();
    calc_prefill p;
    calc_inference_pass_model_init(&model, app, &system, e);
    calc_inference_prefill_of(&model, prompts, fresh, cached, chunk, &p);
    return p;
}

static double prefill_flop(const calc_prefill *p)
{
    return p->chunks * p->chunk.flop + p->last.flop;
}

/* Whatever the chunks, the same pairs and matrices; 1000 = 7 x 128 + 104. */
CALC_TEST(chunks_do_the_arithmetic_of_the_whole_prompt)
{
    calc_app app = shipped_app("llama3-70B");
    calc_exec e = serving_exec(PREFILL, 1, 1, 1, 1);
    for (double cached = 0; cached <= 500; cached += 500) {
        calc_prefill whole = prefill_of(&app, &e, 1, 1000, cached, 1000);
        ck_assert_double_eq(whole.chunks, 0);
        const double sizes[] = {1, 100, 128, 500, 999};
        const double counts[] = {999, 9, 7, 1, 1};
        for (int i = 0; i < 5; i++) {
            calc_prefill p = prefill_of(&app, &e, 1, 1000, cached, sizes[i]);
            ck_assert_double_eq(p.chunks, counts[i]);
            ck_assert_double_eq_tol(prefill_flop(&p), prefill_flop(&whole),
                                    1e-12 * prefill_flop(&whole));
            ck_assert_double_gt(p.latency_s, whole.latency_s);
        }
    }
}

/* Chunks follow one another through the stages. */
CALC_TEST(chunks_fill_the_pipeline)
{
    calc_app app = shipped_app("llama3-70B");
    calc_exec e = serving_exec(PREFILL, 1, 4, 1, 4);
    calc_prefill p = prefill_of(&app, &e, 1, 1024, 0, 256);
    ck_assert_double_eq(p.chunks, 3);
    assert_near(p.latency_s, 3 * p.chunk.slow.total_s + p.last.latency_s);
    assert_near(p.busy_s, 3 * p.chunk.slow.total_s + p.last.slow.total_s);
    ck_assert_double_gt(p.latency_s, 1.2 * p.busy_s);
}

CALC_TEST(cached_prefixes_shorten_the_prefill)
{
    calc_exec e = serving_exec(PREFILL, 8, 1, 1, 1);
    e.inference.prompt_size = 4096;
    calc_stats cold = llama(&e);
    e.inference.prefix_hit = 0.5;
    calc_stats warm = llama(&e);
    ck_assert_double_lt(warm.ttft, 0.6 * cold.ttft);
    ck_assert_double_gt(warm.ttft, 0.45 * cold.ttft);
    ck_assert_double_eq(warm.kv_cache_space, cold.kv_cache_space);
    /* Whole pages only: half of 4,096 is no page of 4,096. */
    e.inference.page_size = 4096;
    ck_assert_double_eq(llama(&e).ttft, cold.ttft);
    /* One token at least is new, or there would be no first one. */
    e.inference.page_size = 0;
    e.inference.prefix_hit = 0.99999;
    ck_assert_double_gt(llama(&e).ttft, 0);
}

/* 8 prompts, 2 at a time, on 2 replicas: 2 passes each. */
CALC_TEST(a_batch_of_prompts_is_as_many_passes_as_it_needs)
{
    calc_exec e = serving_exec(PREFILL, 4, 1, 2, 8);
    e.inference.prefill_batch = 2;
    calc_stats s = llama(&e);
    assert_near(s.total_time, 2 * s.ttft);
    assert_near(s.requests_per_s, 8 / s.total_time);
    assert_near(s.tokens_per_s, 8 * 1024 / s.total_time);
    assert_near(s.output_tokens_per_s, s.requests_per_s);
    ck_assert(isnan(s.tpot) && isnan(s.decode_step_time) && isnan(s.request_time));
}

/* ---- Decoding -------------------------------------------------------------------------------- */

CALC_TEST(throughput_is_the_batch_over_the_time_per_token)
{
    calc_exec e = serving_exec(DECODE, 4, 1, 2, 64);
    calc_stats s = llama(&e);
    assert_near(s.output_tokens_per_s, 64 / s.tpot);
    assert_near(s.output_tokens_per_s_per_proc, s.output_tokens_per_s / 8);
    assert_near(s.tokens_per_s_per_user, 1 / s.tpot);
    assert_near(s.requests_per_s, s.output_tokens_per_s / 512);
    ck_assert_double_eq(s.decode_sequences, 64);
    ck_assert_double_eq(s.total_time, s.decode_step_time);
    ck_assert(isnan(s.ttft) && isnan(s.prefill_time) && isnan(s.request_time));
    assert_near(s.energy_per_token, 700 * 8 / s.output_tokens_per_s);
    e.inference.batch = 32;
    ck_assert_double_eq(llama(&e).decode_sequences, 32);
}

/* 80 blocks of 13 kernels (two norms, four products, positions, attention, an activation, two
 * sums of ranks, two residuals) that the host issues in 100 us each take 104 ms, though the
 * processor needs less; in 2 us each they are issued before the processor has done them. */
CALC_TEST(without_graphs_a_step_takes_what_issuing_its_kernels_takes)
{
    calc_exec e = serving_exec(DECODE, 4, 1, 2, 64);
    e.inference.traits.issue_s = 1e-4;
    double graphs_s = llama(&e).decode_step_time;
    ck_assert_double_lt(graphs_s, 0.1);
    e.inference.traits.eager = true;
    assert_near(llama(&e).decode_step_time, 80 * 13 * 1e-4);
    e.inference.traits.issue_s = 2e-6;
    assert_near(llama(&e).decode_step_time, graphs_s);
}

CALC_TEST(larger_batches_and_contexts_are_slower_per_token)
{
    calc_exec e = serving_exec(DECODE, 8, 1, 1, 1);
    calc_stats before = llama(&e);
    for (int64_t batch = 2; batch <= 256; batch *= 2) {
        e.batch_size = batch;
        calc_stats s = llama(&e);
        ck_assert_double_gt(s.tpot, before.tpot);
        ck_assert_double_gt(s.output_tokens_per_s, before.output_tokens_per_s);
        before = s;
    }
    e.inference.prompt_size = 8192;
    ck_assert_double_gt(llama(&e).tpot, before.tpot);
}

/* A pipeline of 4 holds 4 micro-batches: a step passes all stages while they take turns. */
CALC_TEST(stages_decode_micro_batches_in_turns)
{
    calc_exec e = serving_exec(DECODE, 1, 4, 1, 64);
    calc_stats s = llama(&e);
    ck_assert_double_eq(s.num_microbatches, 4);
    /* One sequence has nobody to take turns with. */
    e.batch_size = 1;
    calc_stats one = llama(&e);
    ck_assert_double_eq(one.num_microbatches, 1);
    ck_assert_double_gt(one.bubble_time, 0.7 * one.total_time);
    ck_assert_double_lt(s.bubble_time, 0.1 * s.total_time);
    e.inference.traits.gap_s = 1;
    assert_near(llama(&e).tpot, one.tpot + 1);
}

/* ---- Serving --------------------------------------------------------------------------------- */

/* Each of 32 requests is decoded in 511 steps, waits for one and is prefilled in two chunks of 512,
   beside 31 others: 32 / 514 prompts a step. As all take as long, none comes while another is
   prefilled. One sees the chunks of those that come while it is prefilled and decoded, but for one
   step's. */
CALC_TEST(a_share_of_the_steps_carries_a_chunk)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 32);
    e.inference.chunk_size = 512;
    calc_stats s = llama(&e);
    calc_app app = shipped_app("llama3-70B");
    calc_system system = shipped_system();
    static calc_serving r;
    calc_serving_of(&app, &system, &e, &r);
    double per_step = 32 / 514.0;
    assert_near(r.sequences, 511 * per_step);
    assert_near(r.mixed_share, per_step * 31 / 32 * 1024 / 512 * (1 - 1 / 511.0) * (1 + 2 / 511.0));
    assert_near(r.step_s, r.mixed_share * r.mixed_s + (1 - r.mixed_share) * r.plain_s);
    assert_near(s.prefill_time, 2 * r.mixed_s);
    double missed = per_step * 31 / 32 * 1024 / 512; /* as one is added to the others */
    assert_near(s.queue_time, missed * r.mixed_s + (1 - missed) * r.plain_s);
    assert_near(s.ttft, s.queue_time + s.prefill_time);
    assert_near(s.tpot, r.step_s);
    assert_near(s.requests_per_s, 32 / (s.ttft + 511 * r.step_s));
    assert_near(s.output_tokens_per_s, 512 * s.requests_per_s);
    assert_near(s.request_time, s.ttft + 511 * s.tpot);
    assert_near(s.prefill_share, r.mixed_share * r.mixed_s / r.step_s);
    assert_near(s.decode_sequences, r.sequences);
    ck_assert_double_eq(r.running, 32);
}

/* 16 tokens generated per 1,024 read: 32 / 15 prompts a step are more than half of one. The other
   requests wait to be prefilled. */
CALC_TEST(where_prefill_is_the_limit_fewer_are_decoded)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 32);
    e.inference.chunk_size = 512;
    e.inference.generate_size = 16;
    calc_stats s = llama(&e);
    assert_near(s.decode_sequences, 512.0 * 15 / 1024);
    ck_assert_double_eq_tol(s.prefill_share, 1, 0.04);
    /* All prefill, so that every step gives half a prompt, but for what the others see of it. */
    ck_assert_double_eq_tol(s.requests_per_s, 0.5 / s.decode_step_time, 0.02 * s.requests_per_s);
    assert_near(s.ttft, 32 / s.requests_per_s - 15 * s.decode_step_time);
    ck_assert_double_gt(s.queue_time, 20 * s.prefill_time);
}

/* With one request at a time there is one prompt to read, whatever a chunk could hold, nothing to
   wait for, and nothing that is read while it is decoded. */
CALC_TEST(one_request_is_alone)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 1);
    calc_stats whole = llama(&e);
    e.inference.chunk_size = 1024; /* the prompt */
    calc_stats s = llama(&e);
    calc_exec alone = e;
    alone.inference.phase = PREFILL;
    assert_near(whole.ttft, llama(&alone).ttft);
    assert_near(s.ttft, llama(&alone).ttft);
    ck_assert_double_eq(s.queue_time, 0);
    ck_assert_double_eq(s.prefill_share, 0);
    ck_assert_double_eq_tol(whole.tpot, s.tpot, 1e-4 * s.tpot);
    for (int64_t chunk = 1025; chunk < 100000; chunk *= 2) {
        e.inference.chunk_size = chunk;
        calc_stats larger = llama(&e);
        ck_assert_double_eq(larger.ttft, s.ttft);
        ck_assert_double_eq(larger.tpot, s.tpot);
    }
}

/* Prompts of 1,024 tokens that come together in a step share its chunk of 8,192. */
CALC_TEST(a_chunk_takes_the_prompts_of_all_free_slots)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 64);
    calc_app app = shipped_app("llama3-70B");
    calc_system system = shipped_system();
    static calc_serving r;
    static calc_inference_pass mixed;
    e.inference.generate_size = 16;
    e.inference.chunk_size = 8192;
    calc_serving_of(&app, &system, &e, &r);
    double per_step = r.sequences / 15;
    ck_assert_double_gt(per_step, 2);
    assert_near(per_step, 64.0 / (15 + 1 + 1));
    calc_inference_pass_work work = {.sequences = r.sequences * 63 / 64,
                                     .queries = 1,
                                     .context = 1024 + 16 / 2,
                                     .prompts = per_step,
                                     .chunk = 1024,
                                     .finished = per_step};
    calc_inference_pass_of(&r.model, &work, &mixed);
    assert_near(r.mixed_share, 63.0 / 64 * (1 - 1 / 15.0) * (1 + 1 / 15.0));
    assert_near(r.mixed_s, mixed.latency_s);
}

/* Whole prompts stop decoding, so that the mean step has its share of them. */
CALC_TEST(whole_prompts_come_between_the_steps)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 32);
    calc_stats s = llama(&e);
    calc_exec alone = e;
    alone.inference.phase = DECODE;
    calc_stats decode = llama(&alone);
    alone.inference.phase = PREFILL;
    alone.batch_size = 1;
    calc_stats prefill = llama(&alone);
    /* 511 steps, and one that some of them wait for: the others join those who did. */
    double missed = 1 / (2 - exp(-31.0 / 512));
    double per_step = 32 / (511 + missed);
    double met = per_step * 31 / 32 * (1 - 0.5 / 511); /* half of those that came with one */
    double plain_s = s.decode_step_time - met * prefill.ttft;
    assert_near(s.prefill_time, prefill.ttft);
    assert_near(s.prefill_share, 1 - plain_s / s.decode_step_time);
    double before = per_step * 31 / 32 * (0.5 + missed);
    assert_near(s.queue_time, missed * plain_s + before * prefill.ttft);
    assert_near(s.decode_sequences, 511 * per_step);
    ck_assert_double_le(plain_s, decode.tpot);
    ck_assert_double_gt(plain_s, 0.999 * decode.tpot);
}

/* Nearly nothing to read, in one of 256 steps: serving is decoding. */
CALC_TEST(short_prompts_leave_decoding_alone)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 32);
    e.inference.prompt_size = 1;
    e.inference.generate_size = 8192;
    e.inference.chunk_size = 256;
    calc_stats s = llama(&e);
    e.inference.phase = DECODE;
    calc_stats decode = llama(&e);
    ck_assert_double_eq_tol(s.tpot, decode.tpot, 1e-3 * decode.tpot);
}

/* ---- Two pools ------------------------------------------------------------------------------- */

CALC_TEST(the_slower_pool_limits_and_the_cache_is_sent)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = shipped_system();
    calc_exec e = serving_exec(DISAGGREGATED, 8, 1, 1, 64);
    e.inference.prefill_procs = 8;
    calc_stats s = llama(&e);
    calc_exec alone = e;
    alone.inference.prefill_procs = 0;
    alone.inference.phase = DECODE;
    calc_stats decode = llama(&alone);
    alone.inference.phase = PREFILL;
    alone.batch_size = 1;
    calc_stats prefill = llama(&alone);
    assert_near(s.prefill_requests_per_s, 1 / prefill.ttft);
    assert_near(s.decode_requests_per_s, 64 / (511 * decode.tpot));
    /* Those that are prefilled are not decoded meanwhile, and the others faster. */
    ck_assert_double_lt(s.decode_sequences, 64);
    ck_assert_double_lt(s.tpot, decode.tpot);
    ck_assert_double_lt(s.requests_per_s, s.decode_requests_per_s);
    assert_near(s.requests_per_s, s.decode_sequences / (511 * s.tpot));
    assert_near(s.requests_per_s, 64 / (s.ttft + 511 * s.tpot));
    assert_near(s.output_tokens_per_s_per_proc, 512 * s.requests_per_s / 16);
    /* Each of 8 ranks has one head: 512 bytes a token and block, over its own port. */
    const calc_network *net = &system.networks[1];
    double bytes = 80 * 512.0 * 1024;
    double sent_s = bytes / (net->bytes_per_s * net->efficiency);
    ck_assert_double_ge(s.kv_transfer_time, sent_s);
    ck_assert_double_le(s.kv_transfer_time, sent_s + net->latency_s + 2 * net->latency_log2_s);
    assert_near(s.prefill_time, prefill.ttft);
    assert_near(s.ttft, prefill.ttft + s.kv_transfer_time + s.queue_time);
    /* 16 processors are more than a node has, 64 are not. */
    calc_exec placed = e;
    placed.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    placed.strategy.data_par_net = 0;
    ck_assert_double_eq(run(&app, &system, &placed).kv_transfer_time, s.kv_transfer_time);
    system.networks[0].size = 64;
    ck_assert_double_lt(run(&app, &system, &placed).kv_transfer_time, s.kv_transfer_time / 4);
    system.networks[0].size = 8;
    /* Twice the pool takes twice the prompts. */
    e.inference.prefill_procs = 16;
    assert_near(run(&app, &system, &e).prefill_requests_per_s, 2 * s.prefill_requests_per_s);
    /* Pools may be split in other ways. */
    e.inference.prefill_tensor_par = 4;
    calc_stats split = run(&app, &system, &e);
    ck_assert_double_gt(split.prefill_time, s.prefill_time);
    ck_assert_double_gt(split.prefill_requests_per_s, 2 * s.prefill_requests_per_s);
}

CALC_TEST(the_pool_that_needs_more_memory_counts)
{
    calc_exec e = serving_exec(DISAGGREGATED, 8, 1, 1, 8);
    e.inference.prefill_procs = 8;
    double decoding_bytes = llama(&e).proc_mem_tier1_cap_req;
    e.inference.prefill_tensor_par = 2;
    calc_stats s = llama(&e);
    ck_assert_double_gt(s.proc_mem_tier1_cap_req, 2 * decoding_bytes);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_OK);
    e.inference.prefill_tensor_par = 1;
    e.inference.prompt_size = 65536;
    ck_assert_int_eq(llama(&e).verdict, CALC_VERDICT_MEM1_CAPACITY);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The largest batch fits, one more does not. */
CALC_TEST(as_many_sequences_fit_as_it_says)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = shipped_system();
    calc_exec e = serving_exec(DECODE, 8, 1, 1, 1);
    calc_reason reason[CALC_MAX_REASONS];
    e.inference.page_size = 16;
    int64_t most = (int64_t)llama(&e).max_batch;
    ck_assert_int_gt(most, 100);
    /* Activations grow with the batch: a few sequences' worth. */
    int64_t low = most / 2;
    int64_t high = most;
    while (high - low > 1) {
        e.batch_size = (low + high) / 2;
        bool fits = llama(&e).verdict == CALC_VERDICT_OK;
        low = fits ? e.batch_size : low;
        high = fits ? high : e.batch_size;
    }
    e.batch_size = low;
    calc_stats s = llama(&e);
    ck_assert_double_eq(s.max_batch, (double)low);
    ck_assert_int_gt(low, most * 95 / 100);
    e.batch_size = high;
    s = llama(&e);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_uint_eq(calc_reasons(&app, &system, &e, CALC_COMPAT_NONE, &s, reason), 1);
    char hint[256];
    ck_assert_ptr_nonnull(strstr(reason[0].text, "; largest: cached keys and values, "));
    snprintf(hint, sizeof hint,
             "lower the batch to at most %lld, set inference.kv_datatype float8, raise tensor_par "
             "or pipeline_par",
             (long long)s.max_batch);
    ck_assert_str_eq(reason[0].hint, hint);
}

/* A prompt of 1,024 tokens stays for the 512 that are generated, unless it is only read. */
CALC_TEST(the_cache_holds_what_a_request_ends_with)
{
    static const double lengths[][2] = {
        {PREFILL, 1024}, {DECODE, 1536}, {SERVE, 1536}, {DISAGGREGATED, 1536}};
    for (int i = 0; i < 4; i++) {
        calc_exec e = serving_exec((calc_inference_phase)lengths[i][0], 8, 1, 1, 64);
        e.inference.prefill_procs = e.inference.phase == DISAGGREGATED ? 8 : 0;
        ck_assert_double_eq(llama(&e).kv_cache_space, 64 * lengths[i][1] * 512 * 80);
    }
}

/* Tokens are those that are read and those that are generated. */
CALC_TEST(tokens_per_second_are_those_of_the_phase)
{
    calc_exec e = serving_exec(SERVE, 8, 1, 1, 64);
    calc_stats s = llama(&e);
    assert_near(s.tokens_per_s, s.requests_per_s * (1024 + 512));
    assert_near(s.tokens_per_s_per_proc, s.tokens_per_s / 8);
    assert_near(s.output_tokens_per_s, s.requests_per_s * 512);
    e.inference.chunk_size = 256;
    s = llama(&e);
    assert_near(s.tokens_per_s, s.requests_per_s * (1024 + 512));
    e.inference.phase = DISAGGREGATED;
    e.inference.prefill_procs = 8;
    s = llama(&e);
    assert_near(s.tokens_per_s, s.requests_per_s * (1024 + 512));
    assert_near(s.tokens_per_s_per_proc, s.tokens_per_s / 16);
    e = serving_exec(PREFILL, 8, 1, 1, 64);
    s = llama(&e);
    assert_near(s.tokens_per_s, s.requests_per_s * 1024);
    e.inference.phase = DECODE;
    s = llama(&e);
    assert_near(s.tokens_per_s, 64 / s.tpot);
}

/* 70.55e9 parameters over 8 ranks, and 64 sequences of 1,536 tokens of 512 bytes in 80 blocks. */
CALC_TEST(memory_is_weights_and_the_cache_at_its_end)
{
    calc_exec e = serving_exec(DECODE, 8, 1, 1, 64);
    calc_stats s = llama(&e);
    /* Two tables padded from 128,256 to 129,024 words; every rank has all 161 norms. */
    double elements = 70.553706496e9 + 2 * 768 * 8192 + 7 * 161 * 8192;
    assert_near(s.weight_space, elements * 2 / 8);
    ck_assert_double_eq(s.kv_cache_space, 64 * 1536.0 * 512 * 80);
    assert_near(s.mem_allocated,
                s.weight_space + s.kv_cache_space + s.act_grad_space + s.head_space);
    e.inference.kv_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_eq(llama(&e).kv_cache_space, s.kv_cache_space / 2);
    ck_assert_double_eq(llama(&e).kv_bytes_per_token, s.kv_bytes_per_token / 2);
}

/* ---- All of it ------------------------------------------------------------------------------- */

CALC_TEST(what_is_served_has_no_stages_of_one_micro_batch)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = shipped_system();
    calc_exec e = serving_exec(DECODE, 2, 4, 1, 8);
    calc_stage_stats stage[4];
    ck_assert_uint_eq(calc_each_stage(&app, &system, &e, CALC_COMPAT_NONE, stage, 4), 0);
    ck_assert_uint_eq(calc_each_stage(&app, &system, &e, CALC_COMPAT_NONE, NULL, 0), 0);
    e.inference = (calc_inference){0};
    ck_assert_uint_eq(calc_each_stage(&app, &system, &e, CALC_COMPAT_NONE, stage, 4), 4);
}

CALC_TEST(without_inference_nothing_of_it_is_known)
{
    calc_app app = shipped_app("llama3-70B");
    calc_app small = small_app();
    calc_system system = shipped_system();
    calc_system classic = small_system();
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_NONE, 8, 1, 1, 1);
    calc_exec small_e = small_exec(1, 1, 1);
    e.inference = (calc_inference){0};
    const calc_stats all[] = {run(&app, &system, &e), run(&small, &classic, &small_e)};
    for (int i = 0; i < 2; i++) {
        ck_assert(isnan(all[i].ttft) && isnan(all[i].tpot) && isnan(all[i].max_batch));
        ck_assert(isnan(all[i].output_tokens_per_s) && isnan(all[i].kv_bytes_per_token));
        ck_assert_double_eq(all[i].kv_cache_space, 0);
        ck_assert_double_gt(all[i].total_time, 0);
    }
}

static void assert_adds_up(const double *part, size_t count, double whole, const char *what)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(part[i] >= -1e-12 * whole, "%s: part %zu is %g", what, i, part[i]);
        sum += part[i];
    }
    ck_assert_msg(fabs(sum - whole) <= 1e-12 * whole, "%s: %.17g is not %.17g", what, sum, whole);
}

static int64_t pick(calc_rng *rng, int64_t most)
{
    return 1 + calc_rng_below(rng, (uint32_t)most);
}

static calc_exec random_exec(calc_rng *rng, const calc_app *app)
{
    int64_t tensor = (int64_t)1 << calc_rng_below(rng, 4);
    int64_t data = (int64_t)1 << calc_rng_below(rng, 3);
    calc_inference_phase phase = (calc_inference_phase)pick(rng, 4);
    calc_exec e = serving_exec(phase, tensor, pick(rng, 4), data, data * pick(rng, 64));
    if (app->num_experts > 0) {
        e.strategy.expert_par = data;
        e.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
        e.strategy.expert_par_overlap = (calc_expert_par_overlap)calc_rng_below(rng, 3);
    }
    e.strategy.flash_attention = calc_rng_below(rng, 4) > 0;
    e.software_efficiency = calc_rng_below(rng, 2) ? 0.9 : 0;
    e.inference.prompt_size = pick(rng, 8000);
    e.inference.generate_size = 1 + pick(rng, 2000);
    e.inference.chunk_size = calc_rng_below(rng, 2) ? pick(rng, 3000) : 0;
    e.inference.prefill_batch = calc_rng_below(rng, 4);
    e.inference.page_size = calc_rng_below(rng, 64);
    e.inference.prefix_hit = calc_rng_below(rng, 2) ? 0.4 : 0;
    e.inference.kv_datatype = (calc_format)calc_rng_below(rng, CALC_FORMAT_COUNT);
    if (calc_rng_below(rng, 2)) {
        e.inference.speculative_tokens = pick(rng, 4);
        e.inference.speculative_accept = 0.7;
        e.inference.speculative_cost = calc_rng_below(rng, 2) ? 0.05 : 0;
    }
    e.inference.traits.gap_s = calc_rng_below(rng, 2) ? 1e-3 : 0;
    if (e.inference.phase == DISAGGREGATED) {
        e.inference.prefill_procs = tensor * e.pipeline_par * data;
    }
    return e;
}

/* Laws of every phase, on random layouts of four models. */
CALC_TEST(random_layouts_obey_the_laws)
{
    static const char *const names[] = {"llama3-8B", "mixtral-8x7B", "deepseek-v2-lite",
                                        "gemma3-27B"};
    calc_system system = shipped_system();
    calc_system faster = system;
    faster.chip.mem1.bytes_per_s *= 2;
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        faster.chip.matrix[type].flop_per_s *= 2;
    }
    calc_rng rng;
    calc_rng_init(&rng, 20, 7);
    for (int k = 0; k < 400; k++) {
        calc_app app = shipped_app(names[k % 4]);
        calc_exec e = random_exec(&rng, &app);
        calc_errors errors = {0};
        if (calc_check(&app, &system, &e, &errors) != CALC_OK) {
            continue;
        }
        calc_stats a;
        calc_stats b;
        memset(&a, 0x00, sizeof a);
        memset(&b, 0xff, sizeof b);
        calc_run(&app, &system, &e, CALC_COMPAT_NONE, &a);
        calc_run(&app, &system, &e, CALC_COMPAT_NONE, &b);
        const calc_table *table = calc_table_of(CALC_KIND_STATS);
        for (size_t i = 0; i < table->count; i++) {
            size_t at = table->rows[i].offset;
            ck_assert_msg(memcmp((char *)&a + at, (char *)&b + at, sizeof(double)) == 0, "%d: %s",
                          k, table->rows[i].key);
        }
        double time_s[CALC_BREAKDOWN_TIMES];
        double space[CALC_BREAKDOWN_SPACES];
        calc_breakdown_times(&a, time_s);
        calc_breakdown_spaces(&e, &a, 1, space);
        assert_adds_up(time_s, CALC_BREAKDOWN_TIMES, a.total_time, "time");
        assert_adds_up(space, CALC_BREAKDOWN_SPACES, a.proc_mem_tier1_cap_req, "space");
        ck_assert(isfinite(a.total_time) && a.total_time > 0);
        ck_assert(isfinite(a.output_tokens_per_s) && a.output_tokens_per_s > 0);
        ck_assert(a.model_flops_utilization > 0 && a.model_flops_utilization < 1);
        ck_assert_int_eq(a.verdict == CALC_VERDICT_OK,
                         a.proc_mem_tier1_cap_req <= system.chip.mem1.capacity_bytes);
        calc_run(&app, &faster, &e, CALC_COMPAT_NONE, &b);
        ck_assert_double_le(b.total_time, a.total_time);
        ck_assert_double_ge(b.output_tokens_per_s, a.output_tokens_per_s);
    }
}
