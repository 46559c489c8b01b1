/* Laws of pipeline schedules, on random shapes and times: the simulator against a slow one written
   apart, and the closed forms against the simulator. CALC_PROPERTY_CASES says how many (2,000 if
   not given). A failure names the case: case n is what stream n of the seed gives.
   CALC_SCHEDULE_ERRORS=1 prints the errors of the closed forms that docs/schedules.md gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "frame.h"
#include "model/schedule/schedule.h"
#include "model/schedule/schedule_sim.h"

enum { STAGES = 16, CHUNKS = 4, PARTS = STAGES * CHUNKS, BYTES = 1 << 23 };

static const uint64_t seed = 20240110;
static uint64_t current_case;
static calc_rng rng;

static uint64_t cases(void)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    return text ? strtoull(text, NULL, 10) : 2000;
}

static void begin(uint64_t stream)
{
    current_case = stream;
    calc_rng_init(&rng, seed, stream);
}

static void must(bool holds, const char *what, double got, double want)
{
    if (!holds) {
        ck_abort_msg("seed %llu, case %llu: %s: %.17g, against %.17g", (unsigned long long)seed,
                     (unsigned long long)current_case, what, got, want);
    }
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static int64_t between(int64_t lo, int64_t hi)
{
    return lo + (int64_t)calc_rng_below(&rng, (uint32_t)(hi - lo + 1));
}

static double real(double lo, double hi)
{
    return lo + (hi - lo) * calc_rng_real(&rng);
}

/* ---- Random cases -----------------------------------------------------------------------------*/

/** A shape with `lo` to `hi` times as many micro-batches as stages. */
static calc_schedule_shape random_shape(calc_pipeline_schedule kind, bool interleaved, double lo,
                                        double hi)
{
    calc_schedule_shape s = {.kind = kind, .stages = between(1, STAGES), .chunks = 1};
    if (interleaved) {
        s.stages = between(2, 12);
        s.chunks = between(2, CHUNKS);
    }
    if (kind == CALC_PIPELINE_SCHEDULE_ZB_V || kind == CALC_PIPELINE_SCHEDULE_DUALPIPE_V) {
        s.chunks = 2;
    }
    bool both_ends = kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
    if (both_ends) {
        s.stages += s.stages % 2;
    }
    if (both_ends || kind == CALC_PIPELINE_SCHEDULE_DUALPIPE_V) {
        lo = fmax(lo, 2);
    }
    double p = (double)s.stages;
    s.microbatches = between((int64_t)fmax(1, ceil(lo * p)), (int64_t)fmax(1, ceil(hi * p)));
    if (both_ends) {
        s.microbatches += s.microbatches % 2;
    }
    ck_assert_int_eq(calc_schedule_check(&s), CALC_SCHEDULE_OK);
    return s;
}

static calc_schedule_shape any_shape(void)
{
    int64_t kind = between(0, CALC_PIPELINE_SCHEDULE_COUNT);
    bool interleaved = kind == CALC_PIPELINE_SCHEDULE_COUNT;
    return random_shape(interleaved ? CALC_PIPELINE_SCHEDULE_1F1B : (calc_pipeline_schedule)kind,
                        interleaved, 0, 4);
}

static int64_t parts(const calc_schedule_shape *s)
{
    return s->stages * s->chunks;
}

static void random_passes(const calc_schedule_shape *s, calc_schedule_pass *pass)
{
    for (int64_t i = 0; i < parts(s); i++) {
        pass[i] = (calc_schedule_pass){real(0.2, 2), real(0.2, 2), real(0.2, 2)};
    }
}

static calc_schedule_sim random_sim(calc_schedule_pass *pass)
{
    calc_schedule_sim sim = {
        .shape = any_shape(),
        .pass = pass,
        .fw_message_s = real(0, 0.5),
        .bw_message_s = real(0, 0.5),
        .overlap = between(0, 1) == 1,
        .pair_saves_s = real(0, 0.2),
    };
    random_passes(&sim.shape, pass);
    return sim;
}

static double simulate(const calc_schedule_sim *sim, calc_schedule_stage *stage)
{
    static _Alignas(16) char workspace[BYTES];
    ck_assert_uint_le(calc_schedule_sim_bytes(&sim->shape), BYTES);
    return calc_schedule_sim_s(sim, workspace, stage, NULL);
}

/* ---- A slow simulator, written apart ----------------------------------------------------------*/

