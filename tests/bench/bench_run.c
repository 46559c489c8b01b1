/* How long one evaluation takes: calc_run() on GPT-3 175B layouts, one core; and calc_run_exact()
 * on some; and which of the shipped layouts takes longest, and of others like them.
 *
 * An evaluation is one call of calc_run(): all statistics of one layout. Micro-batch, recomputation
 * and interleaving change from call to call, so that no branch is learnt by heart. The fastest of
 * several rounds is reported: these machines have other things to do. */
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "calc.h"

enum { ROUNDS = 7, CALLS = 200000, LAYOUTS = 64 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may be shared */
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

/* ---- All layouts of the project's files ------------------------------------------------------ */

static glob_t files_of(const char *pattern)
{
    char path[512];
    glob_t files;
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s", pattern);
    if (glob(path, 0, NULL, &files) != 0) {
        fprintf(stderr, "bench_run: no files %s\n", pattern);
        exit(EXIT_FAILURE);
    }
    return files;
}

static const char *name_of(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* The model that an execution is named after, MODEL_...; false: there is none. */
static bool load_model(const char *exec, calc_app *app)
{
    char path[512];
    const char *name = name_of(exec);
    int length = (int)strcspn(name, "_");
    calc_errors errors = {0};
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/models/%.*s.json", length, name);
    return calc_load(CALC_KIND_APP, app, path, &errors) == CALC_OK;
}

static double run_s(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    int calls)
{
    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        for (int i = 0; i < calls; i++) {
            calc_stats stats;
            calc_run(app, system, exec, CALC_COMPAT_NONE, &stats);
            __asm__ volatile("" ::"r"(&stats) : "memory");
        }
        double elapsed_s = (now_s() - start_s) / calls;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    return best_s;
}

/* A layout like another one: not its processors, but its batch, chunks and state. Schedules are
 * left alone: most of them are simulated (docs/schedules.md). */
static void vary(calc_rng *rng, calc_exec *exec)
{
    calc_strategy *s = &exec->strategy;
    exec->batch_size *= 1 + calc_rng_below(rng, 3);
    exec->microbatch_size = (int64_t)1 << calc_rng_below(rng, 3);
    exec->pipeline_interleaving = 1 + calc_rng_below(rng, 8);
    exec->pipeline_balance =
        (calc_pipeline_balance)calc_rng_below(rng, CALC_PIPELINE_BALANCE_COUNT);
    exec->recompute_blocks = calc_rng_below(rng, 4);
    s->activation_recompute = (calc_activation_recompute)calc_rng_below(rng, 3);
    s->zero_stage = calc_rng_below(rng, 4);
    s->optimizer_sharding = s->zero_stage > 0;
    s->data_par_overlap = calc_rng_below(rng, 2) > 0;
    s->weight_offload = calc_rng_below(rng, 4) == 0;
    s->activations_offload = calc_rng_below(rng, 4) == 0;
    s->optimizer_offload = calc_rng_below(rng, 4) == 0;
}

/* The slowest of those in a folder that train, on every machine that they are legal on.
 * @param rng  to vary them, those that are legal then; or NULL */
static void measure_all(const char *pattern, calc_rng *rng)
{
    enum { FEW = 50, MANY = 2000 };
    static calc_system system[128];
    static calc_app app, slowest_app;
    static calc_exec shipped, exec, slowest_exec;
    glob_t execs = files_of(pattern);
    glob_t systems = files_of("systems/*.json");
    double slowest_s = 0;
    size_t at[2] = {0, 0};
    size_t layouts = 0;
    for (size_t i = 0; i < systems.gl_pathc; i++) {
        load(CALC_KIND_SYSTEM, &system[i], systems.gl_pathv[i]);
    }
    for (size_t k = 0; k < execs.gl_pathc; k++) {
        load(CALC_KIND_EXEC, &shipped, execs.gl_pathv[k]);
        if (!shipped.training || !load_model(execs.gl_pathv[k], &app)) {
            continue;
        }
        for (size_t i = 0; i < systems.gl_pathc; i++) {
            calc_errors errors = {0};
            exec = shipped;
            if (rng) {
                vary(rng, &exec);
            }
            if (calc_check(&app, &system[i], &exec, &errors) != CALC_OK) {
                continue;
            }
            double s = run_s(&app, &system[i], &exec, FEW);
            layouts++;
            if (s > slowest_s) {
                slowest_s = s;
                slowest_app = app;
                slowest_exec = exec;
                at[0] = k;
                at[1] = i;
            }
        }
    }
    printf("%s%s: %zu layouts and machines, the slowest %s on %s, calc_run %.2f us\n", pattern,
           rng ? ", varied" : "", layouts, name_of(execs.gl_pathv[at[0]]),
           name_of(systems.gl_pathv[at[1]]),
           run_s(&slowest_app, &system[at[1]], &slowest_exec, MANY) * 1e6);
    globfree(&execs);
    globfree(&systems);
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
    measure_all("executions/*.json", NULL);
    measure_all("executions/seqsel_*/*.json", NULL);
    calc_rng rng;
    calc_rng_init(&rng, 1, 1);
    measure_all("executions/*.json", &rng);
    return EXIT_SUCCESS;
}
