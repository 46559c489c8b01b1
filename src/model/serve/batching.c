/* Continuous batching (Yu et al. 2022, Orca): a replica decodes the sequences it runs step by
 * step, and prefills prompts as slots become free, in chunks beside the decoded tokens (Agrawal et
 * al. 2024, arXiv 2403.02310) or in passes between two steps. N requests run at once. In a round
 * each of them is decoded in S steps, waits for the step that was running when it came, unless it
 * is alone, and is prefilled. The N - 1 others delay it. Chunks: a step has room for C tokens of
 * prompts per micro-batch; a prompt of P takes ceil(P / C) steps and 1 / (room in prompts) of the
 * engine's time as a server, for which prompts queue. X prompts per step leave X S sequences
 * decoded. Time of a step grows with its tokens of prompts, so that a prompt takes the time of its
 * own tokens and of the others in its steps. Whole prompts: those that came in a step are
 * prefilled before the next, which stops decoding. A run of `requests` is its rounds
 * (calc_queue_waves); the first comes at once. */
#include "model/serve/inference.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/serve/serving_step.h"

double calc_hold_replicas(const calc_exec *e, const calc_engine_traits *engine)
{
    const calc_strategy *s = &e->strategy;
    double ranks = (double)(s->expert_par * s->expert_tensor_par);
    return engine->gathers ? calc_max(1, ranks / (double)s->tensor_par) : 1;
}

calc_hold calc_hold_of(const calc_exec *e, const calc_engine_traits *engine, double rate,
                       double room)
{
    double longest = (double)e->inference.hold_steps;
    if (longest <= 1) {
        return (calc_hold){.looks = 1};
    }
    if (!engine->gathers) {
        return (calc_hold){.most = longest - 1, .looks = longest};
    }
    /* The first that comes to a replica is held for all of it, those that come meanwhile for the
     * rest. */
    double replicas = calc_hold_replicas(e, engine);
    double most = replicas > 1 ? calc_queue_gather(replicas, rate, longest)
                               : calc_min(longest, calc_max(0, room - 1) / rate);
    return (calc_hold){.least = most / (1 + rate * most), .most = most, .looks = 1};
}

/* A replica in its steps, which are the unit of time where nothing else is said. */
typedef struct steps {
    double decoding; /* of a request */
    double own;      /* that prefill a prompt */
    double joined;   /* missed by those whose prefill it joins, in the mean */
    double missed;   /* before it can begin */
    calc_hold hold;  /* before prompts are taken */
    double room;     /* prompts that a step has room for; infinite between steps */
    double seen;     /* share of the others: the requests that one sees */
    double met;      /* tokens of their prompts prefilled while one is decoded */
    double apart;    /* half of the difference between rounds */
} steps;

static bool chunked(const calc_serving *r)
{
    return r->i->chunk_size > 0;
}

/* How many of the requests that come miss the step that begins as they come: all with chunks, if
 * they are not alone. Whole prompts join the prefill of those that missed the last one: of two
 * steps in a row only one is missed. */
static double joined(const calc_serving *r, const steps *s)
{
    double coming = s->seen * r->slots / (s->decoding + 1);
    return calc_min(1, r->slots - 1) / (chunked(r) ? 1 : 2 - exp(-coming));
}

