/* How long a planner of unequal stages takes: a step of 16 stages, a whole search, and searches
 * over chunks: one core. The fastest of several rounds is reported. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "balance/evaluate.h"
#include "balance/solve.h"

enum { ROUNDS = 7, CALLS = 10000 };

static calc_balance_problem problem;
static calc_balance_solution solution;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 3 dense layers and 59 with experts, each stage short of memory. */
static void pose(int stages, int chunks, int64_t microbatches)
{
    problem = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, stages, chunks, microbatches},
        .layers = {3, 59},
        .chips = 1,
        .layer = {{{0.397, 0.730083, 0, {0, 0, 0.397}, 866, {479, 0, 30}, 0, 0},
                   {1, 1.839, 0, {0, 0, 1}, 10691, {765, 0, 30}, 0, 0}}},
        .may_full = true,
        .least_layers = 1,
    };
    for (int s = 0; s < stages; s++) {
        problem.stage[s].limit_bytes = 52914.0 * 16 / stages * (chunks > 1 ? 1.25 : 1);
    }
    problem.place[stages * chunks - 1] = (calc_balance_place){.fw_s = 1.5, .agrad_s = 2.7585};
}

static void measure(const char *name)
{
    calc_balance_options options = {0};
    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        if (calc_balance_solve(&problem, &options, &solution) != CALC_OK || !solution.feasible) {
            fprintf(stderr, "bench_balance: %s is not solved\n", name);
            exit(EXIT_FAILURE);
        }
        double elapsed_s = now_s() - start_s;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    printf("balance %s: %.3f ms, %lld steps simulated, %s within %.2f %%\n", name, best_s * 1e3,
           (long long)solution.evaluations, solution.proven ? "proven" : "found",
           100 * (solution.answer.step_s / solution.bound_s - 1));
}

int main(void)
{
    double fw_s[16];
    double bw_s[16];
    for (int s = 0; s < 16; s++) {
        fw_s[s] = 1 + 1e-3 * (s % 7);
        bw_s[s] = 2;
    }
    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        for (int i = 0; i < CALLS; i++) {
            double step_s = calc_balance_rounds_s(16, 64, fw_s, bw_s);
            __asm__ volatile("" ::"r"(&step_s) : "memory");
        }
        double elapsed_s = (now_s() - start_s) / CALLS;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    printf("balance step of 16 stages, 64 micro-batches: %.2f us\n", best_s * 1e6);
    pose(16, 1, 64);
    measure("16 stages, 62 layers");
    pose(8, 2, 64);
    measure("8 stages of 2 chunks, 62 layers");
    return EXIT_SUCCESS;
}
