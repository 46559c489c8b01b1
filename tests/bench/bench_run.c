/* How long one evaluation takes: calc_run() on GPT-3 175B layouts, one core; and calc_run_exact()
 * on some.
 *
 * An evaluation is one call of calc_run(): all statistics of one layout. Micro-batch, recomputation
 * and interleaving change from call to call, so that no branch is learnt by heart. The fastest of
 * several rounds is reported: these machines have other things to do. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "calc.h"

enum { ROUNDS = 7, CALLS = 200000, LAYOUTS = 64 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void load(calc_kind kind, void *object, const char *path)
{
    calc_errors errors = {0};
    if (calc_load(kind, object, path, &errors) != CALC_OK) {
        char text[1024];
        calc_error_print(&errors.item[0], text, sizeof text);
        fprintf(stderr, "bench_run: %s\n", text);
        exit(EXIT_FAILURE);
    }
}

/* calc_run() and calc_run_exact() on one layout of the project's files. */
static void measure_exact(const char *model, const char *machine, const char *name)
{
    enum { EXACT_CALLS = 200 };
    char path[512];
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_stats stats;
    calc_errors errors = {0};
    size_t bytes;
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/models/%s.json", model);
    load(CALC_KIND_APP, &app, path);
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", machine);
    load(CALC_KIND_SYSTEM, &system, path);
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/executions/%s.json", name);
    load(CALC_KIND_EXEC, &exec, path);
    void *workspace = calc_exact_bytes(&exec, &bytes, &errors) == CALC_OK ? malloc(bytes) : NULL;
    if (!workspace) {
        fprintf(stderr, "bench_run: %s cannot be simulated\n", name);
        exit(EXIT_FAILURE);
    }
    double best_s[2] = {1e9, 1e9};
    for (int round = 0; round < 2 * ROUNDS; round++) {
        bool exact = round % 2;
        double start_s = now_s();
        for (int i = 0; i < EXACT_CALLS; i++) {
            if (exact) {
                calc_run_exact(&app, &system, &exec, workspace, &stats);
            } else {
                calc_run(&app, &system, &exec, CALC_COMPAT_NONE, &stats);
            }
            __asm__ volatile("" ::"r"(&stats) : "memory");
        }
        double elapsed_s = (now_s() - start_s) / EXACT_CALLS;
        best_s[exact] = elapsed_s < best_s[exact] ? elapsed_s : best_s[exact];
    }
    free(workspace);
    printf("%s: calc_run %.2f us, calc_run_exact %.1f us\n", name, best_s[0] * 1e6,
           best_s[1] * 1e6);
}

int main(void)
{
    static const int64_t microbatch[] = {1, 2, 4, 8};
    static calc_exec layout[LAYOUTS];
    calc_app app;
    calc_system system;
    calc_exec base;
    load(CALC_KIND_APP, &app, CALC_DATA_DIR_SOURCE "/models/gpt3-175B.json");
    load(CALC_KIND_SYSTEM, &system, CALC_DATA_DIR_SOURCE "/systems/a100_80g.json");
    load(CALC_KIND_EXEC, &base, CALC_DATA_DIR_SOURCE "/executions/3072_t4_p64_d12_mbs4_full.json");
    for (int i = 0; i < LAYOUTS; i++) {
        layout[i] = base;
        layout[i].microbatch_size = microbatch[i & 3];
        layout[i].strategy.activation_recompute = (calc_activation_recompute)((i >> 2) % 3);
        layout[i].pipeline_interleaving = 1 + ((i >> 4) & 1);
        layout[i].strategy.tensor_par_overlap = (calc_tensor_par_overlap)((i >> 5) & 1);
        calc_errors errors = {0};
        if (calc_check(&app, &system, &layout[i], &errors) != CALC_OK) {
            fprintf(stderr, "bench_run: %s\n", errors.item[0].text);
            return EXIT_FAILURE;
        }
    }

    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        for (int i = 0; i < CALLS; i++) {
            calc_stats stats;
            calc_run(&app, &system, &layout[i % LAYOUTS], CALC_COMPAT_NONE, &stats);
            /* The compiler must believe that somebody reads the statistics. */
            __asm__ volatile("" ::"r"(&stats) : "memory");
        }
        double elapsed_s = now_s() - start_s;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    printf("calc_run: %.2f us per evaluation, %.0f evaluations per second and core\n",
           best_s / CALLS * 1e6, CALLS / best_s);
    measure_exact("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full");
    measure_exact("llama3-405B", "h100_sxm", "llama3-405B_16384");
    measure_exact("deepseek-v3-671B", "h800", "deepseek-v3_2048");
    measure_exact("mixtral-8x7B", "h100_sxm", "mixtral-8x7B_64");
    return EXIT_SUCCESS;
}
