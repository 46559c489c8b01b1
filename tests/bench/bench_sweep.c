/* How fast a sweep is: evaluations per second and core, per CPU level; how much of it is tables,
 * of models of today, too;
 * how long a small sweep takes; whether units of work are balanced.
 *
 * usage: bench_sweep [tables|scaling]
 *
 * An evaluation is a point whose time and memory were both computed and compared with the best
 * (calc_sweep_counts.evaluated); skipped points are never among them. The fastest of several rounds
 * is reported: these machines have other things to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "defaults.h"
#include "kernel.h"
#include "spec/compat.h"
#include "sweep.h"
#include "units.h"

enum { ROUNDS = 5, WORKERS = 128 };

static calc_app app;
static calc_system sys;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(calc_status status, const char *what)
{
    if (status != CALC_OK) {
        fprintf(stderr, "bench_sweep: %s: %s\n", what, calc_status_text(status));
        exit(EXIT_FAILURE);
    }
}

static void load(const char *model, const char *system)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/models/%s.json", model);
    must(calc_load(CALC_KIND_APP, &app, path, NULL), path);
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", system);
    must(calc_load(CALC_KIND_SYSTEM, &sys, path, NULL), path);
}

static void get_design(const void *context, uint64_t index, calc_app *a, calc_system *s)
{
    (void)context;
    (void)index;
    *a = app;
    *s = sys;
}

static const calc_designs designs = {.count = 1, .get = get_design};

/* All layouts for processors from `first` to `last` by 8, fused and not. */
static calc_space make_space(int64_t first, int64_t last, int64_t batch)
{
    static const int64_t both[] = {false, true};
    static int64_t procs[1024];
    size_t count = 0;
    for (int64_t n = first; n <= last; n += 8) {
        procs[count++] = n;
    }
    calc_space space;
    must(calc_space_init(&space), "space");
    must(calc_space_set(&space, CALC_AXIS_num_procs, procs, count), "space");
    must(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), "space");
    must(calc_space_set(&space, CALC_AXIS_fused_activation, both, 2), "space");
    return space;
}

static calc_sweep_options make_options(void)
{
    calc_sweep_options o = {.objectives = 3, .top = 10, .no_prune = true, .threads = 1};
    must(calc_objective_parse(&o.objective[0], "sample_rate", NULL), "objective");
    must(calc_objective_parse(&o.objective[1], "mem1", NULL), "objective");
    must(calc_objective_parse(&o.objective[2], "mem2", NULL), "objective");
    o.top_by = o.objective[0];
    return o;
}

/* Sweep several times. @return the fastest [s] */
static double fastest(const calc_space *space, const calc_sweep_options *options,
                      calc_sweep_counts *counts)
{
    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        calc_sweep_result result;
        must(calc_sweep(space, &designs, options, &result, NULL), "sweep");
        best_s = result.elapsed_s < best_s ? result.elapsed_s : best_s;
        *counts = result.counts;
        calc_sweep_result_free(&result);
    }
    return best_s;
}

static void bench_space(const char *model, const char *system, int64_t procs, int64_t batch,
                        calc_compat compat)
{
    char rules[CALC_COMPAT_TEXT];
    calc_compat_text(compat, rules);
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    load(model, system);
    calc_space space = make_space(procs, procs, batch);
    calc_sweep_options options = make_options();
    options.compat = compat;
    calc_sweep_counts c = {0};
    for (size_t i = 0; i < levels; i++) {
        options.cpu = level[i].name;
        double best_s = fastest(&space, &options, &c);
        printf(
            "%s %s %lld processors, rules %s, no pruning, %s: %.1f million evaluations per second "
            "and core (%llu in %.1f ms)\n",
            model, system, (long long)procs, rules, level[i].name,
            1e-6 * (double)c.evaluated / best_s, (unsigned long long)c.evaluated, 1e3 * best_s);
    }
    options.no_prune = false;
    double best_s = fastest(&space, &options, &c);
    printf("  with pruning: %.1f ms, %llu of %llu skipped\n", 1e3 * best_s,
           (unsigned long long)c.skipped, (unsigned long long)c.total);
    calc_space_free(&space);
}

static calc_worker *make_worker(const calc_space *space, const calc_sweep_options *options,
                                size_t groups, calc_units *units)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_worker *w = calc_worker_create(space, options, level[levels - 1].run, groups);
    must(w ? CALC_OK : CALC_ERR_NOMEM, "worker");
    calc_worker_begin(w, &app, &sys, 0);
    must(calc_units_list(units, space, &app, &sys, options->compat), "units");
    return w;
}

/* The profile tables of a space alone: what a sweep spends on everything that is not cells and
 * lanes. */
