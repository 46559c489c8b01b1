/* How long Galvatron's search takes, beside the seconds that upstream took on the same cases (on a
 * core of 2.5 GHz), and on models and machines that are larger: one core. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <check.h>
#undef ck_assert_msg /* outside of a test */
#define ck_assert_msg(holds, ...)                                                                  \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, __VA_ARGS__);                                                          \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#include "unit/galvatron_search_case.h"

enum { ROUNDS = 3 };

static galvatron_case c;
static calc_galvatron_found found;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fastest of several. */
static double search_s(bool compat)
{
    double best_s = 1e9;
    c.request.compat = compat;
    for (int round = 0; round < ROUNDS; round++) {
        double start_s = now_s();
        if (calc_galvatron_search(&c.request, &c.profiles, &found) != CALC_OK) {
            fprintf(stderr, "bench_galvatron: a search failed\n");
            exit(EXIT_FAILURE);
        }
        double s = now_s() - start_s;
        best_s = s < best_s ? s : best_s;
    }
    return best_s;
}

static void measure(const char *name, double upstream_s)
{
    double compat_s = search_s(true);
    double step_s = found.best.step_s;
    double default_s = search_s(false);
    printf("galvatron %s: compat %.1f ms, default %.1f ms", name, compat_s * 1e3, default_s * 1e3);
    if (upstream_s > 0) {
        printf(", upstream %.1f s", upstream_s);
    }
    printf("; %d tasks, %d solved; steps %.4f and %.4f s", found.tasks, found.solved, step_s,
           found.best.step_s);
    printf(found.proven ? ", proven\n" : ", within %.3f %%\n", 100 * found.gap);
}

/* Machines that nobody profiled: like those of eight, for more. */
static void extend(int64_t nodes, int64_t layers, double memory_gb)
{
    for (int k = 4; k < CALC_GALVATRON_DOUBLINGS; k++) {
        c.profiles.consecutive[k] = c.profiles.consecutive[3] * (1 + 0.5 * (k - 3));
        c.profiles.strided[k] = c.profiles.consecutive[k];
        c.profiles.p2p[k] = c.profiles.p2p[3];
    }
    c.profiles.strided[3] = c.profiles.consecutive[3];
    c.request.num_nodes = nodes;
    c.request.layers[0].layer_num = layers;
    c.request.memory_constraint = memory_gb;
}

int main(void)
{
    for (int i = 0; i < GALVATRON_CASES; i++) {
        char path[256];
        galvatron_search_open(&c, galvatron_cases[i]);
        snprintf(path, sizeof path, "%s/result.json", galvatron_cases[i]);
        json_t *result = galvatron_json(path);
        measure(galvatron_cases[i], json_number_value(json_object_get(result, "cpu_seconds")));
        json_decref(result);
        galvatron_close(&c);
    }
    galvatron_search_open(&c, "02_llama2-7b_1x8_24G_bsz64");
    for (int i = 0; i < 2; i++) {
        extend(8, 80, i ? 40 : 80);
        c.request.settle_bsz = 512;
        measure(i ? "80 layers, 64 GPUs of 40 GB" : "80 layers, 64 GPUs of 80 GB", 0);
        extend(128, 80, i ? 24 : 80);
        c.request.settle_bsz = 2048;
        measure(i ? "80 layers, 1,024 GPUs of 24 GB" : "80 layers, 1,024 GPUs of 80 GB", 0);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("galvatron peak memory: %ld MB\n", usage.ru_maxrss / 1024);
    galvatron_close(&c);
    return EXIT_SUCCESS;
}
