#include "model/serve/sim_step.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "model/operators/processor.h"
#include "model/serve/inference.h"
#include "model/serve/serving_step.h"

/* ---- Requests -------------------------------------------------------------------------------- */

static double draw(calc_sim *s, double mean, double spread, double least)
{
    double value = mean * (1 - spread + 2 * spread * calc_rng_real(&s->rng));
    return calc_max(least, round(value));
}

static bool is_measured(const calc_sim *s, const calc_sim_request *q)
{
    return (double)q->index >= s->warm && (double)q->index < s->warm + s->measured;
}

void calc_sim_make(calc_sim *s, calc_sim_request *q, double at_s)
{
    const calc_serving *r = s->r;
    double page = r->model.cache.page;
    *q = (calc_sim_request){.arrives_s = at_s, .joins_s = at_s, .first_s = NAN};
    q->index = (int64_t)s->issued++;
    q->prompt = draw(s, r->prompt, r->i->prompt_spread, 1);
    q->generate = draw(s, r->generate, r->i->generate_spread, 2);
    q->cached = calc_min(floor(q->prompt * r->i->prefix_hit / page) * page, q->prompt - 1);
    q->left = q->prompt - q->cached;
    if (is_measured(s, q)) {
        s->first_s = (double)q->index == s->warm ? at_s : s->first_s;
        s->last_s = at_s;
    }
}

static calc_sim_server *least_busy(calc_sim *s)
{
    calc_sim_server *best = s->replica;
    for (size_t i = 1; i < s->replicas; i++) {
        calc_sim_server *other = &s->replica[i];
        best = other->running + other->queued < best->running + best->queued ? other : best;
    }
    return best;
}

void calc_sim_arrive(calc_sim *s, calc_sim_request *q, double at_s)
{
    calc_sim_make(s, q, at_s);
    calc_sim_join(s->pool.streams > 0 ? &s->pool : least_busy(s), q);
}

static void finish(calc_sim *s, calc_sim_request *q, double at_s)
{
    if (is_measured(s, q)) {
        calc_serve_sim_result *out = s->out;
        size_t i = (size_t)((double)q->index - s->warm);
        s->ttft[i] = q->first_s - q->arrives_s;
        out->ttft_s += s->ttft[i];
        out->queue_s += q->waits_s;
        out->tpot_s += (at_s - q->first_s) / (q->generate - 1);
        out->request_s += at_s - q->arrives_s;
        s->done++;
    }
    s->end_s = calc_max(s->end_s, at_s);
    if (!s->r->open && s->issued < s->arrivals) {
        calc_sim_arrive(s, q, at_s);
    }
}