static void bench_tables(const char *name, const calc_space *space)
{
    calc_sweep_options options = make_options();
    calc_units units = {0};
    calc_worker *w = make_worker(space, &options, 1, &units);
    double best_s = 1e9;
    size_t rows = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        rows = 0;
        for (size_t i = 0; i < units.count; i++) {
            const calc_exec base = calc_units_base(&units, i);
            must(calc_worker_rows(w, &base), "rows");
            rows += w->rows.count;
            /* The compiler must believe that somebody reads the table. */
            __asm__ volatile("" ::"r"(w->rows.row) : "memory");
        }
        double elapsed_s = now_s() - start_s;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    printf("tables of %s: %zu rows of %zu units in %.2f ms, %.2f us per row\n", name, rows,
           units.count, 1e3 * best_s, 1e6 * best_s / (double)rows);
    calc_worker_free(w);
    calc_units_free(&units);
}

/* Of a model of today, with what is searched if nobody says. */
static void bench_modern_tables(const char *model, const char *system, int64_t procs, int64_t batch)
{
    calc_designs_builder builder = {0};
    calc_space space;
    load(model, system);
    must(calc_designs_add_app(&builder, model, &app), "builder");
    must(calc_designs_add_system(&builder, system, &sys), "builder");
    must(calc_space_init(&space), "space");
    must(calc_space_set(&space, CALC_AXIS_num_procs, &procs, 1), "space");
    must(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), "space");
    must(calc_defaults_set(&space, &builder, CALC_COMPAT_NONE), "defaults");
    bench_tables(model, &space);
    calc_space_free(&space);
    calc_designs_builder_free(&builder);
}

static void bench_all_tables(void)
{
    load("gpt3-175B", "a100_80g");
    calc_space space = make_space(512, 512, 512);
    bench_tables("gpt3-175B", &space);
    calc_space_free(&space);
    bench_modern_tables("llama3-405B", "h100_80g_nvl8", 16384, 2048);
    bench_modern_tables("qwen3-235B-A22B", "h100_80g_nvl8", 256, 1024);
    bench_modern_tables("deepseek-v3-671B", "h100_80g_nvl8", 2048, 8192);
}

/* ---- The kernel alone ------------------------------------------------------------------------ */

static calc_panel panel;
static calc_screen screen;

/* Lanes of equal blocks, by rules or without. */
static calc_kernel_job make_job(size_t lanes, calc_compat compat, calc_stage_terms *shared)
{
    calc_stage_part part = {.fw_s = 1, .agrad_s = 1, .wgrad_s = 1, .weights = {1, 0}};
    *shared = (calc_stage_terms){.compat = compat,
                                 .block = {part},
                                 .stages = 8,
                                 .microbatches = 32,
                                 .training = true,
                                 .dense_shards = 1,
                                 .expert_shards = 1,
                                 .used_share = 1};
    panel.count = lanes;
    for (size_t i = 0; i < lanes; i++) {
        calc_panel_put(&panel, i, shared);
    }
    calc_panel_pad(&panel, compat != CALC_COMPAT_NONE);
    calc_screen_clear(&screen, 1e9, 0);
    return (calc_kernel_job){.panel = &panel,
                             .shared = shared,
                             .tier1_capacity_bytes = 1e9,
                             .screen = &screen,
                             .numerator = 1,
                             .most_s = CALC_KERNEL_NEVER_S};
}

/* 12 blocks for each of 8 stages, in classes of as many stages. */
static calc_kernel_chunking make_chunking(int classes)
{
    calc_kernel_chunking c = {.chunks = 1, .classes = classes};
    for (int i = 0; i < classes; i++) {
        c.item[i] =
            (calc_stage_class){.stages = 8.0 / classes, .position = i * 8.0 / classes, .dense = 12};
        c.held[i] = 8 - c.item[i].position;
    }
    return c;
}

/* Needs, pipeline and step of each lane, again and again. @return the fastest [s] */
static double fastest_calls(const calc_kernel *kernel, const calc_kernel_job *job,
                            const calc_kernel_chunking *chunking, size_t calls)
{
    static calc_kernel_needs needs;
    static calc_kernel_pipelines pipelines;
    static calc_lanes steps_s;
    bool allowed[2][2] = {{true, false}, {false, true}};
    const calc_stage_links links = {0};
    double best_s = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        for (size_t k = 0; k < calls; k++) {
            kernel->needs(job, chunking, &needs);
            kernel->pipeline(job, chunking, &links, &pipelines);
            kernel->step(job, chunking, &links, &needs, &pipelines, allowed, &steps_s);
            __asm__ volatile("" ::"r"(&steps_s) : "memory");
        }
        double elapsed_s = now_s() - start_s;
        best_s = elapsed_s < best_s ? elapsed_s : best_s;
    }
    return best_s;
}

static void bench_kernel(size_t lanes, int classes, calc_compat compat)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    char rules[CALC_COMPAT_TEXT];
    calc_stage_terms shared;
    calc_kernel_job job = make_job(lanes, compat, &shared);
    calc_kernel_chunking chunking = make_chunking(classes);
    size_t calls = 1000000 / lanes;
    calc_compat_text(compat, rules);
    for (size_t i = 0; i < levels; i++) {
        double best_s = fastest_calls(level[i].run, &job, &chunking, calls);
        /* Each lane stands for two points, with and without overlap. */
        printf("kernel alone, %zu lanes, %d class%s, rules %s, %s: %.2f ns per lane, %.0f million "
               "points per second\n",
               lanes, classes, classes > 1 ? "es" : "", rules, level[i].name,
               1e9 * best_s / (double)(calls * lanes), 1e-6 * (double)(calls * lanes * 2) / best_s);
    }
}

