#include "rl/rollout.h"

#include <math.h>
#include <stdlib.h>

#include "base/make.h"
#include "gauss/process.h"
#include "model/operators/parameters.h"
#include "model/serve/inference.h"
#include "spec/format.h"
#include "spec/rules.h"

/* E[min(X, cap)^power] of a log-normal X. */
static double moment(double log_mean, double deviation, double cap, int power)
{
    double shift = power * deviation * deviation;
    double whole = exp(power * (log_mean + shift / 2));
    if (isinf(cap)) {
        return whole;
    }
    double below = calc_normal_below((log(cap) - log_mean - shift) / deviation);
    double above = 1 - calc_normal_below((log(cap) - log_mean) / deviation);
    return whole * below + pow(cap, power) * above;
}

calc_rl_lengths calc_rl_lengths_of(const calc_job_response *response)
{
    enum { HALVINGS = 100 };
    calc_rl_lengths l = {.mean = response->mean,
                         .log_deviation = sqrt(log1p(response->cv * response->cv)),
                         .cap = response->cap > 0 ? (double)response->cap : INFINITY,
                         .at_cap = response->share_at_cap};
    if (l.log_deviation == 0) { /* all that do not reach the cap are equally long */
        double rest = l.at_cap > 0 ? l.mean - l.at_cap * l.cap : l.mean;
        l.log_mean = log(fmax(1, rest / (1 - l.at_cap)));
    }
    double low = log(response->mean) - 60, high = log(response->mean) + 60;
    for (int i = 0; i < HALVINGS && l.log_deviation > 0; i++) {
        l.log_mean = (low + high) / 2;
        double cut = moment(l.log_mean, l.log_deviation, l.cap, 1);
        double mean = l.at_cap > 0 ? (1 - l.at_cap) * cut + l.at_cap * l.cap : cut;
        *(mean < l.mean ? &low : &high) = l.log_mean;
    }
    return l;
}

double calc_rl_lengths_quantile(const calc_rl_lengths *l, double share)
{
    if (l->at_cap > 0 && share >= 1 - l->at_cap) {
        return l->cap;
    }
    if (l->log_deviation == 0) {
        return l->at_cap > 0 ? exp(l->log_mean) : l->mean;
    }
    double normal = calc_normal_quantile(share / (1 - l->at_cap));
    return fmin(l->cap, fmax(1, exp(l->log_mean + l->log_deviation * normal)));
}

double calc_rl_lengths_longest(const calc_rl_lengths *l, double count)
{
    return calc_rl_lengths_quantile(l, exp(-0.57721566 / fmax(1, count)));
}

double calc_rl_lengths_attended(const calc_rl_lengths *l, double prompt)
{
    if (l->log_deviation == 0 && l->at_cap == 0) {
        return prompt + l->mean;
    }
    double square = l->log_deviation == 0 ? exp(2 * l->log_mean)
                                          : moment(l->log_mean, l->log_deviation, l->cap, 2);
    square = l->at_cap > 0 ? (1 - l->at_cap) * square + l->at_cap * l->cap * l->cap : square;
    return (prompt * prompt + 2 * prompt * l->mean + square) / (prompt + l->mean);
}

void calc_rl_lengths_sample(const calc_rl_lengths *l, double *out, size_t count)
{
    double sum = 0, capped = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = calc_rl_lengths_quantile(l, ((double)i + 0.5) / (double)count);
        *(out[i] < l->cap ? &sum : &capped) += out[i];
    }
    double scale = fmax(0, l->mean * (double)count - capped) / sum;
    for (size_t i = 0; i < count && sum > 0; i++) {
        out[i] = out[i] < l->cap ? fmin(l->cap, out[i] * scale) : out[i];
    }
}

enum {
    MOST_REQUESTS = 1 << 11, /* of an engine that are simulated: each stands for several of more */
    PREFILL_TOKENS = 8192    /* of prompts in a pass at least */
};

