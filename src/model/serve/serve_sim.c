/* Requests that are served, one by one and step by step: the reference for the closed forms of
 * batching.c and inference.c. Lengths are drawn, arrivals too; an engine fills its steps with the
 * oldest prompts, up to its slots, its chunk and its pages. If sequences outgrow the memory the
 * youngest is preempted: its cache is dropped and computed again (Kwon et al. 2023, arXiv
 * 2309.06180), on a pool that only decodes without time. One replica stands for all; with two
 * pools as many of each as their ratio needs. Requests are routed to the replica that has fewest.
 * Numbers are random but the same in every run. A run of `requests` is simulated from its first to
 * its last one. A loop without end starts with all slots taken, at random places of their
 * requests, or with arrivals that find it empty; CALC_SERVE_SIM_WARM requests, or one for each
 * slot, go by before any is measured. */

#include <math.h>
#include <string.h>

#include "model/operators/processor.h"
#include "model/serve/inference.h"
#include "model/serve/sim_step.h"
#include "spec/serving_engine.h"

/* With random arrivals, the largest number being decoded already at the start. */
enum { MOST_AT_START = 1 << 14 };

/* ---- The task -------------------------------------------------------------------------------- */

static bool is_apart(const calc_exec *e)
{
    return e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
}

/* Replicas of the prefill pool, those that run in step as one. */
static int64_t pool_workers(const calc_exec *e)
{
    calc_exec pool;
    calc_prefill_pool_of(e, &pool);
    int64_t workers = pool.strategy.data_par / (int64_t)calc_pools_together(&pool);
    return workers > 1 ? workers : 1;
}

