/* Serving: unit/check_inference.txt, and what takes more than statistics to say. */
#include "model/serve/inference.h"

#include <string.h>

#include "base/rng.h"
#include "cli/draw/breakdown.h"
#include "frame.h"
#include "model_formulas.h"
#include "spec/field.h"

const calc_test_frame calc_tests = {.cases = "unit/check_inference.txt", .answer = formula_answer};

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

/* ---- Prefill --------------------------------------------------------------------------------- */

static calc_prefill prefill_of(const calc_app *app, const calc_exec *e, double prompts,
                               double fresh, double cached, double chunk)
{
    static calc_inference_pass_model of;
    calc_system system = memory_bound_system();
    calc_prefill p;
    calc_inference_pass_model_init(&of, app, &system, e);
    calc_inference_prefill_of(&of, prompts, fresh, cached, chunk, &p);
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

/* ---- Decoding -------------------------------------------------------------------------------- */

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