/* An engine under way. A sequence is known by the iteration that ends it. */
typedef struct engine {
    calc_serving *serving;
    calc_exec exec;
    double prompt;    /* tokens of a sequence before its response */
    double alike;     /* sequences that one stands for */
    double at;        /* iterations so far */
    double begun_sum; /* of running sequences, the iterations they began at */
    size_t running;
    struct {
        double end, begun;
    } * heap; /* the first to end is the first */
    double time_s;
} engine;

static calc_exec serving_exec(const calc_exec *exec, calc_inference_phase phase, double sequences,
                              double prompt, double generate)
{
    calc_exec e = *exec;
    e.training = false;
    e.inference.phase = phase;
    e.inference.batch = (int64_t)ceil(sequences) * e.strategy.data_par;
    e.inference.prompt_size = (int64_t)fmax(1, round(prompt));
    e.inference.generate_size = (int64_t)round(generate);
    return e;
}

/* A decoding step of `sequences` that have cached so many tokens in the mean [s]. */
static double step_s(engine *g, double sequences, double cached)
{
    g->exec = serving_exec(&g->exec, CALC_INFERENCE_PHASE_DECODE, sequences, cached, 0);
    calc_serving_at(g->serving, &g->exec);
    return g->serving->total_s;
}

/* ---- The heap of running sequences ----------------------------------------------------------- */

static void swap(engine *g, size_t a, size_t b)
{
    double end = g->heap[a].end, begun = g->heap[a].begun;
    g->heap[a] = g->heap[b];
    g->heap[b].end = end;
    g->heap[b].begun = begun;
}

static void begin(engine *g, double iterations)
{
    size_t i = g->running++;
    g->heap[i].end = g->at + iterations;
    g->heap[i].begun = g->at;
    g->begun_sum += g->at;
    for (; i > 0 && g->heap[(i - 1) / 2].end > g->heap[i].end; i = (i - 1) / 2) {
        swap(g, i, (i - 1) / 2);
    }
}