/* It knows the operations of each stage as (kind, place in the model, micro-batch), and goes round
   the stages until nothing moves: an operation is done once all that it needs is. */

enum { SLOW_OPS = 3 * CHUNKS * 4 * STAGES + 64, SLOW_MB = 4 * STAGES + 2 };

typedef struct slow {
    const calc_schedule_sim *sim;
    double end_s[2][2 * PARTS][SLOW_MB]; /* of forwards and backwards, at their receiver; or < 0 */
    double now_s[STAGES];
    int64_t done[2 * PARTS][3];
} slow;

static bool from_both_ends(const slow *w)
{
    return w->sim->shape.kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
}

/* Where chunk `c` of a stage is in the model. Micro-batches from the other end of DualPipe have
   places of their own, after those of the first end. */
static int64_t place_of(const slow *w, int64_t stage, int64_t c)
{
    int64_t p = w->sim->shape.stages;
    bool straight = w->sim->shape.kind == CALC_PIPELINE_SCHEDULE_1F1B || c == 0;
    return c * p + (straight ? stage : p - 1 - stage);
}

static int64_t stage_of(const slow *w, int64_t place)
{
    int64_t p = w->sim->shape.stages;
    bool straight = w->sim->shape.kind == CALC_PIPELINE_SCHEDULE_1F1B || place < p;
    return straight ? place % p : p - 1 - place % p;
}

static bool first_place(const slow *w, int64_t place)
{
    return place == 0 || (from_both_ends(w) && place == w->sim->shape.stages);
}

static bool last_place(const slow *w, int64_t place)
{
    int64_t p = w->sim->shape.stages;
    return from_both_ends(w) ? place % p == p - 1 : place == parts(&w->sim->shape) - 1;
}

/* One part of an operation: false if it cannot start; else its duration is added and its start is
   put off until its input is there. */
static bool slow_part(const slow *w, int64_t place, int way, double *start_s, double *work_s)
{
    const calc_schedule_pass *pass = &w->sim->pass[place];
    if (from_both_ends(w)) {
        pass = &w->sim->pass[place % w->sim->shape.stages];
    }
    int64_t microbatch = w->done[place][way];
    if (way == 2) {
        *work_s += pass->wgrad_s;
        return true;
    }
    *work_s += way == 0 ? pass->fw_s : pass->bw_s;
    double input_s = 0;
    if (way == 0 && !first_place(w, place)) {
        input_s = w->end_s[0][place - 1][microbatch];
    } else if (way == 1) {
        input_s = last_place(w, place) ? w->end_s[0][place][microbatch]
                                       : w->end_s[1][place + 1][microbatch];
    }
    *start_s = fmax(*start_s, input_s);
    return input_s >= 0;
}

static double slow_message_s(const slow *w, int64_t place, int way)
{
    if (way == 0 && !last_place(w, place)) {
        return stage_of(w, place) == stage_of(w, place + 1) ? 0 : w->sim->fw_message_s;
    }
    if (way == 1 && !first_place(w, place)) {
        return stage_of(w, place) == stage_of(w, place - 1) ? 0 : w->sim->bw_message_s;
    }
    return 0;
}

static bool slow_op(slow *w, int64_t stage, calc_schedule_op op)
{
    int64_t place = place_of(w, stage, op.chunk);
    int64_t other = place_of(w, stage, 1 - op.chunk);
    int64_t at[3];
    int way[3];
    int count = 0;
    if (op.kind == CALC_SCHEDULE_FW) {
        at[count] = place;
        way[count++] = 0;
    }
    if (op.paired || op.kind == CALC_SCHEDULE_BW || op.kind == CALC_SCHEDULE_BW_WHOLE) {
        at[count] = op.paired ? other : place;
        way[count++] = 1;
    }
    if (op.paired || op.kind == CALC_SCHEDULE_WGRAD || op.kind == CALC_SCHEDULE_BW_WHOLE) {
        at[count] = op.paired ? other : place;
        way[count++] = 2;
    }
    double start_s = w->now_s[stage];
    double work_s = op.paired ? -w->sim->pair_saves_s : 0;
    double message_s = 0;
    for (int i = 0; i < count; i++) {
        if (!slow_part(w, at[i], way[i], &start_s, &work_s)) {
            return false;
        }
        message_s = fmax(message_s, slow_message_s(w, at[i], way[i]));
    }
    double end_s = start_s + work_s + (w->sim->overlap ? 0 : message_s);
    for (int i = 0; i < count; i++) {
        int64_t microbatch = w->done[at[i]][way[i]]++;
        double late_s = w->sim->overlap ? slow_message_s(w, at[i], way[i]) : 0;
        /* The last place turns a forward into a backward itself. */
        if (way[i] < 2) {
            w->end_s[way[i]][at[i]][microbatch] = end_s + late_s;
        }
    }
    w->now_s[stage] = end_s;
    return true;
}

