/* The step of a pipeline, against schedule_sim.h and a simulation written apart; its
 * memory and what is hidden: unit/check_stage_step.txt. */
#include "model/stages/stage_step.h"

#include "base/rng.h"
#include "model/schedule/schedule_sim.h"
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_stage_step.txt", .answer = formula_answer};

enum { CLASSES = CALC_MAX_STAGE_CLASSES, MOST_STAGES = 12, MOST_MICROBATCHES = 60 };

/* A pipeline of up to four classes of stages. */
typedef struct pipeline {
    calc_pipeline_schedule schedule;
    int64_t stages, chunks, microbatches;
    calc_stage_class of[CLASSES];
    calc_stage_pass pass[CLASSES];
    double head_s; /* of the last stage: all of it on its last chunk */
} pipeline;

/* A stage that takes 2, 3 and 1 s. */
static const calc_stage_pass even = {.fw_s = 2, .agrad_s = 3, .wgrad_s = 1};
static const double C = 6;
static const calc_stage_links no_links;

static calc_stage_pass takes(double fw_s, double agrad_s, double wgrad_s)
{
    return (calc_stage_pass){.fw_s = fw_s, .agrad_s = agrad_s, .wgrad_s = wgrad_s};
}

static pipeline even_pipeline(calc_pipeline_schedule schedule, int64_t p, int64_t v, int64_t m)
{
    pipeline x = {.schedule = schedule, .stages = p, .chunks = v, .microbatches = m};
    x.of[0].stages = (double)p;
    x.pass[0] = even;
    return x;
}

/* Schedules beside plain 1F1B look at blocks: those of all classes are the same, some have more. */
static double closed_form_s(const pipeline *x)
{
    const calc_stage_pass *one = &x->pass[0];
    calc_stage_terms t = {
        .block[0] = {.fw_s = one->fw_s, .agrad_s = one->agrad_s, .wgrad_s = one->wgrad_s},
        .stages = (double)x->stages,
        .microbatches = (double)x->microbatches,
        .training = true,
        .head = {.fw_s = x->head_s},
    };
    calc_stage_class of[CLASSES];
    for (int i = 0; i < CLASSES; i++) {
        of[i] = x->of[i];
        double head_s = of[i].last * x->head_s;
        of[i].dense = of[i].stages > 0 ? (x->pass[i].fw_s - head_s) / one->fw_s : 0;
    }
    double s = calc_stage_pipeline_s(&t, &no_links, x->schedule, CLASSES, of, x->pass,
                                     (double)x->chunks, 1);
    if (x->of[0].stages == (double)x->stages) { /* the others are not there */
        double alone_s =
            calc_stage_pipeline_s(&t, &no_links, x->schedule, 1, of, x->pass, (double)x->chunks, 1);
        ck_assert_double_eq(alone_s, s);
    }
    return s;
}

static double even_s(calc_pipeline_schedule schedule, int64_t p, int64_t v, int64_t m)
{
    pipeline x = even_pipeline(schedule, p, v, m);
    return closed_form_s(&x);
}

/* Operation by operation. ZB-V and DualPipeV halve the stages. */
static double simulated_s(const pipeline *x, calc_schedule_stage stage[MOST_STAGES])
{
    static calc_schedule_pass pass[MOST_STAGES * 4];
    static _Alignas(16) char workspace[1 << 20];
    bool two = x->schedule == CALC_PIPELINE_SCHEDULE_ZB_V ||
               x->schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    int64_t v = two ? 2 : x->chunks, at = 0;
    calc_schedule_sim sim = {.shape = {x->schedule, x->stages, v, x->microbatches}, .pass = pass};
    for (int i = 0; i < CLASSES; i++) {
        for (int k = 0; k < (int)x->of[i].stages; k++, at++) {
            double head_s = at == x->stages - 1 ? x->head_s : 0;
            for (int64_t c = 0; c < v; c++) {
                int64_t part = two && c == 1 ? 2 * x->stages - 1 - at : c * x->stages + at;
                double n = (double)v;
                pass[part] = (calc_schedule_pass){(x->pass[i].fw_s - head_s) / n,
                                                  x->pass[i].agrad_s / n, x->pass[i].wgrad_s / n};
                pass[part].fw_s += c == v - 1 ? head_s : 0;
            }
        }
    }
    ck_assert_int_eq(at, x->stages);
    ck_assert_int_eq(calc_schedule_check(&sim.shape), CALC_SCHEDULE_OK);
    ck_assert_uint_le(calc_schedule_sim_bytes(&sim.shape), sizeof workspace);
    return calc_schedule_sim_s(&sim, workspace, stage, NULL);
}

