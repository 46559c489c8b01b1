/* How long a simulated step of the pipeline takes, per operation, and a closed form: one core. The
 * fastest of several rounds is reported. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/schedule/schedule_sim.h"

enum { ROUNDS = 7, PARTS = 64, CALLS = 100000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(const char *name, calc_schedule_shape shape)
{
    static calc_schedule_pass pass[PARTS];
    for (int64_t i = 0; i < PARTS; i++) {
        pass[i] = (calc_schedule_pass){1 + 1e-3 * (double)(i % 7), 1.25, 0.75};
    }
    calc_schedule_sim sim = {.shape = shape, .pass = pass, .fw_message_s = 0.01, .overlap = true};
    void *workspace = malloc(calc_schedule_sim_bytes(&shape));
    if (workspace == NULL || calc_schedule_check(&shape) != CALC_SCHEDULE_OK) {
        fprintf(stderr, "bench_schedule: %s does not run\n", name);
        exit(EXIT_FAILURE);
    }
    calc_schedule_events events = {0};
    double step_s = calc_schedule_sim_s(&sim, workspace, NULL, &events);
    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        for (int i = 0; i < 50; i++) {
            step_s = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
            __asm__ volatile("" ::"r"(&step_s) : "memory");
        }
        double elapsed_s = (now_s() - start_s) / 50;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    printf("schedule %s: %.1f us, %.1f ns per operation\n", name, best_s * 1e6,
           best_s / (double)events.count * 1e9);
    free(workspace);
}

static void measure_closed(const char *name, calc_schedule_shape shape)
{
    double best_s = 1e9;
    double p = (double)shape.stages;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        for (int i = 0; i < CALLS; i++) {
            calc_schedule_times t = {
                .of = {{1, 1 + 1e-9 * i, 1, 1}, {p - 3, 1, 1, 1}, {1, 0.9, 1, 1}, {1, 1.5, 2, 1}}};
            double step_s = calc_schedule_s(&shape, &t);
            __asm__ volatile("" ::"r"(&step_s) : "memory");
        }
        double elapsed_s = (now_s() - start_s) / CALLS;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    printf("schedule %s, closed form: %.0f ns\n", name, best_s * 1e9);
}

int main(void)
{
    calc_schedule_shape one = {CALC_PIPELINE_SCHEDULE_1F1B, 16, 1, 256};
    calc_schedule_shape interleaved = {CALC_PIPELINE_SCHEDULE_1F1B, 16, 4, 256};
    calc_schedule_shape zb_h1 = {CALC_PIPELINE_SCHEDULE_ZB_H1, 16, 1, 256};
    calc_schedule_shape zb_v = {CALC_PIPELINE_SCHEDULE_ZB_V, 16, 2, 256};
    calc_schedule_shape dualpipe = {CALC_PIPELINE_SCHEDULE_DUALPIPE, 16, 1, 256};
    measure("1f1b, 16 stages, 256 micro-batches", one);
    measure("1f1b, 4 chunks", interleaved);
    measure("zb_h1", zb_h1);
    measure("zb_v", zb_v);
    measure("dualpipe", dualpipe);
    measure_closed("1f1b", one);
    measure_closed("1f1b, 4 chunks", interleaved);
    measure_closed("zb_h1", zb_h1);
    return EXIT_SUCCESS;
}