static double slow_s(const calc_schedule_sim *sim)
{
    static slow w;
    static calc_schedule_op op[STAGES * SLOW_OPS];
    int64_t count[STAGES];
    int64_t next[STAGES] = {0};
    w = (slow){.sim = sim};
    for (int64_t i = 0; i < 2 * PARTS; i++) {
        for (int64_t j = 0; j < SLOW_MB; j++) {
            w.end_s[0][i][j] = w.end_s[1][i][j] = -1;
        }
    }
    int64_t room = calc_schedule_ops_room(&sim->shape);
    ck_assert_int_le(room, SLOW_OPS);
    calc_schedule_orders(&sim->shape, op, count);
    bool moved = true;
    while (moved) {
        moved = false;
        for (int64_t i = 0; i < sim->shape.stages; i++) {
            while (next[i] < count[i] && slow_op(&w, i, op[i * room + next[i]])) {
                next[i]++;
                moved = true;
            }
        }
    }
    double end_s = 0;
    for (int64_t i = 0; i < sim->shape.stages; i++) {
        must(next[i] == count[i], "operations done", (double)next[i], (double)count[i]);
        end_s = fmax(end_s, w.now_s[i]);
    }
    return end_s;
}

/* ---- The simulator ----------------------------------------------------------------------------*/

CALC_TEST(the_simulator_is_the_slow_one)
{
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_pass pass[PARTS];
        calc_schedule_sim sim = random_sim(pass);
        double got_s = simulate(&sim, NULL);
        double want_s = slow_s(&sim);
        must(close_to(got_s, want_s), "time", got_s, want_s);
    }
}

/* Whether every operation was done, too: no order can get stuck. */
CALC_TEST(stages_are_busy_with_their_passes_and_nothing_else)
{
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_pass pass[PARTS];
        calc_schedule_sim sim = random_sim(pass);
        sim.overlap = true;
        sim.pair_saves_s = 0;
        calc_schedule_stage stage[STAGES];
        double end_s = simulate(&sim, stage);
        slow places = {.sim = &sim};
        bool both_ends = from_both_ends(&places);
        double m = (double)sim.shape.microbatches / (both_ends ? 2 : 1);
        for (int64_t at = 0; at < sim.shape.stages; at++) {
            double want_s = 0;
            for (int64_t c = 0; c < (both_ends ? 2 : sim.shape.chunks); c++) {
                int64_t place = place_of(&places, at, c);
                const calc_schedule_pass *p = &pass[both_ends ? place % sim.shape.stages : place];
                want_s += m * (p->fw_s + p->bw_s + p->wgrad_s);
            }
            must(close_to(stage[at].busy_s, want_s), "busy", stage[at].busy_s, want_s);
            must(close_to(stage[at].busy_s + stage[at].bubble_s, end_s), "busy and idle",
                 stage[at].busy_s + stage[at].bubble_s, end_s);
            must(stage[at].end_s - stage[at].start_s >= want_s * (1 - 1e-12), "span",
                 stage[at].end_s - stage[at].start_s, want_s);
        }
    }
}

CALC_TEST(no_duration_shortens_a_step_by_growing)
{
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_pass pass[PARTS];
        calc_schedule_sim sim = random_sim(pass);
        double before_s = simulate(&sim, NULL);
        double more_s = real(0, 1);
        switch (between(0, 4)) {
        case 0:
            pass[between(0, parts(&sim.shape) - 1)].fw_s += more_s;
            break;
        case 1:
            pass[between(0, parts(&sim.shape) - 1)].bw_s += more_s;
            break;
        case 2:
            pass[between(0, parts(&sim.shape) - 1)].wgrad_s += more_s;
            break;
        case 3:
            sim.fw_message_s += more_s;
            break;
        default:
            sim.bw_message_s += more_s;
            break;
        }
        double after_s = simulate(&sim, NULL);
        must(after_s >= before_s * (1 - 1e-14), "longer", after_s, before_s);
    }
}