/* ---- Equal stages ---------------------------------------------------------------------------- */

CALC_TEST(one_stage_has_no_bubble)
{
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        if (i != CALC_PIPELINE_SCHEDULE_DUALPIPE) { /* stages in pairs */
            assert_near(even_s((calc_pipeline_schedule)i, 1, 1, 5), 5 * C);
        }
    }
}

CALC_TEST(equal_stages_wait_for_the_first_and_last_micro_batch)
{
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 8), (8 + 3) * C);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_GPIPE, 4, 1, 8), (8 + 3) * C);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 1), 4 * C);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 2), 5 * C);
}

CALC_TEST(chunks_divide_the_bubble)
{
    assert_near(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 3, 8), 8 * C + 3 * C / 3);
    /* a last round of 2 instead of 4 leaves 2 of them idle in every chunk but the last, on the way
       back: 3 forwards and 3 + 2 * 2 backwards, a third of a stage each */
    assert_near(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 3, 6), 6 * C + (3 * 2 + 7 * 4) / 3.0);
    /* and of one round alone both ways */
    assert_near(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 3, 2), 2 * C + 7 * C / 3.0);
}

CALC_TEST(weight_gradients_fill_the_bubble)
{
    /* 3 max(F, B, F + B - W), and so on: docs/schedules.md */
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_ZB_H1, 4, 1, 8), 8 * C + 3 * (2 + 3 - 1));
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_ZB_H2, 4, 1, 8), 8 * C + 3 * (2 + 3 - 2));
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_ZB_V, 4, 1, 8), 8 * C + 3 * (2 * 3 - 2) / 2);
    /* h = 1: max(2F, 2F + B - W, 2B - W, B); in half stages h = 5 */
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 8), 8 * C + 2 * 2 + 3 - 1);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_DUALPIPE_V, 6, 1, 12),
                        12 * C + 4 * 1 + 2 * 5 * 1.5 - 5 * 0.5);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_DUALPIPE, 2, 1, 4), 4 * C);
}

/* 2 p micro-batches and more, where all of them are exact. */
CALC_TEST(equal_stages_take_what_they_take_operation_by_operation)
{
    static const calc_stage_pass passes[] = {
        {2, 3, 1, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 0}, {3, 2, 2, 0, 0, 0, 0}, {2, 4, 3, 0, 0, 0, 0}};
    calc_schedule_stage stage[MOST_STAGES];
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        for (int64_t p = 2; p <= 8; p += 2) {
            for (int64_t m = 2 * p; m <= 4 * p; m += 2) {
                pipeline x = even_pipeline((calc_pipeline_schedule)i, p, 1, m);
                for (size_t k = 0; k < sizeof passes / sizeof *passes; k++) {
                    x.pass[0] = passes[k];
                    assert_near(closed_form_s(&x), simulated_s(&x, stage));
                }
            }
        }
    }
}

/* Exact where the stages divide the micro-batches or there are no more of those; else short by
   less than 4 parts in 100. */
