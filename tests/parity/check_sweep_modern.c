/* Sweeps of layouts that are lists of stages, and of spaces that mix them with Calculon's: every
 * point is calc_run() to the bit, and what is found is what looking at every layout finds, at every
 * CPU level, with any number of threads, whole, in shards and from saved parts. */
#include <stdlib.h>

#include "conditions.h"
#include "estimate.h"
#include "frame.h"
#include "kernel.h"
#include "model/operators/transformer.h"
#include "oracle.h"
#include "pack.h"
#include "sampled.h"

enum { SPACES = 60, ORACLE_LAYOUTS = 3000, VERIFIED_SPACES = 60, VERIFIED_LAYOUTS = 20000 };

static random_space space;

static void sweep(const calc_sweep_options *how, calc_sweep_result *got)
{
    calc_errors errors = {0};
    calc_status status = calc_sweep(&space.space, &space.designs, how, got, &errors);
    if (status != CALC_OK) {
        random_space_print(&space, stderr);
    }
    ck_assert_msg(status == CALC_OK, "seed %d: %s", (int)space.seed, errors.item[0].text);
}

CALC_TEST_LOOP(every_point_is_what_calc_run_says, 0, sample_of(VERIFIED_SPACES))
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng rng;
    calc_rng_init(&rng, (uint64_t)_i, 3);
    random_space_make_modern(&space, 5000 + (uint64_t)_i, VERIFIED_LAYOUTS);
    for (size_t i = 0; i < levels; i++) {
        calc_sweep_options options = {.compat = i == 0 ? random_compat(&rng) : CALC_COMPAT_NONE,
                                      .no_prune = true,
                                      .verify = 1,
                                      .threads = 1,
                                      .cpu = level[i].name};
        calc_sweep_result result;
        sweep(&options, &result);
        calc_sweep_result_free(&result);
    }
    random_space_free(&space);
}

/* Sweep a third of the chunks and add what it finds, packed and unpacked, to the rest. */
static void add_third(calc_sweep_options options, uint64_t shard, calc_sweep_result *merged)
{
    calc_sweep_result got;
    calc_sweep_result unpacked;
    calc_pack pack = {0};
    options.shard = (calc_shard){shard + 1, 3, shard};
    sweep(&options, &got);
    calc_pack_result(&pack, &got);
    calc_unpack in = {.at = pack.data, .end = pack.data + pack.size};
    ck_assert_int_eq(calc_unpack_result(&in, &unpacked), CALC_OK);
    if (shard == 0) {
        *merged = unpacked;
    } else {
        ck_assert_int_eq(calc_sweep_merge(&options, merged, &unpacked), CALC_OK);
        calc_sweep_result_free(&unpacked);
    }
    free(pack.data);
    calc_sweep_result_free(&got);
}

CALC_TEST_LOOP(every_sweep_finds_and_counts_what_the_oracle_does, 0, sample_of(SPACES))
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng rng;
    oracle all;
    calc_sweep_result want;
    calc_sweep_result got;
    calc_rng_init(&rng, (uint64_t)_i, 2);
    random_space_make_modern(&space, (uint64_t)_i, ORACLE_LAYOUTS);
    calc_sweep_options options = random_options(&rng);
    options.no_prune = true;
    oracle_make(&all, &space, options.compat);
    oracle_sweep(&all, &space, &options, &want);
    random_space_count(&space, options.compat);
    ck_assert_msg(space.counts.total == all.count, "seed %d: %llu layouts, not %zu", _i,
                  (unsigned long long)space.counts.total, all.count);
    for (size_t i = 0; i < levels; i++) {
        options.cpu = level[i].name;
        options.threads = 1 + (int)i;
        sweep(&options, &got);
        assert_same_counts(&space, &got.counts, &want.counts, level[i].name);
        assert_same_groups(&space, &got, &want, level[i].name);
        calc_sweep_result_free(&got);
    }
    options.no_prune = false;
    sweep(&options, &got);
    assert_same_groups(&space, &got, &want, "pruned");
    calc_sweep_result_free(&got);
    assert_conditions_filter(&space, &all, &options);
    options.no_prune = true;
    for (uint64_t shard = 0; shard < 3; shard++) {
        add_third(options, shard, &got);
    }
    assert_same_counts(&space, &got.counts, &want.counts, "shards");
    assert_same_groups(&space, &got, &want, "shards");
    calc_sweep_result_free(&got);
    calc_sweep_result_free(&want);
    oracle_free(&all);
    random_space_free(&space);
}

/* It says something of all seeds, not of a sample. */
CALC_TEST_LOOP(the_seeds_try_stages_and_mixtures_of_both_kinds, 0, sample_step() == 1)
{
    size_t mixed = 0;
    size_t stages = 0;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        enum { DRAWN = 200 };
        calc_sample_point point[DRAWN];
        uint64_t total;
        size_t extended = 0;
        random_space_make_modern(&space, seed, ORACLE_LAYOUTS);
        ck_assert_int_eq(calc_sample(&space.space, &space.designs, CALC_COMPAT_NONE, 1, DRAWN,
                                     point, &total, NULL),
                         CALC_OK);
        for (size_t i = 0; i < DRAWN; i++) {
            uint64_t design = point[i].design;
            extended += calc_calculon_lacks(&space.app[design], &point[i].exec.strategy) != NULL;
        }
        mixed += extended > 0 && extended < DRAWN;
        stages += extended > 0;
        random_space_free(&space);
    }
    ck_assert_uint_gt(mixed, 3);
    ck_assert_uint_gt(stages, SPACES / 2);
}

static int compare_points(const void *a, const void *b)
{
    const calc_sample_point *x = a;
    const calc_sample_point *y = b;
    if (x->design != y->design) {
        return x->design < y->design ? -1 : 1;
    }
    return calc_axis_compare(&x->exec, &y->exec);
}

CALC_TEST_LOOP(points_drawn_are_legal_and_different_layouts, 0, sample_of(20))
{
    enum { DRAWN = 3000 };
    static calc_sample_point point[DRAWN];
    uint64_t total;
    calc_errors errors = {0};
    random_space_make_modern(&space, (uint64_t)_i, ORACLE_LAYOUTS);
    ck_assert_int_eq(calc_sample(&space.space, &space.designs, CALC_COMPAT_NONE, 1, DRAWN, point,
                                 &total, &errors),
                     CALC_OK);
    size_t count = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        const calc_app *app = &space.app[point[i].design];
        const calc_system *system = &space.system[point[i].design];
        calc_stats stats;
        ck_assert_int_eq(calc_check(app, system, &point[i].exec, NULL), CALC_OK);
        ck_assert_int_eq(calc_run(app, system, &point[i].exec, CALC_COMPAT_NONE, &stats),
                         point[i].verdict);
        if (count == 0 || point[i].index != point[count - 1].index) {
            point[count++] = point[i];
        }
    }
    qsort(point, count, sizeof *point, compare_points);
    for (size_t i = 1; i < count; i++) {
        ck_assert_int_ne(compare_points(&point[i - 1], &point[i]), 0);
    }
    random_space_free(&space);
}