CALC_TEST(stages_hold_as_many_micro_batches_as_the_closed_form_says)
{
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_pass pass[PARTS];
        calc_schedule_sim sim = random_sim(pass);
        calc_schedule_stage stage[STAGES];
        simulate(&sim, stage);
        for (int64_t at = 0; at < sim.shape.stages; at++) {
            double want = calc_schedule_in_flight(&sim.shape, at);
            must(close_to(stage[at].in_flight, want), "in flight", stage[at].in_flight, want);
        }
    }
}

/* ---- Closed forms -----------------------------------------------------------------------------*/

/** What is wrong with a closed form: relative errors. */
typedef struct errors {
    double sum, lowest, highest;
} errors;

/** Which shapes and times: micro-batches per stage. */
typedef struct domain {
    calc_pipeline_schedule kind;
    bool interleaved, full_rounds;
    double lo, hi;
    bool random_classes; /**< of stages; else all are equal */
} domain;

/* Blocks of the same size, fewer on some of the last stages, and an output head worth up to two
   blocks on the last; B = 1 to 1.4 F, W = 0.7 to 1 F. */
static void model_stages(const calc_schedule_shape *s, calc_schedule_pass *pass)
{
    bool v_shaped = s->kind != CALC_PIPELINE_SCHEDULE_1F1B && s->chunks == 2;
    double blocks = (double)between(4, 10);
    double b = real(1, 1.4);
    double w = real(0.7, 1);
    int64_t fewer = between(0, s->stages - 1);
    double head = real(0, 2);
    for (int64_t i = 0; i < parts(s); i++) {
        int64_t stage = i % s->stages;
        if (v_shaped && i >= s->stages) {
            stage = s->stages - 1 - stage;
        }
        double of_part = (blocks - (stage >= s->stages - fewer)) / (double)s->chunks;
        of_part += i == parts(s) - 1 ? head : 0;
        pass[i] = (calc_schedule_pass){of_part, of_part * b, of_part * w};
    }
}

static void random_classes(const calc_schedule_shape *s, calc_schedule_pass *pass)
{
    int64_t stage = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        int64_t end = i < CALC_SCHEDULE_CLASSES - 1 ? between(stage, s->stages) : s->stages;
        calc_schedule_pass one = {real(0.5, 2), real(0.5, 2), real(0.3, 1)};
        for (; stage < end; stage++) {
            pass[stage] = one;
        }
    }
}

/** What a stage does for one micro-batch, on average. */
static calc_schedule_class stage_class(const calc_schedule_sim *sim, int64_t stage)
{
    slow places = {.sim = sim};
    bool both_ends = from_both_ends(&places);
    calc_schedule_class c = {.stages = 1};
    for (int64_t i = 0; i < (both_ends ? 2 : sim->shape.chunks); i++) {
        int64_t place = place_of(&places, stage, i);
        const calc_schedule_pass *p = &sim->pass[both_ends ? place % sim->shape.stages : place];
        double share = both_ends ? 0.5 : 1;
        c.fw_s += share * p->fw_s;
        c.bw_s += share * p->bw_s;
        c.wgrad_s += share * p->wgrad_s;
    }
    return c;
}

/** Consecutive stages that take as long; false if there are too many classes. */
static bool classes_of(const calc_schedule_sim *sim, calc_schedule_times *t)
{
    int count = 0;
    for (int64_t i = 0; i < sim->shape.stages; i++) {
        calc_schedule_class c = stage_class(sim, i);
        calc_schedule_class *last = count > 0 ? &t->of[count - 1] : NULL;
        if (last != NULL && close_to(last->fw_s, c.fw_s) && close_to(last->bw_s, c.bw_s) &&
            close_to(last->wgrad_s, c.wgrad_s)) {
            last->stages++;
        } else if (count == CALC_SCHEDULE_CLASSES) {
            return false;
        } else {
            t->of[count++] = c;
        }
    }
    return true;
}