CALC_TEST(equal_chunks_take_what_they_take_operation_by_operation)
{
    calc_schedule_stage stage[MOST_STAGES];
    for (int64_t p = 2; p <= 8; p++) {
        for (int64_t v = 2; v <= 4; v++) {
            for (int64_t m = 1; m <= 4 * p; m++) {
                pipeline x = even_pipeline(CALC_PIPELINE_SCHEDULE_1F1B, p, v, m);
                double got = closed_form_s(&x), exact = simulated_s(&x, stage);
                if (m % p == 0 || m < p) {
                    assert_near(got, exact);
                } else {
                    ck_assert(got <= exact * (1 + ROUNDING) && got >= 0.96 * exact);
                }
            }
        }
    }
}

/* Of equal stages it delays the last one only; where that has fewer blocks, so that all are as
   busy, chunks are out of step. */
CALC_TEST(a_head_is_on_the_last_chunk)
{
    calc_schedule_stage stage[MOST_STAGES];
    pipeline x = even_pipeline(CALC_PIPELINE_SCHEDULE_1F1B, 4, 2, 16);
    x.of[0].stages = 3;
    x.of[3].stages = x.of[3].last = 1;
    for (int head = 0; head <= 4; head++) {
        x.head_s = head;
        x.pass[3] = even;
        x.pass[3].fw_s += x.head_s;
        assert_near(closed_form_s(&x), simulated_s(&x, stage));
        assert_near(closed_form_s(&x), 16 * (C + head) + 3 * C / 2);
    }
    x.pass[3] = takes(2.0 / 3 + x.head_s, 1, 1.0 / 3); /* 1 s a chunk, and 4 s */
    assert_near(closed_form_s(&x), simulated_s(&x, stage));
    ck_assert_double_gt(closed_form_s(&x), 16 * C + 3 * C / 2);
}

CALC_TEST(inference_fills_the_pipeline_and_then_runs_at_the_slowest)
{
    pipeline x = even_pipeline(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 7);
    x.of[0].stages = 3;
    x.of[1].stages = 1;
    x.pass[0] = takes(2, 0, 0);
    x.pass[1] = takes(5, 0, 0);
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        calc_stage_terms t = {.stages = 4, .microbatches = 7};
        double s = calc_stage_pipeline_s(&t, &no_links, (calc_pipeline_schedule)i, CLASSES, x.of,
                                         x.pass, 1, 1);
        ck_assert_double_eq(s, 3 * 2 + 5 + 6 * 5);
    }
}

/* ---- Unequal stages -------------------------------------------------------------------------- */

/* By hand:
     0: F0 0-1  F1 1-2                 B0 7-8   B1 13-14
     1:         F0 1-4  B0 4-7  F1 7-10  B1 10-13 */
CALC_TEST(two_stages_and_two_micro_batches_by_hand)
{
    pipeline x = even_pipeline(CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 2);
    x.of[0].stages = x.of[1].stages = 1;
    x.pass[0] = takes(1, 0.5, 0.5);
    x.pass[1] = takes(3, 1, 2);
    ck_assert_double_eq(closed_form_s(&x), 14);
    x.pass[1] = takes(1, 0.5, 0.5);
    x.pass[0] = takes(3, 1, 2); /* F0 0-3 F1 3-6 B0 6-9 B1 9-12: the last waits */
    ck_assert_double_eq(closed_form_s(&x), 12);
}

/* When 1F1B ends if stage i takes f[i] forward and b[i] backward, event by event: a stage does
   min(m, p - 1 - i) passes forward, then one each way in turn, then the rest backward. */