static steps steps_of(const calc_serving *r)
{
    double chunk = (double)r->i->chunk_size;
    steps s = {.decoding = calc_serving_steps(r), .room = INFINITY, .seen = 1, .met = 1};
    if (chunked(r)) {
        s.own = calc_queue_pieces(r->fresh / chunk, r->i->prompt_spread);
        s.room = calc_serving_room(r);
    }
    if (!r->open) {
        s.seen = (r->slots - 1) / r->slots;
        s.met = s.seen;
        s.apart = s.decoding * r->i->generate_spread + r->i->prompt_spread / s.room;
        s.joined = r->slots < r->batch ? 0 : joined(r, &s) / r->groups;
        /* Where the host has put the next step together already, that one is missed, too. */
        double late = r->engine.overlapped ? calc_min(1, r->slots - 1) : 0;
        s.missed = r->slots < r->batch ? 0 : s.joined + late / r->groups;
    }
    double rate = r->slots / (s.decoding + 1);
    s.hold = calc_hold_of(r->exec, &r->engine, rate, calc_serving_room(r));
    return s;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Steps with chunks, of a replica that takes so many prompts per step. */
static void step_with_chunks(calc_serving *r, const steps *s, double per_step)
{
    /* A chunk is filled as far as there are prompts to fill it with: those of a step, or one, and
     * those held with it. */
    double freed = per_step / r->groups;
    double prompts = calc_max(1, freed) + freed * s->hold.most;
    double budget = calc_min((double)r->i->chunk_size, r->fresh * prompts);
    double plain_beside_s = calc_serving_run_decode(r, per_step * s->decoding);
    calc_inference_pass_work work = calc_serving_decoding(r, s->seen * r->sequences);
    work.prompts = calc_max(1, budget / r->fresh);
    work.chunk = r->chunk;
    work.cached = r->cached + (r->fresh - r->chunk) / 2;
    work.finished = budget / r->fresh;
    calc_inference_pass_of(&r->model, &work, &r->mixed);
    r->mixed_s = calc_serving_step_s(r, &r->mixed, true);
    r->prompt_token_s = (r->mixed_s - r->plain_s) / budget;
    r->prefill_s = s->own * r->plain_s + r->prompt_token_s * r->fresh;
    double share = calc_min(1, s->met * freed * r->fresh / budget);
    double step_s = share * r->mixed_s + (1 - share) * r->plain_s;
    /* It meets the chunks of those, too, that come while it is prefilled: in steps of a closed
     * loop, in time of an open one. */
    double own = r->open ? r->prefill_s / step_s : s->own;
    share = calc_min(1, share * (1 + own / s->decoding));
    /* Micro-batches without a chunk wait for those with one before them. */
    r->mixed_share = share * (1 + (1 - share) * (r->groups - 1) / r->groups);
    double mixed_beside_s = r->mixed_s - calc_serving_around_s(r, &r->mixed);
    r->overhead_s = r->mixed_share * mixed_beside_s + (1 - r->mixed_share) * plain_beside_s;
    r->step_s = r->mixed_share * r->mixed_s + (1 - r->mixed_share) * r->plain_s;
    r->prefill_share = r->mixed_share * r->mixed_s / r->step_s;
    r->parts = 0;
    r->part[r->parts++] = (calc_serving_part){&r->mixed, r->mixed_share};
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1 - r->mixed_share};
}

/* Steps between which whole prompts are prefilled. */
static void step_with_prompts(calc_serving *r, const steps *s, double per_step)
{
    /* For random prompts that came over several steps: the expected number given that there is one;
     * and a prompt is more often in passes with many. */
    const double few = 1e-6;
    double found = per_step * s->hold.looks;
    bool held = s->hold.looks > 1 && found > few;
    double together = held ? found / (1 - exp(-found)) : calc_max(1, per_step);
    double prompts = calc_min(r->prefill_batch, together);
    double own_s = held ? calc_serving_run_prefill(r, calc_min(r->prefill_batch, 1 + found)) : 0;
    double passes = s->met * per_step / prompts;
    r->prefill_s = calc_serving_run_prefill(r, prompts);
    r->overhead_s = calc_serving_run_decode(r, per_step * s->decoding);
    double busy_s = calc_serving_busy_s(r);
    double prefilling_s = passes * busy_s;
    /* The micro-batch that prefills is stopped until all stages have done so, if others decode. */
    double decodes = r->plain_s / (r->plain_s + prefilling_s);
    if (r->open) {
        /* Those that come while one is prefilled stop its decoding, too. */
        prefilling_s *= 1 + r->prefill_s / (s->decoding * (r->plain_s + prefilling_s));
    }
    prefilling_s += passes * decodes * (r->prefill_s - busy_s) / r->groups;
    r->prompt_token_s = busy_s / (prompts * r->fresh);
    r->step_s = r->plain_s + prefilling_s;
    r->prefill_share = prefilling_s / r->step_s;
    r->parts = 0;
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1};
    calc_serving_report_prefill(r, passes / r->groups);
    r->prefill_s = calc_max(r->prefill_s, own_s);
}