static bool error_of(const domain *d, double *error)
{
    calc_schedule_pass pass[PARTS];
    calc_schedule_sim sim = {
        .shape = random_shape(d->kind, d->interleaved, d->lo, d->hi),
        .pass = pass,
    };
    if (d->full_rounds) {
        sim.shape.microbatches += sim.shape.stages - 1;
        sim.shape.microbatches -= sim.shape.microbatches % sim.shape.stages;
    }
    if (d->random_classes) {
        random_classes(&sim.shape, pass);
    } else {
        double v = (double)sim.shape.chunks;
        calc_schedule_pass one = {real(0.5, 1.5) / v, real(0.5, 3) / v, real(0.3, 1.5) / v};
        for (int64_t i = 0; i < parts(&sim.shape); i++) {
            pass[i] = one;
        }
    }
    calc_schedule_times t = {0};
    if (!classes_of(&sim, &t)) {
        return false;
    }
    *error = calc_schedule_s(&sim.shape, &t) / simulate(&sim, NULL) - 1;
    return true;
}

/** Errors of a closed form are between these, and this large on average. */
static void expect_errors(const char *what, domain d, double lowest, double highest, double mean)
{
    errors e = {0, 1, -1};
    uint64_t count = 0;
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        double error = 0;
        if (error_of(&d, &error)) {
            must(error >= lowest && error <= highest, what, error, error < 0 ? lowest : highest);
            e.sum += fabs(error);
            e.lowest = fmin(e.lowest, error);
            e.highest = fmax(e.highest, error);
            count++;
        }
    }
    if (getenv("CALC_SCHEDULE_ERRORS")) {
        printf("%-42s %5llu cases, mean %.3f %%, from %.3f %% to %.3f %%\n", what,
               (unsigned long long)count, 100 * e.sum / (double)count, 100 * e.lowest,
               100 * e.highest);
    }
    ck_assert_uint_gt(count, 0);
    must(e.sum / (double)count <= mean, what, e.sum / (double)count, mean);
}

#define EXACT -1e-12, 1e-12, 1e-13
#define KIND(name) .kind = CALC_PIPELINE_SCHEDULE_##name

CALC_TEST(equal_stages_are_exact)
{
    expect_errors("1f1b", (domain){KIND(1F1B), .hi = 4}, EXACT);
    expect_errors("gpipe", (domain){KIND(GPIPE), .hi = 4}, EXACT);
    expect_errors("interleaved, full rounds",
                  (domain){KIND(1F1B), .interleaved = true, .full_rounds = true, .hi = 6}, EXACT);
    expect_errors("interleaved, m <= p", (domain){KIND(1F1B), .interleaved = true, .hi = 1}, EXACT);
    expect_errors("zb_h1", (domain){KIND(ZB_H1), .hi = 4}, EXACT);
    expect_errors("zb_h2, m >= p", (domain){KIND(ZB_H2), .lo = 1, .hi = 4}, EXACT);
    expect_errors("zb_v, m >= 2p", (domain){KIND(ZB_V), .lo = 2, .hi = 6}, EXACT);
    expect_errors("zb_v, m <= p", (domain){KIND(ZB_V), .hi = 1}, EXACT);
    expect_errors("dualpipe", (domain){KIND(DUALPIPE), .hi = 6}, EXACT);
    expect_errors("dualpipe_v", (domain){KIND(DUALPIPE_V), .hi = 6}, EXACT);
}

CALC_TEST(equal_stages_with_few_micro_batches_are_close)
{
    expect_errors("interleaved, any m", (domain){KIND(1F1B), .interleaved = true, .hi = 6}, -0.06,
                  1e-12, 0.004);
    expect_errors("zb_h2, m <= p", (domain){KIND(ZB_H2), .hi = 1}, -0.06, 1e-12, 0.001);
    expect_errors("zb_v, p < m < 2p", (domain){KIND(ZB_V), .lo = 1, .hi = 2}, -0.02, 0.02, 0.001);
}

CALC_TEST(unequal_stages_of_gpipe_are_exact)
{
    expect_errors("gpipe, random classes", (domain){KIND(GPIPE), .hi = 4, .random_classes = true},
                  EXACT);
}

/* ---- Interleaved stages that differ -----------------------------------------------------------*/

/* Blocks of the same size, an embedding worth up to half of one and a head worth up to four. Either
   both take the place of a block, or the first and the last stage may have a block more or less in
   each chunk, and there may be some more in half of the others. Backward 1 to 3.5 F. */