static double simulate_1f1b(int p, int m, const double *f, const double *b)
{
    static double fw[MOST_STAGES][MOST_MICROBATCHES], bw[MOST_STAGES][MOST_MICROBATCHES];
    int forward[MOST_STAGES] = {0}, backward[MOST_STAGES] = {0};
    double clock[MOST_STAGES] = {0};
    int left = 2 * p * m;
    for (int i = 0; left > 0; i = (i + 1) % p) {
        int warm = m < p - 1 - i ? m : p - 1 - i;
        bool next_is_forward = forward[i] < m && forward[i] <= backward[i] + warm;
        int k = next_is_forward ? forward[i] : backward[i];
        bool ready = next_is_forward ? i == 0 || k < forward[i - 1]
                                     : k < m && (i == p - 1 ? k < forward[i] : k < backward[i + 1]);
        if (!ready) {
            continue;
        }
        double other =
            next_is_forward ? (i == 0 ? 0 : fw[i - 1][k]) : (i == p - 1 ? fw[i][k] : bw[i + 1][k]);
        clock[i] = fmax(clock[i], other) + (next_is_forward ? f[i] : b[i]);
        *(next_is_forward ? &fw[i][k] : &bw[i][k]) = clock[i];
        *(next_is_forward ? &forward[i] : &backward[i]) += 1;
        left--;
    }
    double end = 0;
    for (int i = 0; i < p; i++) {
        end = fmax(end, clock[i]);
    }
    return end;
}

/* Up to four stretches of stages, and what each stage takes.
   @param spread  the longest pass over the shortest, less 1 */
static pipeline random_pipeline(calc_rng *rng, double spread, double f[], double b[])
{
    pipeline x = {.schedule = CALC_PIPELINE_SCHEDULE_1F1B, .chunks = 1};
    for (int i = 0; i < CLASSES; i++) {
        int stages = (int)calc_rng_below(rng, MOST_STAGES / CLASSES + 1);
        stages = i == 0 && stages == 0 ? 1 : stages;
        double fw_s = 1 + spread * calc_rng_real(rng), bw_s = 1 + spread * calc_rng_real(rng);
        if (stages > 0) { /* a class that is not there takes nothing */
            x.pass[i] = takes(fw_s, 0.75 * bw_s, 0.25 * bw_s);
        }
        x.of[i].stages = stages;
        for (int k = 0; k < stages; k++, x.stages++) {
            f[x.stages] = fw_s;
            b[x.stages] = bw_s;
        }
    }
    return x;
}

enum { CASES = 2000 };

/* However much they differ, if there are more micro-batches than stages. */
CALC_TEST(unequal_stages_are_exact)
{
    calc_rng rng;
    calc_rng_init(&rng, 20231112, 0);
    double f[MOST_STAGES], b[MOST_STAGES];
    calc_schedule_stage stage[MOST_STAGES];
    for (int n = 0; n < CASES; n++) {
        pipeline x = random_pipeline(&rng, n % 2 ? 0.5 : 20, f, b);
        int p = (int)x.stages;
        x.microbatches = p + 1 + (int)calc_rng_below(&rng, (uint32_t)(MOST_MICROBATCHES - p));
        double exact = simulate_1f1b(p, (int)x.microbatches, f, b);
        ck_assert_double_eq_tol(closed_form_s(&x), exact, 1e-12 * exact);
        ck_assert_double_eq_tol(simulated_s(&x, stage), exact, 1e-12 * exact);
    }
}

/* Never too long, and exact for most. */
CALC_TEST(fewer_micro_batches_than_stages_are_close_from_below)
{
    calc_rng rng;
    calc_rng_init(&rng, 20231112, 1);
    double f[MOST_STAGES], b[MOST_STAGES];
    int exact_ones = 0;
    for (int n = 0; n < CASES; n++) {
        pipeline x = random_pipeline(&rng, n % 2 ? 0.5 : 3, f, b);
        x.microbatches = 1 + (int)calc_rng_below(&rng, (uint32_t)x.stages);
        double exact = simulate_1f1b((int)x.stages, (int)x.microbatches, f, b);
        double error = closed_form_s(&x) / exact - 1;
        ck_assert_msg(error <= 1e-12 && error >= -0.05, "case %d: %g", n, error);
        exact_ones += error > -1e-12;
    }
    ck_assert_int_ge(exact_ones, CASES * 9 / 10);
}