/* @param per_step  prompts that a replica takes in a step of its sequences */
static void run_step(calc_serving *r, const steps *s, double per_step)
{
    (chunked(r) ? step_with_chunks : step_with_prompts)(r, s, per_step);
    r->batches = r->groups;
}

/* A step that has all the prompts it has room for [s]. */
static double full_s(const calc_serving *r)
{
    return r->plain_s + r->prompt_token_s * (double)r->i->chunk_size;
}

/* Time that a prompt waits in its own steps for others in them [s].
 * @param freed  others per step */
static double beside_s(const calc_serving *r, const steps *s, double freed)
{
    if (!chunked(r)) {
        return 0;
    }
    double others = (s->own + s->hold.most) * freed / r->groups * r->fresh;
    double room = s->own * (double)r->i->chunk_size - r->fresh;
    return r->prompt_token_s * calc_max(0, calc_min(others, room));
}

/* ---- A closed loop --------------------------------------------------------------------------- */

/* Time that whole prompts wait for others [s]: for those that missed the step before, and for half
 * of those that came with them; where they are held, for all that are not in the same pass.
 * @param freed  prompts per step */
static double before_s(const calc_serving *r, const steps *s, const calc_queue_wave *wave,
                       double freed)
{
    bool held = s->hold.looks > 1 && wave->width > 0;
    double others = held ? calc_max(0, freed * s->hold.looks - r->prefilled.work.prompts)
                         : freed * (0.5 + s->joined * calc_min(1, wave->width));
    return others * r->prompt_token_s * r->fresh;
}

/* The times to the first token of a wave that waits so many steps, but for a slot. */
static calc_queue_times wave_times(const calc_serving *r, const steps *s,
                                   const calc_queue_wave *wave, double wait)
{
    double mixed_up = calc_min(1, wave->width / s->decoding);
    bool later = wave->width > 0; /* than all at once, who neither miss a step nor are held */
    calc_hold hold = later ? s->hold : (calc_hold){.looks = 1};
    double missed = later ? s->missed : 0;
    double over = wave->width + s->own + missed + wait; /* steps that they come in */
    double freed = s->seen * r->slots / calc_max(hold.looks, over);
    double wait_s = chunked(r) ? wait * full_s(r) : before_s(r, s, wave, freed);
    double missed_s = r->plain_s; /* steps with prompts that come together are full of them */
    missed_s += chunked(r) ? calc_min(1, freed / s->room) * (full_s(r) - r->plain_s) : 0;
    double least_s = missed * missed_s + beside_s(r, s, freed) + hold.least * r->plain_s;
    double held_s = (hold.most - hold.least) * r->plain_s;
    /* In a loop that is full the wait is nearly the same for all: the remaining variation comes
     * from the others, sqrt(N) of them. */
    double chance_s = chunked(r) ? sqrt(r->slots) / 2 / s->room * full_s(r) : 0;
    double tail_s = mixed_up * calc_min(wait_s, chance_s);
    double even_s = mixed_up * (wait_s - tail_s); /* all wait that long */
    double spread_s = r->prefill_s * r->i->prompt_spread;
    return (calc_queue_times){
        .share = wave->share,
        .least = least_s + even_s + r->prefill_s - spread_s,
        .most =
            least_s + held_s + even_s + r->prefill_s + spread_s + 2 * (wait_s - tail_s - even_s),
        .tail = tail_s,
        .tail_share = calc_min(1, freed / s->room),
    };
}