/* After a step: all have their tokens, and some are done. */
static void give_tokens(calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    calc_sim_list over = calc_sim_give(t, s->r->tokens_per_step);
    bool any = over.first != NULL;
    while (over.first) {
        calc_sim_request *q = calc_sim_take(&over);
        v->running--;
        finish(s, q, at_s);
    }
    if (any) {
        calc_sim_wake(v, at_s);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Of a request that has `tokens`: where the engine reserves, of all that it will have. */
static double kept(const calc_sim *s, const calc_sim_request *q, double tokens)
{
    return calc_kv_cache_stored(&s->r->model.cache,
                                s->r->i->engine.reserves ? q->prompt + q->generate : tokens);
}

/* Memory of a replica's sequences, after a step that adds `more` tokens to each. */
static double used(const calc_sim *s, const calc_sim_server *v, double more)
{
    double sum = 0;
    for (size_t i = 0; i < v->streams; i++) {
        const calc_sim_stream *t = &v->stream[i];
        for (const calc_sim_request *q = t->decoded.first; q; q = q->next) {
            sum += kept(s, q, calc_sim_context(t, q) + more);
        }
        for (const calc_sim_request *q = t->prefilled.first; q; q = q->next) {
            sum += kept(s, q, calc_max(q->held, q->prompt));
        }
    }
    return sum;
}

static bool has_room(const calc_sim *s, const calc_sim_server *v, const calc_sim_stream *t,
                     const calc_sim_request *q)
{
    if (v->running >= s->slots || (t->count > 0 && t->count >= s->streams_slots)) {
        return false;
    }
    return isinf(s->room) || v->running == 0 ||
           used(s, v, s->r->tokens_per_step) + kept(s, q, calc_max(q->held, q->prompt)) <= s->room;
}

/* ---- Requests that are held ------------------------------------------------------------------ */

static bool is_idle(const calc_sim_stream *t)
{
    return t->count == 0 && !t->prefilled.first;
}

/* Requests that a step might take, no more than it has room for are counted. */
static double waiting(const calc_sim_server *v, double at_s, double room)
{
    double count = 0;
    const calc_sim_request *q = v->waiting.first;
    for (; q && q->joins_s < at_s && count < room; q = q->next) {
        count++;
    }
    return count;
}

/* Requests are held until one waits at every replica, and then let go at all of them; those of one
 * alone until they fill a step. */
static bool gather(const calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    double each = s->replicas > 1 ? 1 : calc_serving_room(s->r);
    double all = 0;
    for (size_t i = 0; i < s->replicas; i++) {
        all += waiting(&s->replica[i], at_s, each);
    }
    for (size_t i = 0; all >= each * (double)s->replicas && i < s->replicas; i++) {
        s->replica[i].released = true;
    }
    bool any = waiting(v, at_s, 1) > 0;
    t->held = any ? t->held + 1 : 0;
    v->released = any && (v->released || t->held > (double)s->r->i->hold_steps);
    return v->released;
}

/* Whether requests that wait may join the pass that a stream begins now; counts its steps. */
static bool takes(const calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    double longest = (double)s->r->i->hold_steps;
    if (longest <= 1 || is_idle(t)) {
        return true;
    }
    if (s->r->engine.gathers) {
        return gather(s, v, t, at_s);
    }
    t->held = t->held + 1 < longest ? t->held + 1 : 0;
    return t->held == 0;
}

/* After a pass with prompts an engine looks for more; one that gathers them begins anew. */
static void prefilled(const calc_sim *s, calc_sim_stream *t)
{
    t->held = s->r->engine.gathers ? 0 : (double)s->r->i->hold_steps;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The work of a step in addition to decoding. */
typedef struct prompts {
    double tokens, count, cached, finished;
} prompts;

/* The next that waits, if it may join a step that begins now: one that came as that was put
 * together, by a client that was answered by the step before, comes too late unless nothing else is
 * there. */
static calc_sim_request *next_waiting(const calc_sim *s, const calc_sim_server *v,
                                      const calc_sim_stream *t, double at_s)
{
    calc_sim_request *q = v->waiting.first;
    bool idle = is_idle(t);
    double made_s = s->r->engine.overlapped ? t->began_s : at_s;
    bool there = q && t->takes && (q->joins_s < made_s || (idle && q->joins_s <= at_s));
    return there && has_room(s, v, t, q) ? q : NULL;
}

/* Fill a chunk with the oldest prompts. */
static void fill(calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s, prompts *c)
{
    double budget = (double)s->r->i->chunk_size;
    calc_sim_request *q = t->prefilled.first;
    while (c->tokens < budget) {
        if (!q) {
            if (!next_waiting(s, v, t, at_s)) {
                return;
            }
            q = calc_sim_admit(v, at_s);
            calc_sim_append(&t->prefilled, q);
        }
        double tokens = calc_min(q->left, budget - c->tokens);
        c->cached += calc_max(q->held, q->prompt) - q->left;
        c->tokens += tokens;
        c->count++;
        q->left -= tokens;
        c->finished += q->left <= 0;
        q = q->next;
    }
}

/* Prompts whose last token was in the step. */
static void first_tokens(calc_sim_stream *t, double at_s)
{
    while (t->prefilled.first && t->prefilled.first->left <= 0) {
        calc_sim_request *q = calc_sim_take(&t->prefilled);
        q->first_s = isnan(q->first_s) ? at_s : q->first_s;
        calc_sim_start_decoding(t, q);
    }
}

/* Time of a step: passes and the engine's overhead [s]. */
static double step_s(calc_sim *s, const calc_sim_stream *t, const prompts *c, double *slow_s)
{
    const calc_serving *r = s->r;
    calc_inference_pass_work w = calc_serving_decoding(r, 0);
    w.sequences = t->count;
    w.context = t->count > 0 ? t->contexts / t->count : 0;
    if (c->count > 0) {
        w.prompts = c->count;
        w.chunk = calc_max(1, round(c->tokens / c->count));
        w.cached = c->cached / c->count;
        w.finished = c->finished;
    }
    const calc_step_time *time = calc_step_times_of(&s->decode_times, &w);
    double took_s = time->latency_s +
                    calc_serving_beside_s(r, r->exec, time->latency_s, t->count, w.prompts > 0);
    *slow_s = time->slow_s;
    if (w.queries > 1 && r->i->speculative_cost > 0) {
        double drafts = w.queries - 1;
        w.queries = 1;
        took_s +=
            drafts * r->i->speculative_cost * calc_step_times_of(&s->decode_times, &w)->latency_s;
    }
    return took_s;
}

static void run_step(calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    prompts c = {0};
    double slow_s;
    /* The youngest go until the others have room for a step. */
    while (!isinf(s->room) && t->count > 1 && used(s, v, s->r->tokens_per_step) > s->room) {
        calc_sim_put_before(&v->waiting, calc_sim_drop(t));
        v->running--;
        v->queued++;
        s->out->preempted++;
    }
    if (s->r->i->chunk_size > 0 && s->pool.streams == 0) {
        fill(s, v, t, at_s, &c);
    }
    double took_s = step_s(s, t, &c, &slow_s);
    t->began_s = at_s;
    if (c.count > 0) {
        prefilled(s, t);
    }
    if (s->issued >= s->warm && s->done < s->measured) {
        s->time_s += t->count * took_s;
        s->prefill_time_s += c.count > 0 ? t->count * took_s : 0;
    }
    v->free_s = at_s + slow_s;
    t->ready_s = at_s + took_s;
    give_tokens(s, v, t, t->ready_s);
    first_tokens(t, t->ready_s);
}

/* A pass over whole prompts, `taken` of them, on so many replicas in step.
 * @return until their first tokens [s] */
static double prefill_s(calc_sim *s, const calc_sim_list *taken, double replicas, double *busy_s)
{
    const calc_serving *r = s->r;
    double count = 0, fresh = 0, cached = 0;
    for (const calc_sim_request *q = taken->first; q; q = q->next) {
        count++;
        fresh += q->left;
        cached += calc_max(q->held, q->prompt) - q->left;
    }
    fresh = calc_max(1, calc_step_times_round(fresh / count));
    cached /= count;
    double idle = calc_max(0, 1 - count / replicas);
    count = ceil(count / replicas);
    double chunk = r->i->chunk_size > 0 ? calc_min((double)r->i->chunk_size, fresh) : fresh;
    double whole = ceil(fresh / chunk) - 1;
    double overhead_s = 0;
    const calc_exec *pool = r->prefill->exec;
    calc_inference_pass_work w = {.prompts = count, .chunk = chunk, .idle = idle};
    double before_s = 0;
    if (whole > 0) {
        w.cached = cached + (whole - 1) * chunk / 2;
        const calc_step_time *each = calc_step_times_of(&s->prefill_times, &w);
        before_s = whole * each->slow_s;
        overhead_s = whole * calc_serving_beside_s(r, pool, each->latency_s, count, true);
    }
    w.cached = cached + whole * chunk;
    w.chunk = fresh - whole * chunk;
    w.finished = count;
    const calc_step_time *last = calc_step_times_of(&s->prefill_times, &w);
    overhead_s += calc_serving_beside_s(r, pool, last->latency_s, count, true);
    *busy_s = before_s + last->slow_s + overhead_s;
    return before_s + last->latency_s + overhead_s;
}

/* Prompts that are prefilled together, taken from those that wait. */
static calc_sim_list take_prompts(calc_sim *s, calc_sim_server *v, calc_sim_stream *t,
                                  double replicas, double at_s)
{
    calc_sim_list taken = {0};
    for (double n = 0; n < replicas * s->r->prefill_batch && next_waiting(s, v, t, at_s); n++) {
        calc_sim_append(&taken, calc_sim_admit(v, at_s));
    }
    return taken;
}

/* A pass over whole prompts between two steps of a replica.
 * @return whether there was one to prefill */
static bool run_prompts(calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    calc_sim_list taken = take_prompts(s, v, t, 1, at_s);
    double busy_s;
    if (!taken.first) {
        return false;
    }
    double took_s = prefill_s(s, &taken, 1, &busy_s);
    t->began_s = at_s;
    prefilled(s, t);
    v->free_s = at_s + busy_s;
    t->ready_s = at_s + took_s;
    if (s->issued >= s->warm && s->done < s->measured) {
        s->time_s += t->count * took_s;
        s->prefill_time_s += t->count * took_s;
    }
    while (taken.first) {
        calc_sim_request *q = calc_sim_take(&taken);
        q->left = 0;
        calc_sim_append(&t->prefilled, q);
    }
    first_tokens(t, t->ready_s);
    return true;
}

/* ---- Two pools ------------------------------------------------------------------------------- */

/* A replica of the prefill pool takes prompts; their caches go to one that decodes. */
static void run_pool(calc_sim *s, calc_sim_stream *t, double at_s)
{
    double replicas = calc_pools_together(s->r->prefill->exec);
    calc_sim_list taken = take_prompts(s, &s->pool, t, replicas, at_s);
    double busy_s;
    double took_s = prefill_s(s, &taken, replicas, &busy_s);
    t->ready_s = at_s + busy_s;
    while (taken.first) {
        calc_sim_request *q = calc_sim_take(&taken);
        q->left = 0;
        calc_sim_server *to = least_busy(s);
        q->joins_s = at_s + took_s + s->r->transfer_s +
                     (to->running > 0 ? s->r->engine.handover_steps * s->r->step_s : 0);
        s->pool.running--;
        calc_sim_join(to, q);
    }
}

/* ---- Streams --------------------------------------------------------------------------------- */

void calc_sim_run_stream(calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    bool apart = s->pool.streams > 0;
    t->takes = takes(s, v, t, at_s);
    if (apart && v == &s->pool) {
        if (next_waiting(s, v, t, at_s)) {
            run_pool(s, t, at_s);
            return;
        }
    } else {
        bool whole = !apart && s->r->i->chunk_size == 0;
        if (apart) {
            /* Requests whose caches have come are decoded from the next step on. */
            while (next_waiting(s, v, t, at_s)) {
                calc_sim_request *q = calc_sim_admit(v, at_s);
                q->first_s = isnan(q->first_s) ? at_s : q->first_s;
                calc_sim_start_decoding(t, q);
            }
        }
        if (whole && run_prompts(s, v, t, at_s)) {
            return;
        }
        if (t->count > 0 || t->prefilled.first ||
            (!apart && !whole && next_waiting(s, v, t, at_s))) {
            run_step(s, v, t, at_s);
            return;
        }
    }
    const calc_sim_request *q = v->waiting.first;
    t->ready_s = q && q->joins_s > at_s ? q->joins_s : INFINITY;
}

/* Times of passes for a simulation that asks for many: batches are rounded, so that few are
 * different, and each is evaluated once. Numbers above 64 keep 7 bits: they are off by up to 0.8
 * %, and by nothing in the mean of many. */

double calc_step_times_round(double x)
{
    const double bits = 128;
    int exponent;
    if (x <= 64) {
        return round(x);
    }
    double mantissa = frexp(x, &exponent);
    return round(ldexp(round(mantissa * bits) / bits, exponent));
}

const calc_step_time *calc_step_times_of(calc_step_times *times,
                                         const calc_inference_pass_work *work)
{
    calc_inference_pass_work w = *work;
    w.sequences = calc_step_times_round(w.sequences);
    w.context = calc_step_times_round(w.context);
    w.chunk = calc_step_times_round(w.chunk);
    w.cached = calc_step_times_round(w.cached);
    uint64_t word[CALC_PASS_MEMO_WORDS];
    uint64_t hash = 0;
    memcpy(word, &w, sizeof word);
    for (size_t i = 0; i < CALC_PASS_MEMO_WORDS; i++) {
        hash = calc_hash_word(hash, word[i]);
    }
    calc_step_time *t = &times->time[(size_t)(hash >> 32) % CALC_STEP_TIMES];
    if (!t->known || memcmp(t->word, word, sizeof word) != 0) {
        calc_inference_pass pass;
        calc_inference_pass_of(times->model, &w, &pass);
        *t = (calc_step_time){
            .known = true, .latency_s = pass.latency_s, .slow_s = pass.slow.total_s};
        memcpy(t->word, word, sizeof word);
    }
    return t;
}

/* Requests of a simulation, and the places where they wait: lists, micro-batches that decode,
 * servers. Nothing here depends on the time of a step. */

/* ---- Lists ----------------------------------------------------------------------------------- */

void calc_sim_append(calc_sim_list *l, calc_sim_request *q)
{
    q->next = NULL;
    if (l->last) {
        l->last->next = q;
    } else {
        l->first = q;
    }
    l->last = q;
}

calc_sim_request *calc_sim_take(calc_sim_list *l)
{
    calc_sim_request *q = l->first;
    l->first = q->next;
    l->last = l->first ? l->last : NULL;
    return q;
}

void calc_sim_put_before(calc_sim_list *l, calc_sim_request *q)
{
    q->next = l->first;
    l->first = q;
    l->last = l->last ? l->last : q;
}

/* Into its place by time; it is among the last ones. */
static void insert(calc_sim_list *l, calc_sim_request *q)
{
    if (!l->first || q->joins_s >= l->last->joins_s) {
        calc_sim_append(l, q);
        return;
    }
    calc_sim_request **at = &l->first;
    while ((*at)->joins_s <= q->joins_s) {
        at = &(*at)->next;
    }
    q->next = *at;
    *at = q;
}

/* ---- Servers --------------------------------------------------------------------------------- */

void calc_sim_wake(calc_sim_server *v, double at_s)
{
    for (size_t i = 0; i < v->streams && v->waiting.first; i++) {
        v->stream[i].ready_s = isinf(v->stream[i].ready_s) ? at_s : v->stream[i].ready_s;
    }
}

void calc_sim_join(calc_sim_server *to, calc_sim_request *q)
{
    insert(&to->waiting, q);
    to->queued++;
    for (size_t i = 0; i < to->streams; i++) {
        if (isinf(to->stream[i].ready_s)) {
            to->stream[i].ready_s = calc_max(q->joins_s, to->free_s);
            return;
        }
    }
}

calc_sim_request *calc_sim_admit(calc_sim_server *v, double at_s)
{
    calc_sim_request *q = calc_sim_take(&v->waiting);
    v->queued--;
    v->running++;
    if (isnan(q->first_s)) {
        q->waits_s += at_s - q->joins_s;
    }
    return q;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

void calc_sim_start_decoding(calc_sim_stream *t, calc_sim_request *q)
{
    double given = q->held > q->prompt ? q->held - q->prompt : 0; /* before it was preempted */
    q->place = t->tokens + q->generate - 1 - given;
    q->held = q->prompt + given;
    t->next = t->count > 0 ? calc_min(t->next, q->place) : q->place;
    t->contexts += q->held;
    t->count++;
    calc_sim_append(&t->decoded, q);
}

double calc_sim_context(const calc_sim_stream *t, const calc_sim_request *q)
{
    return q->prompt + q->generate - 1 - (q->place - t->tokens);
}

calc_sim_request *calc_sim_drop(calc_sim_stream *t)
{
    calc_sim_request *before = t->decoded.first;
    while (before && before->next != t->decoded.last) {
        before = before->next;
    }
    calc_sim_request *q = t->decoded.last;
    if (before) { /* there are two or more */
        before->next = NULL;
    }
    t->decoded.last = before;
    q->held = calc_sim_context(t, q);
    q->left = q->held;
    t->contexts -= q->held;
    t->count--;
    return q;
}

calc_sim_list calc_sim_give(calc_sim_stream *t, double tokens)
{
    const double rounding = 1e-6;
    calc_sim_list all = t->decoded;
    calc_sim_list over = {0};
    t->tokens += tokens;
    t->contexts += tokens * t->count;
    if (t->count == 0 || t->tokens < t->next - rounding) {
        return over;
    }
    t->decoded = (calc_sim_list){0};
    t->next = INFINITY;
    while (all.first) {
        calc_sim_request *q = calc_sim_take(&all);
        if (t->tokens < q->place - rounding) {
            t->next = calc_min(t->next, q->place);
            calc_sim_append(&t->decoded, q);
        } else {
            t->contexts -= calc_sim_context(t, q);
            t->count--;
            calc_sim_append(&over, q);
        }
    }
    return over;
}