/* ---- Balance --------------------------------------------------------------------------------- */

/* Give the units of the scaling study, in order, to whoever is free of 128 workers. */
static void bench_balance(void)
{
    load("gpt3-175B", "h100_80g_nvl8");
    calc_space space = make_space(8, 8192, 2340);
    calc_sweep_options options = make_options();
    size_t groups = space.axis[CALC_AXIS_num_procs].count;
    options.per_num_procs = true;
    options.no_prune = false;
    options.compat = CALC_COMPAT_REPAIRED;
    calc_units units = {0};
    calc_worker *w = make_worker(&space, &options, groups, &units);
    double busy_s[WORKERS] = {0};
    double sum_s = 0;
    double longest_unit_s = 0;
    double longest_s = 0;
    for (size_t i = 0; i < units.count; i++) {
        int first = 0;
        for (int k = 1; k < WORKERS; k++) {
            first = busy_s[k] < busy_s[first] ? k : first;
        }
        double start_s = now_s();
        calc_units_run(w, &units, i);
        double unit_s = now_s() - start_s;
        busy_s[first] += unit_s;
        sum_s += unit_s;
        longest_unit_s = unit_s > longest_unit_s ? unit_s : longest_unit_s;
        longest_s = busy_s[first] > longest_s ? busy_s[first] : longest_s;
    }
    printf("balance over %d workers: longest/mean %.3f; %zu units, longest %.2f ms, mean %.3f ms, "
           "%.2f s in all\n",
           WORKERS, longest_s / (sum_s / WORKERS), units.count, 1e3 * longest_unit_s,
           1e3 * sum_s / (double)units.count, sum_s);
    calc_worker_free(w);
    calc_units_free(&units);
    calc_space_free(&space);
}

/* ---- The scaling study ----------------------------------------------------------------------- */

static void bench_scaling(bool no_prune)
{
    static const struct {
        const char *model;
        int64_t batch;
    } models[] = {{"gpt3-175B", 2340}, {"turing-530B", 2520}, {"megatron-1T", 3072}};
    calc_sweep_options options = make_options();
    options.threads = 2;
    options.compat = CALC_COMPAT_REPAIRED;
    options.no_prune = no_prune;
    options.per_num_procs = true;
    uint64_t total = 0;
    uint64_t evaluated = 0;
    double sum_s = 0;
    for (int i = 0; i < 6; i++) {
        bool offload = i % 2 == 1;
        load(models[i / 2].model, "h100_80g_nvl8");
        sys.chip.mem2.capacity_bytes = offload ? 0x1p39 : 0;
        sys.chip.mem2.bytes_per_s = offload ? 100e9 : 1e9;
        calc_space space = make_space(8, 8192, models[i / 2].batch);
        calc_sweep_result result;
        must(calc_sweep(&space, &designs, &options, &result, NULL), "sweep");
        total += result.counts.total;
        evaluated += result.counts.evaluated;
        sum_s += result.elapsed_s;
        calc_sweep_result_free(&result);
        calc_space_free(&space);
    }
    printf("scaling study, 2 threads, %s pruning: %llu layouts, %llu evaluated, %.1f s\n",
           no_prune ? "without" : "with", (unsigned long long)total, (unsigned long long)evaluated,
           sum_s);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "tables") == 0) {
        bench_all_tables();
        return EXIT_SUCCESS;
    }
    printf("evaluation: a point whose time and memory were computed and compared with the best\n");
    bench_space("gpt3-175B", "a100_80g", 512, 512, CALC_COMPAT_REPAIRED);
    bench_space("gpt3-175B", "a100_80g", 512, 512, CALC_COMPAT_NONE);
    bench_all_tables();
    bench_space("gpt3-175B", "h100_80g_nvl8", 512, 512, CALC_COMPAT_REPAIRED);
    bench_space("megatron-22B", "a100_80g", 8, 8, CALC_COMPAT_REPAIRED); /* a small one: start-up */
    for (size_t lanes = 8; lanes <= 128; lanes *= 16) {
        bench_kernel(lanes, 1, CALC_COMPAT_NONE);
        bench_kernel(lanes, 3, CALC_COMPAT_NONE);
        bench_kernel(lanes, CALC_MAX_STAGE_CLASSES, CALC_COMPAT_NONE);
        bench_kernel(lanes, 1, CALC_COMPAT_REPAIRED);
    }
    bench_balance();
    if (argc > 1 && strcmp(argv[1], "scaling") == 0) {
        bench_scaling(false);
        bench_scaling(true);
    }
    return EXIT_SUCCESS;
}