/* Total time that the requests before one of a run wait for slots, in waits of one slot: none of
 * those that find one, then one more each until all are in flight. */
static double waits_before(double request, double slots, double waiting)
{
    double after = calc_max(0, request - slots);
    double rising = calc_min(after, waiting);
    return rising * rising / 2 + (after - rising) * waiting;
}

/* Requests that find no slot wait for one. */
static void wait_for_slots(calc_serving *r, double per_s)
{
    double waiting = r->batch - r->slots;
    double all = (double)r->i->requests / r->replicas;
    double before = 0;
    for (size_t i = 0; i < r->waves; i++) {
        calc_queue_times *t = &r->first[i];
        double own = t->share * all;
        double last = calc_max(0, calc_min(before + own - r->slots, waiting));
        double mean = all > 0 ? (waits_before(before + own, r->slots, waiting) -
                                 waits_before(before, r->slots, waiting)) /
                                    own
                              : waiting;
        last = all > 0 ? last : waiting;
        t->least += calc_max(0, 2 * mean - last) / per_s;
        t->most += last / per_s;
        before += own;
    }
}

static void run_closed(calc_serving *r)
{
    calc_queue_wave wave[CALC_QUEUE_WAVES];
    double wait[CALC_QUEUE_WAVES] = {0};
    double mean_wait = 0;
    double together = 0;
    r->groups = calc_min(r->model.stages.stages, r->slots);
    steps s = steps_of(r);
    /* Prompts that come together end as far apart as they are prefilled beside decoding. */
    double apart = chunked(r) ? calc_max(0, r->slots / s.room - 1) : 0;
    double rounds = (double)r->i->requests / r->replicas / r->slots;
    r->waves = calc_queue_waves(apart, s.decoding, r->i->generate_spread, rounds, wave);
    for (size_t i = 0; i < r->waves; i++) {
        /* Requests wait for others of their wave; those of one that comes once half as long as
         * those of one that comes again and again. */
        double width = calc_min(1, wave[i].width / s.decoding);
        double held = (s.hold.least + s.hold.most) / 2;
        double away = wave[i].width + s.own + s.missed + held - 1 / s.room;
        wait[i] = chunked(r)
                      ? (1 + width) / 2 * calc_queue_closed(r->slots, away, s.apart, 1 / s.room)
                      : 0;
        mean_wait += wave[i].share * wait[i];
        /* Prompts of one chunk are prefilled before any of them is decoded; of whole ones that come
         * together those that are earlier. */
        double over = calc_max(1, calc_max(wave[i].width, r->slots / s.room));
        together += wave[i].share / over / (chunked(r) ? 1 : 2) / r->groups;
    }
    s.met *= 1 - together;
    double held = (s.hold.least + s.hold.most) / 2;
    run_step(r, &s, r->slots / (s.decoding + s.own + s.missed + held + mean_wait));
    r->running = r->slots;
    for (size_t i = 0; i < r->waves; i++) {
        r->first[i] = wave_times(r, &s, &wave[i], wait[i]);
    }
    r->round_s = calc_queue_mean(r->first, r->waves) + s.decoding * r->step_s;
    wait_for_slots(r, r->slots / r->round_s);
    r->round_s *= 1 + calc_queue_drain(r->slots, apart, s.decoding, r->i->generate_spread, rounds);
    r->requests_per_s = r->slots * r->replicas / r->round_s;
}

/* ---- An open loop ---------------------------------------------------------------------------- */

/* A replica whose rate is looked for. */
typedef struct open_loop {
    calc_serving *serving;
    const steps *steps;
} open_loop;

/* How many prompts more are taken per step than arrive in its time. Where all slots are taken, one
 * sees the others only. */