/* Replicas that decode of which all are made: all where they hold prompts for one another. */
static int64_t simulated_replicas(const calc_exec *e)
{
    calc_engine_traits engine = calc_serving_engine_traits(&e->inference);
    if (e->inference.hold_steps > 1 && calc_hold_replicas(e, &engine) > 1) {
        return e->strategy.data_par;
    }
    int64_t a = e->strategy.data_par;
    int64_t b = is_apart(e) ? pool_workers(e) : e->strategy.data_par;
    while (b > 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return e->strategy.data_par / a;
}

/* The share of all requests that come to the simulated replicas. */
static double share(const calc_exec *e)
{
    return (double)simulated_replicas(e) / (double)e->strategy.data_par;
}

static double in_flight(const calc_exec *e)
{
    const calc_inference *i = &e->inference;
    double batch = (double)(i->batch > 0 ? i->batch : e->batch_size);
    return calc_max(1, round(batch * share(e)));
}

static double measured_of(const calc_exec *e)
{
    const calc_inference *i = &e->inference;
    double asked = round((double)i->requests * share(e));
    if (asked > 0) {
        return calc_max(asked, i->arrival_rate > 0 ? 1 : in_flight(e));
    }
    return calc_max(CALC_SERVE_SIM_MEASURED, i->arrival_rate > 0 ? 0 : 4 * in_flight(e));
}

/* Those before any is measured. */
static double warm_of(const calc_exec *e)
{
    if (e->inference.requests > 0) {
        return 0;
    }
    return calc_max(CALC_SERVE_SIM_WARM, e->inference.arrival_rate > 0 ? 0 : 2 * in_flight(e));
}

double calc_serve_sim_requests(const calc_exec *e)
{
    /* Those that arrive at random go on arriving while the last ones are measured. */
    double after = e->inference.arrival_rate > 0 ? warm_of(e) : 0;
    return warm_of(e) + measured_of(e) + after;
}

double calc_serve_sim_steps(const calc_exec *e)
{
    const calc_inference *i = &e->inference;
    double together = i->arrival_rate > 0 ? 1 : in_flight(e) / (double)simulated_replicas(e);
    double slots = i->max_sequences > 0 ? calc_min(together, (double)i->max_sequences) : together;
    double chunks = i->chunk_size > 0 ? (double)i->prompt_size / (double)i->chunk_size : 0;
    double each = (double)i->generate_size / calc_max(1, slots) + chunks;
    return calc_serve_sim_requests(e) * each;
}

/* Requests that there are at any time. */
static double population(const calc_exec *e)
{
    bool open = e->inference.arrival_rate > 0;
    return open ? calc_serve_sim_requests(e) + MOST_AT_START : in_flight(e);
}

static size_t streams_of(const calc_exec *e)
{
    size_t pool = is_apart(e) ? (size_t)((double)pool_workers(e) * share(e)) : 0;
    return pool + (size_t)(simulated_replicas(e) * e->pipeline_par);
}

size_t calc_serve_sim_bytes(const calc_exec *e)
{
    return 2 * CALC_STEP_TIMES * sizeof(calc_step_time) +
           (size_t)simulated_replicas(e) * sizeof(calc_sim_server) +
           streams_of(e) * sizeof(calc_sim_stream) +
           (size_t)population(e) * sizeof(calc_sim_request) +
           (size_t)measured_of(e) * sizeof(double);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* The stream whose next pass begins first. */
static calc_sim_stream *first_of(calc_sim_server *v, calc_sim_stream *best, calc_sim_server **of)
{
    for (size_t i = 0; i < v->streams; i++) {
        calc_sim_stream *t = &v->stream[i];
        t->ready_s = v->free_s > t->ready_s ? v->free_s : t->ready_s;
        if (!best || t->ready_s < best->ready_s) {
            best = t;
            *of = v;
        }
    }
    return best;
}

static double exponential(calc_rng *rng)
{
    return -log(1 - calc_rng_real(rng));
}

/* Let all that arrive do so in the time they take in the mean. */
static void set_arrivals(calc_sim *s, double there)
{
    double sum = 0;
    calc_rng_init(&s->gaps, 1, 2);
    calc_rng gaps = s->gaps;
    double count = s->arrivals - there;
    for (size_t i = 0; i < (size_t)count; i++) {
        sum += exponential(&gaps);
    }
    s->apart_s = count / (sum * s->r->arrivals_per_s * (double)s->replicas);
    s->next_s = s->apart_s * exponential(&s->gaps);
}

static void run_events(calc_sim *s)
{
    while (s->done < s->measured) {
        calc_sim_server *of = NULL;
        calc_sim_stream *t = first_of(&s->pool, NULL, &of);
        for (size_t i = 0; i < s->replicas; i++) {
            t = first_of(&s->replica[i], t, &of);
        }
        if (s->next_s <= t->ready_s) {
            calc_sim_arrive(s, &s->request[(size_t)s->issued], s->next_s);
            s->next_s += s->apart_s * exponential(&s->gaps);
            s->next_s = s->issued < s->arrivals ? s->next_s : INFINITY;
        } else {
            calc_sim_run_stream(s, of, t, t->ready_s);
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The next `bytes` of the workspace. */
static void *room_for(char **at, size_t bytes)
{
    void *here = *at;
    *at += bytes;
    return here;
}

static void set_up(calc_sim *s, const calc_serving *r, void *workspace)
{
    const calc_exec *e = r->exec;
    char *at = workspace;
    size_t times = CALC_STEP_TIMES * sizeof(calc_step_time);
    double population_size = population(e);
    size_t streams = streams_of(e);
    memset(workspace, 0, calc_serve_sim_bytes(e));
    s->r = r;
    s->decode_times = (calc_step_times){&r->model, room_for(&at, times)};
    s->prefill_times = (calc_step_times){r->prefill, room_for(&at, times)};
    s->replicas = (size_t)simulated_replicas(e);
    s->replica = room_for(&at, s->replicas * sizeof *s->replica);
    calc_sim_stream *next = room_for(&at, streams * sizeof *next);
    for (size_t i = 0; i < streams; i++) {
        next[i].ready_s = INFINITY;
    }
    for (size_t i = 0; i < s->replicas; i++, next += e->pipeline_par) {
        s->replica[i].stream = next;
        s->replica[i].streams = (size_t)e->pipeline_par;
    }
    s->pool.stream = next;
    s->pool.streams = streams - s->replicas * (size_t)e->pipeline_par;
    s->request = room_for(&at, (size_t)population_size * sizeof *s->request);
    s->ttft = room_for(&at, (size_t)measured_of(e) * sizeof *s->ttft);
}

/* What limits a replica. */
static void set_limits(calc_sim *s)
{
    const calc_serving *r = s->r;
    const calc_inference *i = r->i;
    double longest =
        calc_kv_cache_stored(&r->model.cache, r->prompt * (1 + i->prompt_spread) +
                                                  r->generate * (1 + i->generate_spread) + 1);
    double most = r->open ? INFINITY : population(r->exec);
    s->slots = i->max_sequences > 0 ? (double)i->max_sequences : INFINITY;
    s->room =
        calc_min(s->slots, most) * longest > r->held.room.tokens ? r->held.room.tokens : INFINITY;
    s->streams_slots = ceil(s->slots / (double)r->exec->pipeline_par);
    s->warm = warm_of(r->exec);
    s->measured = measured_of(r->exec);
    s->arrivals = r->i->requests > 0 || r->open ? calc_serve_sim_requests(r->exec) : INFINITY;
    s->next_s = INFINITY;
}

/* A request that is being decoded already, at any position of its output. */
static void start_one(calc_sim *s, size_t i)
{
    calc_sim_request *q = &s->request[i];
    calc_sim_server *v = &s->replica[i % s->replicas];
    calc_sim_stream *t = &v->stream[i / s->replicas % v->streams];
    calc_sim_make(s, q, 0);
    q->first_s = 0;
    q->held = q->prompt + floor((q->generate - 1) * calc_rng_real(&s->rng));
    v->running++;
    calc_sim_start_decoding(t, q);
    t->ready_s = 0;
}

/* The initial requests: all of a run at once, or the mean number being decoded. */
static void start(calc_sim *s)
{
    const calc_serving *r = s->r;
    bool ever = r->i->requests == 0;
    double slots = floor(r->open ? r->sequences : r->slots) * (double)s->replicas;
    double most = r->open ? MOST_AT_START : population(r->exec);
    size_t decoded = ever ? (size_t)calc_min(slots, most) : 0;
    for (size_t i = 0; i < decoded; i++) {
        start_one(s, i);
    }
    for (size_t i = decoded; !r->open && i < (size_t)most; i++) {
        calc_sim_arrive(s, &s->request[i], 0);
    }
    if (r->open) {
        s->warm += (double)decoded;
        s->arrivals += (double)decoded;
        set_arrivals(s, (double)decoded);
    }
}

/* The value that `below` of them are not above (Hoare's selection); reorders them. */
static double select_at(double *value, size_t count, size_t below)
{
    size_t low = 0;
    size_t high = count - 1;
    while (low < high) {
        double pivot = value[low + (high - low) / 2];
        size_t i = low;
        size_t j = high;
        while (true) {
            while (value[i] < pivot) {
                i++;
            }
            while (value[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double other = value[i];
            value[i++] = value[j];
            value[j--] = other;
        }
        if (below <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return value[below];
}

static void summarize(calc_sim *s, calc_serve_sim_result *out)
{
    double n = s->measured;
    bool whole = s->r->i->requests > 0;
    double all = 1 / share(s->r->exec);
    double server_s = calc_serving_received_s(s->r);
    out->requests = n;
    out->ttft_p50_s = select_at(s->ttft, (size_t)n, (size_t)(0.50 * (n - 1))) + server_s;
    out->ttft_p99_s = select_at(s->ttft, (size_t)n, (size_t)(0.99 * (n - 1))) + server_s;
    out->ttft_s = out->ttft_s / n + server_s;
    out->queue_s = out->queue_s / n + server_s;
    out->tpot_s /= n;
    out->request_s = out->request_s / n + server_s;
    out->prefill_share = s->prefill_time_s / s->time_s;
    out->requests_per_s = all * (whole ? n / s->end_s : (n - 1) / (s->last_s - s->first_s));
    double replicas = (double)s->r->exec->strategy.data_par;
    out->sequences = out->requests_per_s / replicas * (out->request_s - out->ttft_s);
}

void calc_serve_sim_run(const calc_serving *serving, void *workspace, calc_serve_sim_result *out)
{
    calc_sim s = {0};
    *out = (calc_serve_sim_result){0};
    s.out = out;
    calc_rng_init(&s.rng, 1, 1);
    set_up(&s, serving, workspace);
    set_limits(&s);
    start(&s);
    run_events(&s);
    summarize(&s, out);
}
