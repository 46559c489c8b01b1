/* calc_sweep() finds, entry by entry, what looking at every layout finds: with and without bounds,
 * with any number of threads, at every CPU level, whole or in shards. */

#include "conditions.h"
#include "frame.h"
#include "kernel.h"
#include "oracle.h"
#include "sampled.h"

enum { SPACES = 25, MOST_LAYOUTS = 4000 };

static random_space space;
static oracle all;
static calc_sweep_options options;
static calc_sweep_result want;

/* The space, options and right answer of a seed. */
static void make_case(uint64_t seed)
{
    calc_rng rng;
    calc_rng_init(&rng, seed, 2);
    random_space_make(&space, seed, MOST_LAYOUTS);
    options = random_options(&rng);
    random_space_count(&space, options.compat);
    oracle_make(&all, &space, options.compat);
    oracle_sweep(&all, &space, &options, &want);
}

static void free_case(void)
{
    calc_sweep_result_free(&want);
    oracle_free(&all);
    random_space_free(&space);
}

static void sweep(const calc_sweep_options *how, calc_sweep_result *got)
{
    calc_errors errors = {0};
    calc_status status = calc_sweep(&space.space, &space.designs, how, got, &errors);
    ck_assert_msg(status == CALC_OK, "seed %d: %s", (int)space.seed, errors.item[0].text);
    ck_assert(!got->partial);
}

/* Every point is in one place: evaluated or skipped or rejected before. */
static void assert_counts_add_up(const calc_sweep_counts *c)
{
    uint64_t before = 0;
    for (int v = 0; v < CALC_VERDICT_MEM1_CAPACITY; v++) {
        before += c->rejected[v];
    }
    uint64_t memory =
        c->rejected[CALC_VERDICT_MEM1_CAPACITY] + c->rejected[CALC_VERDICT_MEM2_CAPACITY];
    ck_assert_uint_eq(c->total, c->evaluated + c->skipped + before);
    ck_assert_uint_eq(c->evaluated, c->feasible + memory);
    ck_assert_uint_eq(c->rejected[CALC_VERDICT_OK], 0);
}

CALC_TEST_LOOP(counting_a_space_finds_as_many_layouts_as_listing_it, 0, sample_of(SPACES))
{
    make_case((uint64_t)_i);
    ck_assert_uint_eq(space.counts.total, all.count);
    uint64_t *rejected = space.counts.rejected;
    ck_assert_uint_eq(rejected[CALC_VERDICT_NETWORK_SIZE],
                      want.counts.rejected[CALC_VERDICT_NETWORK_SIZE]);
    ck_assert_uint_eq(rejected[CALC_VERDICT_NETWORK_FILL],
                      want.counts.rejected[CALC_VERDICT_NETWORK_FILL]);
    ck_assert_uint_eq(rejected[CALC_VERDICT_INTERLEAVING],
                      want.counts.rejected[CALC_VERDICT_INTERLEAVING]);
    free_case();
}

CALC_TEST_LOOP(without_pruning_the_sweep_counts_and_finds_what_the_oracle_does, 0,
               sample_of(SPACES))
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    make_case((uint64_t)_i);
    options.no_prune = true;
    for (size_t i = 0; i < levels; i++) {
        calc_sweep_result got;
        options.cpu = level[i].name;
        sweep(&options, &got);
        ck_assert_str_eq(got.cpu, level[i].name);
        assert_counts_add_up(&got.counts);
        assert_same_counts(&space, &got.counts, &want.counts, level[i].name);
        assert_same_groups(&space, &got, &want, level[i].name);
        calc_sweep_result_free(&got);
    }
    free_case();
}

CALC_TEST_LOOP(pruning_and_threads_change_nothing_that_is_found, 0, sample_of(SPACES))
{
    static const int threads[] = {1, 2, 5};
    make_case((uint64_t)_i);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        calc_sweep_result got;
        options.threads = threads[i];
        sweep(&options, &got);
        ck_assert_int_eq(got.threads, threads[i]);
        assert_counts_add_up(&got.counts);
        ck_assert_uint_eq(got.counts.total, want.counts.total);
        ck_assert_uint_le(got.counts.feasible, want.counts.feasible);
        assert_same_groups(&space, &got, &want, "pruned");
        calc_sweep_result_free(&got);
    }
    free_case();
}

CALC_TEST_LOOP(constraints_and_other_objectives_find_what_the_oracle_does, 0, sample_of(SPACES))
{
    static const char *const objectives[] = {"total_efficiency", "useful_flops", "weight_space"};
    static const char *const constraints[] = {"tensor_par != 3", "sample_rate > 0",
                                              "pipeline_par <= 4"};
    make_case((uint64_t)_i);
    calc_sweep_result_free(&want);
    calc_constraint constraint[2];
    calc_objective other;
    ck_assert_int_eq(calc_objective_parse(&other, objectives[_i % 3], NULL), CALC_OK);
    ck_assert_int_eq(calc_constraint_parse(&constraint[0], constraints[_i % 3], NULL), CALC_OK);
    ck_assert_int_eq(calc_constraint_parse(&constraint[1], "mem1 < 1000 GiB", NULL), CALC_OK);
    /* A condition that about half of the layouts meet. */
    if (all.count > 0) {
        constraint[1].value = all.layout[all.count / 2].stats.proc_mem_tier1_cap_req;
    }
    options.constraint = constraint;
    options.constraints = 2;
    options.objectives = 2;
    options.objective[0] = other;
    options.objective[1] = options.top_by;
    options.threads = 2;
    oracle_sweep(&all, &space, &options, &want);
    calc_sweep_result got;
    for (int prunes = 0; prunes < 2; prunes++) {
        options.no_prune = !prunes;
        sweep(&options, &got);
        assert_counts_add_up(&got.counts);
        assert_same_groups(&space, &got, &want, "constrained");
        if (!prunes) {
            assert_same_counts(&space, &got.counts, &want.counts, "constrained");
        }
        calc_sweep_result_free(&got);
    }
    free_case();
}

CALC_TEST_LOOP(conditions_leave_what_the_oracle_does, 0, sample_of(SPACES))
{
    make_case((uint64_t)_i);
    assert_conditions_filter(&space, &all, &options);
    free_case();
}

CALC_TEST_LOOP(three_shards_merged_are_the_whole, 0, sample_of(SPACES))
{
    make_case((uint64_t)_i);
    calc_sweep_result merged = {0};
    options.no_prune = true;
    for (uint64_t shard = 0; shard < 3; shard++) {
        calc_sweep_result got;
        options.shard = (calc_shard){shard + 1, 3, shard};
        options.threads = 1 + (int)shard;
        sweep(&options, &got);
        if (shard == 0) {
            merged = got;
            continue;
        }
        ck_assert_int_eq(calc_sweep_merge(&options, &merged, &got), CALC_OK);
        calc_sweep_result_free(&got);
    }
    assert_same_counts(&space, &merged.counts, &want.counts, "shards");
    assert_same_groups(&space, &merged, &want, "shards");
    calc_sweep_result_free(&merged);
    free_case();
}