static double surplus(void *context, double per_step)
{
    const open_loop *o = context;
    steps s = *o->steps;
    double taken = calc_min(1, per_step * (s.decoding + s.own) / o->serving->slots);
    s.seen = 1 - taken / o->serving->slots;
    s.met = s.seen;
    run_step(o->serving, &s, per_step);
    return per_step - o->serving->arrivals_per_s * o->serving->step_s;
}

static void wait_in_turn(calc_serving *r, const steps *s)
{
    double spread = r->i->generate_spread;
    double servers = chunked(r) ? calc_max(1, s->room) : 1;
    double prompt_s = chunked(r) ? full_s(r) / s->room : r->prompt_token_s * r->fresh;
    double others = (r->slots - 1) / r->slots; /* that may be before one that has a slot */
    double before_s = others * calc_queue_open(servers, r->arrivals_per_s, prompt_s * servers, 0);
    double decoding_s = s->decoding * r->step_s;
    r->running = r->sequences + r->arrivals_per_s * (r->prefill_s + before_s);
    double taken_s = r->prefill_s + before_s + decoding_s;
    double slot_s = calc_queue_open(r->slots, r->arrivals_per_s, taken_s, spread * spread / 3);
    double busy = 1 - exp(-r->running);
    /* One that comes at any time waits for the running step: half of a decoding step, and of one
     * with chunks where it may go beside them in the next. */
    double shared = chunked(r) ? r->prefill_share * (1 - 1 / calc_max(1, s->room)) : 0;
    double plain = chunked(r) ? 1 - r->prefill_share : 1;
    double around_s = busy * (plain * r->plain_s + shared * r->mixed_s) / r->groups;
    double late_s = r->engine.overlapped ? busy * r->step_s / r->groups : 0;
    double beside =
        beside_s(r, s, r->arrivals_per_s * r->step_s) + late_s + s->hold.least * r->plain_s;
    double own_s = r->prefill_s * r->i->prompt_spread;
    r->overloaded = isnan(before_s) || isnan(slot_s);
    r->waves = 1;
    r->first[0] = (calc_queue_times){
        .share = 1,
        .least = r->prefill_s - own_s + beside,
        .most =
            r->prefill_s + own_s + beside + around_s + (s->hold.most - s->hold.least) * r->plain_s,
        .tail = before_s + slot_s,
        .tail_share = r->arrivals_per_s * calc_max(prompt_s, taken_s / r->slots),
    };
}

static void run_open(calc_serving *r)
{
    r->groups = r->model.stages.stages;
    steps s = steps_of(r);
    if (isinf(r->slots)) {
        run_step(r, &s, 1 / s.decoding);
        r->running = 1;
        calc_serving_hold(r);
        r->slots = calc_max(1, r->held.running);
    }
    double most = calc_min(s.room, r->slots / (s.decoding + s.own));
    open_loop loop = {r, &s};
    double above = surplus(&loop, most);
    r->overloaded = !(above > 0); /* or there is a step that takes as many prompts as arrive */
    if (above > 0) {
        (void)calc_queue_balance(surplus, &loop, most, above - most, above);
    }
    s.hold = calc_hold_of(r->exec, &r->engine, r->arrivals_per_s * r->step_s, calc_serving_room(r));
    r->running = r->slots;
    if (!r->overloaded) {
        wait_in_turn(r, &s);
    }
    if (r->overloaded) {
        (void)surplus(&loop, most);
        r->running = most * (s.decoding + s.own);
        r->waves = 1;
        r->first[0] = (calc_queue_times){1, NAN, NAN, NAN, NAN};
    }
    r->requests_per_s = r->replicas * (r->overloaded ? most / r->step_s : r->arrivals_per_s);
}

/* ---- Both ------------------------------------------------------------------------------------ */

void calc_batching_run(calc_serving *r)
{
    enum { TRIES = 3 };
    for (int i = 0; i < TRIES; i++) {
        (r->open ? run_open : run_closed)(r);
        if (!calc_serving_limit(r)) {
            break;
        }
    }
    r->total_s = r->step_s;
}