static calc_schedule_interleaved random_interleaved(void)
{
    calc_schedule_interleaved x = {.stages = (double)between(3, STAGES),
                                   .chunks = (double)between(2, CHUNKS)};
    x.microbatches = x.stages * (double)between(1, 24);
    double back = real(1, 3.5);
    double block = (double)between(1, 4);
    double instead = (double)between(0, 1);
    double embedding = real(0, 0.5) - instead;
    double head = real(0, 4) - instead;
    double half = (double)between(0, (int64_t)x.stages - 2);
    double stages[] = {1, half, x.stages - 2 - half, 1};
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        double blocks = fmax(1, block + (instead > 0 ? 0 : (double)between(-1, 1)));
        x.of[i].stages = stages[i];
        x.of[i].chunk = (calc_schedule_chunk){blocks, back * blocks};
    }
    x.first = (calc_schedule_chunk){embedding, back * embedding};
    x.last = (calc_schedule_chunk){head, back * head};
    return x;
}

static double simulate_interleaved(const calc_schedule_interleaved *x)
{
    calc_schedule_pass pass[PARTS];
    calc_schedule_sim sim = {
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, (int64_t)x->stages, (int64_t)x->chunks,
                  (int64_t)x->microbatches},
        .pass = pass,
    };
    int64_t part = 0;
    ck_assert(calc_schedule_interleaved_fits(&sim.shape));
    for (int64_t chunk = 0; chunk < sim.shape.chunks; chunk++) {
        for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
            for (double left = x->of[i].stages; left > 0; left--) {
                pass[part++] = (calc_schedule_pass){x->of[i].chunk.fw_s, x->of[i].chunk.bw_s / 2,
                                                    x->of[i].chunk.bw_s / 2};
            }
        }
    }
    ck_assert_int_eq(part, parts(&sim.shape));
    pass[0].fw_s += x->first.fw_s;
    pass[0].bw_s += x->first.bw_s;
    pass[part - 1].fw_s += x->last.fw_s;
    pass[part - 1].bw_s += x->last.bw_s;
    return simulate(&sim, NULL);
}

CALC_TEST(interleaved_stages_that_differ_are_close)
{
    errors e = {0, 1, -1};
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_interleaved x = random_interleaved();
        double want_s = simulate_interleaved(&x);
        double error = calc_schedule_interleaved_s(&x) / want_s - 1;
        must(error <= 1e-12, "never more", error, 0);
        must(error >= -0.01, "close", error, -0.01);
        e.sum += fabs(error);
        e.lowest = fmin(e.lowest, error);
    }
    if (getenv("CALC_SCHEDULE_ERRORS")) {
        printf("%-42s %5llu cases, mean %.5f %%, from %.3f %%\n", "interleaved, unequal",
               (unsigned long long)cases(), 100 * e.sum / (double)cases(), 100 * e.lowest);
    }
    must(e.sum / (double)cases() <= 1e-5, "mean", e.sum / (double)cases(), 1e-5);
}

CALC_TEST(no_chunk_shortens_an_interleaved_step_by_growing)
{
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_interleaved x = random_interleaved();
        double before_s = calc_schedule_interleaved_s(&x);
        calc_schedule_chunk *chunk[] = {&x.of[0].chunk, &x.of[1].chunk, &x.of[2].chunk,
                                        &x.of[3].chunk, &x.first,       &x.last};
        int which = (int)between(0, 5);
        double more_s = real(0, 1);
        *(between(0, 1) ? &chunk[which]->fw_s : &chunk[which]->bw_s) += more_s;
        double after_s = calc_schedule_interleaved_s(&x);
        must(after_s >= before_s * (1 - 1e-14), "longer", after_s, before_s);
    }
}

/* ---- Few micro-batches for many ---------------------------------------------------------------*/

/* Every other case is like a model: there the busiest stage sets the pace. Where all parts are
   random chunks out of step may be slower than any stage. */
CALC_TEST(few_micro_batches_tell_the_step_of_many)
{
    for (uint64_t i = 0; i < cases(); i++) {
        begin(i);
        calc_schedule_pass pass[PARTS];
        calc_schedule_sim sim = {.shape = any_shape(), .pass = pass};
        int64_t times = between(1, 12);
        sim.shape.microbatches *= times;
        if (i % 2) {
            model_stages(&sim.shape, pass);
        } else {
            random_passes(&sim.shape, pass);
        }
        must(calc_schedule_steady_fits(&sim.shape), "room", (double)parts(&sim.shape), 0);
        double got_s = calc_schedule_steady_s(&sim.shape, pass);
        double want_s = simulate(&sim, NULL);
        must(fabs(got_s - want_s) <= 1e-11 * want_s, "time", got_s, want_s);
    }
}
