/* Splits: what a cell finds is what it would have computed. */
#include "cell.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "sweep_case.h"
#include "units.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static const struct {
    const char *app, *system;
    calc_compat compat;
} model[] = {
    {"gpt3-13B", "a100_80g", CALC_COMPAT_NONE},
    {"gpt3-13B", "a100_80g", CALC_COMPAT_REPAIRED},
    {"deepseek-v2-236B", "h100_sxm", CALC_COMPAT_NONE},
    {"qwen3-30B-A3B", "b200", CALC_COMPAT_NONE},
};

static sweep_case example;
static calc_splits splits;
static calc_cell cell;
static uint64_t found, missed;

static void load(calc_kind kind, void *out, const char *folder, const char *name)
{
    char path[256];
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, folder, name);
    ck_assert_int_eq(calc_load(kind, out, path, &errors), CALC_OK);
}

static void pick(calc_axis axis, int64_t a, int64_t b)
{
    const int64_t value[] = {a, b};
    ck_assert_int_eq(calc_space_set(&example.space, axis, value, a == b ? 1 : 2), CALC_OK);
}

static void set_up(int i)
{
    sweep_case_init(&example);
    load(CALC_KIND_APP, &example.app, "models", model[i].app);
    load(CALC_KIND_SYSTEM, &example.system, "systems", model[i].system);
    pick(CALC_AXIS_num_procs, 32, 64);
    pick(CALC_AXIS_batch_size, 64, 96);
    pick(CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS);
    if (!model[i].compat) {
        pick(CALC_AXIS_pipeline_schedule, CALC_PIPELINE_SCHEDULE_1F1B,
             CALC_PIPELINE_SCHEDULE_ZB_H1);
    }
    if (example.app.num_experts > 0) {
        pick(CALC_AXIS_expert_par, 1, 4);
    }
    example.options.compat = model[i].compat;
    calc_splits_free(&splits);
    found = missed = 0;
}

/* Bytes that no member has are nobody's. */
static void assert_same(const calc_cell *got, const calc_cell *want)
{
    ck_assert_uint_eq(got->fitting, want->fitting);
    ck_assert_uint_eq(got->unfit, want->unfit);
    for (size_t i = 0; i < want->fitting; i++) {
        const calc_kernel_chunking *a = &got->shape[i];
        const calc_kernel_chunking *b = &want->shape[i];
        ck_assert_int_eq(got->chunking[i].interleaving, want->chunking[i].interleaving);
        ck_assert_int_eq(got->chunking[i].overlapped, want->chunking[i].overlapped);
        ck_assert(a->chunks == b->chunks && a->overlapped == b->overlapped);
        ck_assert(a->classes == b->classes && a->experts == b->experts);
        ck_assert_mem_eq(a->item, b->item, sizeof a->item);
        ck_assert_mem_eq(&a->start, &b->start, sizeof a->start);
        ck_assert_mem_eq(&a->finish, &b->finish, sizeof a->finish);
    }
    for (size_t i = 0; i < want->unfit; i++) {
        ck_assert_int_eq(got->unfit_chunking[i].interleaving, want->unfit_chunking[i].interleaving);
    }
    ck_assert_int_eq(got->plain_of, -1);
    ck_assert(got->fewest_blocks == want->fewest_blocks && got->offloads == want->offloads);
}

/* The worker only counts: its cells are split each for itself. */
static void visit(void *context, const calc_worker_place *place)
{
    static calc_cell got;
    const calc_cell *want = &place->worker->cell;
    (void)context;
    got.exec = want->exec;
    got.rounds = want->rounds;
    got.fitting = got.unfit = CALC_CELL_CHUNKINGS;
    if (calc_splits_find(&splits, &got)) {
        assert_same(&got, want);
        found++;
    } else {
        ck_assert_uint_eq(got.fitting, CALC_CELL_CHUNKINGS);
        memcpy(&cell, want, sizeof cell); /* half a megabyte: not for each */
        calc_splits_keep(&splits, &cell);
        missed++;
    }
}

CALC_TEST_LOOP(a_cell_finds_what_it_would_have_computed, 0, (int)(sizeof model / sizeof *model))
{
    calc_sweep_counts counts;
    set_up(_i);
    ck_assert_int_eq(calc_units_walk(&example.space, &example.designs, example.options.compat,
                                     visit, NULL, &counts),
                     CALC_OK);
    ck_assert_uint_gt(found, 1000);
    ck_assert_uint_gt(missed, 10);
    calc_splits_forget(&splits);
    ck_assert(!calc_splits_find(&splits, &cell));
    calc_splits_free(&splits);
    calc_space_free(&example.space);
}

/* Many chunkings would take more room than they save time. */
CALC_TEST(few_chunkings_are_kept_only)
{
    calc_splits_free(&splits);
    memset(&cell, 0, sizeof cell);
    cell.exec.pipeline_par = cell.exec.batch_size = cell.exec.microbatch_size = 1;
    cell.exec.strategy.data_par = 1;
    cell.fitting = CALC_SPLIT_CHUNKINGS + 1;
    calc_splits_keep(&splits, &cell);
    ck_assert(!calc_splits_find(&splits, &cell));
    cell.fitting = CALC_SPLIT_CHUNKINGS;
    calc_splits_keep(&splits, &cell);
    ck_assert(calc_splits_find(&splits, &cell));
    cell.rounds = true;
    ck_assert(!calc_splits_find(&splits, &cell));
    calc_splits_free(&splits);
}

/* Where the place of a split is another's, the later one is found, and what it is. */
CALC_TEST(of_splits_on_one_place_the_later_stays)
{
    const int64_t most = 4 * CALC_SPLITS;
    int64_t kept = 0;
    memset(&cell, 0, sizeof cell);
    cell.exec.batch_size = cell.exec.microbatch_size = cell.exec.strategy.data_par = 1;
    for (int64_t i = 2; i < most; i++) {
        cell.exec.pipeline_par = i;
        cell.fewest_blocks = (double)i;
        calc_splits_keep(&splits, &cell);
        ck_assert(calc_splits_find(&splits, &cell));
    }
    for (int64_t i = 2; i < most; i++) {
        cell.exec.pipeline_par = i;
        bool there = calc_splits_find(&splits, &cell);
        ck_assert(!there || cell.fewest_blocks == (double)i);
        kept += there;
    }
    ck_assert_int_gt(kept, CALC_SPLITS / 2);
    ck_assert_int_le(kept, CALC_SPLITS);
    calc_splits_free(&splits);
}

/* Of micro-batches only matters whether they are whole rounds of the stages. */
CALC_TEST(micro_batches_matter_by_whole_rounds)
{
    memset(&cell, 0, sizeof cell);
    cell.exec.microbatch_size = cell.exec.strategy.data_par = 1;
    cell.exec.pipeline_par = 4;
    cell.exec.batch_size = 8;
    calc_splits_keep(&splits, &cell);
    cell.exec.batch_size = 12;
    ck_assert(calc_splits_find(&splits, &cell));
    cell.exec.batch_size = 13;
    ck_assert(!calc_splits_find(&splits, &cell));
    calc_splits_free(&splits);
}