/* The usual pipeline, a last stage with the head: exact for any number of micro-batches. */
CALC_TEST(a_slow_last_stage_is_exact)
{
    double f[MOST_STAGES], b[MOST_STAGES];
    for (int p = 2; p <= MOST_STAGES; p++) {
        pipeline x = even_pipeline(CALC_PIPELINE_SCHEDULE_1F1B, p, 1, 1);
        x.of[0].stages = p - 1;
        x.of[3].stages = 1;
        x.pass[3] = takes(3, 5, 1.5);
        for (int i = 0; i < p; i++) {
            f[i] = i == p - 1 ? 3 : 2;
            b[i] = i == p - 1 ? 6.5 : 4;
        }
        for (int m = 1; m <= MOST_MICROBATCHES; m += 1 + m / 10) {
            x.microbatches = m;
            assert_near(closed_form_s(&x), simulate_1f1b(p, m, f, b));
        }
    }
}

CALC_TEST(classes_are_their_stages_one_by_one)
{
    pipeline x = even_pipeline(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 20), y = x;
    x.of[0].stages = 1;
    x.of[1].stages = 2;
    x.of[2].stages = 1;
    x.pass[1] = takes(1, 1.5, 0.5);
    x.pass[2] = takes(3, 4.5, 1.5);
    for (int i = 0; i < CLASSES; i++) {
        y.of[i].stages = 1;
        y.pass[i] = x.pass[i == 0 ? 0 : i == 3 ? 2 : 1];
    }
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        x.schedule = y.schedule = (calc_pipeline_schedule)i;
        assert_near(closed_form_s(&x), closed_form_s(&y));
    }
}

/* Stages of two blocks, of which some have half a block more: in one class, or in two. */
CALC_TEST(unequal_stages_of_any_schedule_take_what_they_take_operation_by_operation)
{
    calc_schedule_stage stage[MOST_STAGES];
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        int64_t most = i == CALC_PIPELINE_SCHEDULE_1F1B ? 3 : 1;
        for (int which = 1; which < 1 << CLASSES; which++) {
            for (int64_t m = 16; m <= 56; m += 4) {
                for (int64_t v = 1; v <= most; v++) {
                    pipeline x = even_pipeline((calc_pipeline_schedule)i, 8, v, m);
                    for (int k = 0; k < CLASSES; k++) {
                        double n = which >> k & 1 ? 1.25 : 1;
                        x.of[k].stages = 2;
                        x.pass[k] = takes(2 * n, 3 * n, n);
                    }
                    double exact = simulated_s(&x, stage);
                    if (v == 1 || which < (1 << CLASSES) - 1 || m % 8 == 0) {
                        assert_near(closed_form_s(&x), exact);
                    }
                }
            }
        }
    }
}

/* ---- In flight ------------------------------------------------------------------------------- */

static double in_flight(const pipeline *x, int64_t stage)
{
    calc_stage_terms t = {.stages = (double)x->stages, .microbatches = (double)x->microbatches};
    return calc_stage_in_flight(&t, x->schedule, (double)stage, (double)x->chunks);
}

CALC_TEST(micro_batches_in_flight_are_those_of_the_schedule)
{
    static const struct {
        calc_pipeline_schedule schedule;
        int64_t stage, chunks, microbatches;
        double held;
    } rows[] = {
        {CALC_PIPELINE_SCHEDULE_GPIPE, 3, 1, 16, 16},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 1, 16, 4},
        {CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 16, 1},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 1, 3, 3},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 2, 16, (4 + 6 + 1) / 2.0},
        {CALC_PIPELINE_SCHEDULE_1F1B, 3, 2, 16, (4 + 1) / 2.0},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 4, 16, 4 * (1 + 3.0 / 16)},
        {CALC_PIPELINE_SCHEDULE_1F1B, 0, 2, 2, 2},
        {CALC_PIPELINE_SCHEDULE_ZB_H1, 3, 1, 16, 4},
        {CALC_PIPELINE_SCHEDULE_ZB_V, 0, 1, 16, 4},
        {CALC_PIPELINE_SCHEDULE_ZB_V, 0, 1, 5, 3},
        {CALC_PIPELINE_SCHEDULE_ZB_H2, 0, 1, 16, 7},
        {CALC_PIPELINE_SCHEDULE_ZB_H2, 3, 1, 16, 7},
        {CALC_PIPELINE_SCHEDULE_ZB_H2, 0, 1, 5, 5},
        {CALC_PIPELINE_SCHEDULE_DUALPIPE, 0, 1, 16, 5},
        {CALC_PIPELINE_SCHEDULE_DUALPIPE_V, 3, 1, 16, 4.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pipeline x = even_pipeline(rows[i].schedule, 4, rows[i].chunks, rows[i].microbatches);
        ck_assert_double_eq(in_flight(&x, rows[i].stage), rows[i].held);
    }
}