static void end_first(engine *g)
{
    size_t i = 0;
    g->begun_sum -= g->heap[0].begun;
    swap(g, 0, --g->running);
    for (;;) {
        size_t child = 2 * i + 1;
        child += child + 1 < g->running && g->heap[child + 1].end < g->heap[child].end;
        if (child >= g->running || g->heap[child].end >= g->heap[i].end) {
            return;
        }
        swap(g, i, child);
        i = child;
    }
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Advance to the next completion. A step grows with the cache; pieces are short enough for the
 * middle of each to stand for it. */
static void advance(engine *g, double tokens_per_step)
{
    double until = g->heap[0].end, running = (double)g->running;
    while (g->at < until) {
        double age = tokens_per_step * (g->at - g->begun_sum / running);
        double most = fmax(16, (g->prompt + age) / (8 * tokens_per_step));
        double piece = fmin(until - g->at, most);
        double middle = g->prompt + age + tokens_per_step * fmax(0, piece - 1) / 2;
        g->time_s += piece * step_s(g, running * g->alike, middle);
        g->at = piece < most ? until : g->at + piece;
    }
}

/* An odd number near 0.618 of them that has no divisor in common with it, so that steps of it visit
 * all. */
static size_t stride_of(size_t count)
{
    size_t stride = (size_t)(0.618 * (double)count) | 1;
    while (calc_gcd((int64_t)stride, (int64_t)count) != 1) {
        stride += 2;
    }
    return stride;
}

/* Run requests of these lengths on so many slots.
 * @param length  in ascending order */
static void run(engine *g, const double *length, size_t count, size_t slots, double stop_share,
                calc_rl_rollout *out)
{
    double per_step = g->serving->tokens_per_step;
    size_t stride = stride_of(count), admitted = 0, done = 0;
    size_t stop = (size_t)ceil(stop_share * (double)count - 1e-9), most = 0;
    while (done < stop) {
        while (g->running < slots && admitted < count) {
            size_t i = slots >= count ? admitted : (admitted * stride) % count;
            begin(g, length[i] / per_step);
            admitted++;
        }
        most = g->running > most ? g->running : most;
        double before_s = g->time_s;
        bool tail = (double)g->running < 0.1 * (double)most;
        advance(g, per_step);
        out->tail_s += tail ? g->time_s - before_s : 0;
        while (g->running > 0 && g->heap[0].end <= g->at) {
            end_first(g);
            done++;
        }
    }
    out->running = (double)most * g->alike;
    out->iterations = g->at;
}

/* Prompts of an engine, read in passes of several [s]. */
static double prefill_s(engine *g, double prompts, double prompt)
{
    calc_exec e = serving_exec(&g->exec, CALC_INFERENCE_PHASE_PREFILL, prompts, prompt, 0);
    double chunk = fmax((double)e.inference.chunk_size, PREFILL_TOKENS);
    e.inference.chunk_size = 0;
    e.inference.prefill_batch = (int64_t)fmin(ceil(prompts), fmax(1, floor(chunk / prompt)));
    calc_serving_at(g->serving, &e);
    double time_s = g->serving->total_s;
    g->serving->exec = NULL;
    return time_s;
}

/* Memory, and the room for the cache, of sequences of full length. */
static void put_memory(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       const calc_rl_ask *ask, calc_rl_rollout *out)
{
    calc_stats stats;
    calc_exec e =
        serving_exec(exec, CALC_INFERENCE_PHASE_DECODE, 1, ask->prompt, ask->lengths.mean);
    out->fits = calc_run(app, system, &e, CALC_COMPAT_NONE, &stats) == CALC_VERDICT_OK &&
                stats.max_batch >= (double)e.strategy.data_par;
    out->cache_tokens = stats.kv_capacity_tokens;
    /* What the engine leaves alone counts as reserve there. */
    e.inference.memory_share = 0;
    e.inference.engine = (calc_serving_engine){0};
    (void)calc_run(app, system, &e, CALC_COMPAT_NONE, &stats);
    out->kept_bytes = stats.weight_space;
    out->other_bytes = stats.proc_mem_tier1_cap_req - stats.weight_space - stats.kv_cache_space;
    out->cache_bytes = stats.kv_cache_space / (ask->prompt + ask->lengths.mean) * out->cache_tokens;
}

static void evaluate(engine *g, const calc_rl_ask *ask, double *length, calc_rl_rollout *out)
{
    size_t n = (size_t)fmin(out->requests, MOST_REQUESTS);
    g->alike = out->requests / (double)n;
    size_t slots = (size_t)fmax(1, fmin(floor(out->running / g->alike), (double)n));
    calc_rl_lengths_sample(&ask->lengths, length, n);
    length[n - 1] = fmax(length[n - 1], out->longest);
    out->prefill_s = prefill_s(g, fmax(1, ceil(out->requests / ask->samples)), ask->prompt);
    double one_s = step_s(g, 1, ask->prompt + out->longest / 2);
    double middle = ask->prompt + calc_rl_lengths_attended(&ask->lengths, 0) / 2;
    double per_step = g->serving->tokens_per_step;
    double most = fmin(out->running, out->requests * ask->ahead);
    out->floor_s = one_s * out->longest / per_step;
    out->deviation_s = one_s / per_step *
                       (calc_rl_lengths_quantile(&ask->lengths, pow(0.8413, 1 / ask->sequences)) -
                        calc_rl_lengths_quantile(&ask->lengths, pow(0.1587, 1 / ask->sequences))) /
                       2;
    out->step_s = step_s(g, most, middle);
    out->full_s =
        out->prefill_s + out->requests * ask->lengths.mean / (most * per_step) * out->step_s;
    run(g, length, n, slots, ask->stop_share, out);
    out->running = ask->ahead > 1 ? most : out->running;
    out->time_s = g->time_s + out->prefill_s;
}

void calc_rl_rollout_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                        const calc_rl_ask *ask, calc_rl_rollout *out)
{
    *out = (calc_rl_rollout){.engines = ask->copies * (double)exec->strategy.data_par};
    out->requests = ceil(ask->sequences / out->engines / ask->stop_share);
    out->longest = calc_rl_lengths_longest(&ask->lengths, ask->sequences);
    put_memory(app, system, exec, ask, out);
    if (!out->fits) {
        return;
    }
    /* Sequences that run at once: those that are under way are in the middle of their responses,
     * and long ones stay longer. */
    double held = ask->prompt / ask->samples + calc_rl_lengths_attended(&ask->lengths, 0) / 2;
    double most = (double)exec->inference.max_sequences;
    out->running = fmax(1, floor(out->cache_tokens / held));
    out->running = most > 0 ? fmin(most, out->running) : out->running;
    size_t count = (size_t)fmin(out->requests, MOST_REQUESTS);
    engine g = {.exec = serving_exec(exec, CALC_INFERENCE_PHASE_DECODE, 1, ask->prompt, 0),
                .prompt = ask->prompt,
                .serving = calc_make(1, sizeof *g.serving),
                .heap = calc_make(count, sizeof *g.heap)};
    double *length = calc_make(count, sizeof *length);
    calc_serving_init(g.serving, app, system, &g.exec);
    calc_serving_at(g.serving, &g.exec);
    evaluate(&g, ask, length, out);
    double full = out->running * (ask->prompt + ask->lengths.mean);
    out->used_bytes = out->cache_bytes * fmin(1, full / out->cache_tokens);
    free(length);
    free(g.serving);
    free(g.heap);
}

/* Without gradients nothing is kept, recomputed, reduced or moved for them. */
static void drop_backward(calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s->recompute_modules = 0;
    s->recompute_group = 0;
    s->distribute_saved_activations = false;
    s->data_par_overlap = false;
    s->seq_par_ag_redo = false;
    s->activations_offload = s->optimizer_offload = s->grad_offload = false;
    s->offload_modules = 0;
    s->delayed_wgrad = false;
    if (s->trained != CALC_TRAINED_ALL) { /* its format is that of trained weights */
        s->weight_datatype = CALC_FORMAT_AUTO;
    }
    s->trained = CALC_TRAINED_ALL;
    s->trained_blocks = 0;
    e->recompute_blocks = 0;
    e->deferred_head_wgrad = 0;
    e->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
}

calc_exec calc_rl_pass_exec(const calc_exec *exec, const calc_rl_tokens *tokens, double sequences,
                            int64_t micro_tokens, bool training)
{
    calc_exec e = *exec;
    double whole = tokens->prompt + tokens->lengths.mean;
    double attended = calc_rl_lengths_attended(&tokens->lengths, tokens->prompt);
    e.seq_size = (int64_t)round(attended);
    if (micro_tokens > 0) {
        e.microbatch_size = (int64_t)fmax(1, floor((double)micro_tokens / attended));
    }
    /* Ranks that split tokens have equal parts, of context parallelism from both ends. */
    int64_t cp = e.strategy.context_par > 1 ? 2 * e.strategy.context_par : 1;
    bool splits = e.strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR || cp > 1;
    int64_t part = cp * (splits ? e.strategy.tensor_par : 1);
    if (e.seq_size % cp != 0 || e.microbatch_size * e.seq_size % part != 0) {
        e.seq_size = (int64_t)fmax(1, round(attended / (double)part)) * part;
    }
    double each = (double)(e.microbatch_size * e.strategy.data_par);
    each *= e.pipeline_interleaving > 1 ? (double)e.pipeline_par : 1; /* in rounds of the stages */
    double packs = ceil(sequences * whole / (double)e.seq_size / each - 1e-9);
    e.batch_size = (int64_t)(fmax(1, packs) * each);
    e.training = training;
    if (!training) {
        drop_backward(&e);
    }
    e.inference.phase = CALC_INFERENCE_PHASE_NONE;
    return e;
}

double calc_rl_tensors(const calc_app *app, const calc_exec *exec)
{
    calc_strategy whole = exec->strategy;
    double dense, expert;
    whole.expert_par = 1; /* other splits leave a part of each tensor */
    const calc_shape shape = calc_shape_of(app, &whole, 1, exec->seq_size);
    calc_parameters_tensors(&shape, 1, &dense, &expert);
    return dense + expert;
}

double calc_rl_weight_bytes(const calc_app *app, const calc_exec *exec, calc_format format)
{
    calc_parameters p;
    calc_count_parameters(app, &p);
    double stored =
        calc_format_weight_bytes(&exec->strategy, calc_datatype_bytes(exec->strategy.datatype));
    return p.total * calc_format_bytes_or(format, stored);
}