CALC_TEST(micro_batches_in_flight_are_those_of_every_operation)
{
    calc_schedule_stage stage[MOST_STAGES];
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        bool any = i == CALC_PIPELINE_SCHEDULE_1F1B || i == CALC_PIPELINE_SCHEDULE_GPIPE;
        int64_t most = i == CALC_PIPELINE_SCHEDULE_1F1B ? 3 : 1;
        for (int64_t v = 1; v <= most; v++) {
            for (int64_t m = any ? 1 : 12; m <= 24; m += any ? 1 : 2) {
                pipeline x = even_pipeline((calc_pipeline_schedule)i, 6, v, m);
                simulated_s(&x, stage);
                for (int64_t k = 0; k < 6; k++) {
                    assert_near(in_flight(&x, k), stage[k].in_flight);
                }
            }
        }
    }
}

/* ---- Step ------------------------------------------------------------------------------------ */

/* Of 6 blocks and 2: the larger reduction, optimizer and memory are those of the first stage,
   wherever the time goes. */
CALC_TEST(a_step_is_the_pipeline_and_the_most_of_the_rest)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 2, 4));
    s.c.exec.first_stage_blocks = 6;
    s.c.exec.last_stage_blocks = 2;
    s.c.exec.strategy.zero_stage = 1;
    s.c.system.straggler_growth = 0.25;
    s.c.system.ranks_per_node = 2;
    s.c.system.step_overhead_s = 1e-3;
    s.c.system.chip.mem_fragmentation = 0.5;
    s.c.system.chip.mem_reserved_bytes = 7;
    calc_stage_pass pass[CLASSES] = {pass_of(&s, 0), pass_of(&s, 1)};
    calc_stage_reduction r = reduction_of(&s, 0);
    double memory_bytes = memory_of(&s, 0).total, P = 6 * block_weights;
    ck_assert_double_gt(memory_bytes, memory_of(&s, 1).total);
    calc_stage_step step = calc_stage_step_of(&s.terms, &s.links, CALC_PIPELINE_SCHEDULE_1F1B,
                                              CLASSES, s.stages.item, 1, s.exposed);
    const double f[2] = {pass[0].fw_s, pass[1].fw_s};
    const double b[2] = {pass[0].agrad_s + pass[0].wgrad_s, pass[1].agrad_s + pass[1].wgrad_s};
    double pipeline_s = simulate_1f1b(2, 4, f, b);
    double optimizer_s = (4 + (4 * 4 + 2 * 12) / 4.0) * P / memory;
    assert_near(step.partial_s, 1.5 * pipeline_s + optimizer_s + 1e-3);
    assert_near(step.total_s[0][0], step.partial_s + r.reduce_s + r.gather_s);
    assert_near(step.total_s[0][1], step.partial_s + r.reduce_s + r.gather_beside_s);
    assert_near(step.total_s[1][0], step.partial_s + r.reduce_beside_s + r.gather_s);
    assert_near(step.total_s[1][1], step.partial_s + r.reduce_beside_s + r.gather_beside_s);
    ck_assert_double_eq(step.allocated_bytes, memory_bytes);
    assert_near(step.tier1_bytes, 1.5 * memory_bytes + 7);
}
