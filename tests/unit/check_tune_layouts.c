/* Layouts that may be tried: identities that are the same everywhere, and found again. */
#include "cli/tune/tune_task.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

enum { COUNT = 40 };

static calc_app app;
static calc_system system_;
static calc_found item[COUNT];
static calc_tune_layouts layouts;
static calc_residuals residuals;
static const calc_residuals *known; /* NULL: nothing is */

/* Layouts, each of them twice. */
static void begin_test(void)
{
    ck_assert_int_eq(
        calc_load(CALC_KIND_APP, &app, CALC_DATA_DIR_SOURCE "/models/llama3-70B.json", NULL),
        CALC_OK);
    ck_assert_int_eq(
        calc_load(CALC_KIND_SYSTEM, &system_, CALC_DATA_DIR_SOURCE "/systems/h100_sxm.json", NULL),
        CALC_OK);
    calc_exec exec;
    ck_assert_int_eq(calc_load(CALC_KIND_EXEC, &exec,
                               CALC_DATA_DIR_SOURCE "/executions/llama3-70B_512.json", NULL),
                     CALC_OK);
    calc_resolve(&app, &system_, &exec);
    for (int i = 0; i < COUNT; i++) {
        calc_exec other = exec;
        other.batch_size = exec.batch_size * (1 + i / 2 * 2); /* in pairs */
        item[i] = calc_found_of(0, &other);
    }
    const calc_front best = {.count = COUNT, .item = item};
    layouts =
        (calc_tune_layouts){.app = &app, .system = &system_, .known = known, .family = "H100"};
    calc_tune_layouts_make(&layouts, &best, 2);
}

static void end_test(void)
{
    calc_tune_layouts_free(&layouts);
    calc_residuals_free(&residuals);
}

const calc_test_frame calc_tests = {.setup = begin_test, .teardown = end_test};

/* calc sweep and calc run ask the same function. */
CALC_TEST(the_chance_to_fit_is_that_of_the_published_runs)
{
    ck_assert(isnan(layouts.candidate[0].fits));
    end_test();
    ck_assert_int_eq(
        calc_residuals_read(&residuals, CALC_DATA_DIR_SOURCE "/tests/measured/residuals.csv", NULL),
        CALC_OK);
    known = &residuals;
    begin_test();
    known = NULL;
    size_t unsure = 0;
    for (size_t i = 0; i < layouts.count; i++) {
        const calc_exec exec = calc_tune_layouts_exec(&layouts, i);
        calc_stats stats;
        calc_run(&app, &system_, &exec, CALC_COMPAT_NONE, &stats);
        const calc_fits_query query = {&app, &system_, &exec, "H100", stats.proc_mem_tier1_cap_req,
                                       NULL};
        double share = calc_fits_of(&residuals, &query).share;
        ck_assert(layouts.candidate[i].fits == share && share >= 0 && share < 1);
        unsure += share < 0.99;
    }
    ck_assert_uint_gt(unsure, 0);
}

CALC_TEST(layouts_that_are_the_same_are_there_once_in_the_order_of_the_sweep)
{
    ck_assert_uint_eq(layouts.count, COUNT / 2);
    for (size_t i = 0; i < layouts.count; i++) {
        ck_assert_ptr_eq(layouts.found[i], &item[2 * i]);
        ck_assert_double_gt(layouts.candidate[i].step_s, 0);
    }
}

CALC_TEST(an_identity_is_the_hash_of_the_execution_as_it_is_written)
{
    for (size_t i = 0; i < layouts.count; i++) {
        char id[CALC_TUNE_ID_SIZE], whole[32];
        size_t index = SIZE_MAX;
        const calc_exec exec = calc_found_exec(&item[2 * i]);
        uint64_t hash = calc_tune_layouts_hash(&exec);
        ck_assert(hash == layouts.hash[i]);
        snprintf(whole, sizeof whole, "%016" PRIx64, hash);
        calc_tune_layouts_id(&layouts, i, id);
        ck_assert_uint_eq(strlen(id), 8);
        ck_assert_int_eq(strncmp(id, whole, 8), 0);
        ck_assert_uint_eq(calc_tune_layouts_find(&layouts, id, &index), 1);
        ck_assert_uint_eq(index, i);
        ck_assert_uint_eq(calc_tune_layouts_find(&layouts, whole, &index), 1);
        for (char *at = id; *at; at++) {
            *at = (char)toupper((unsigned char)*at);
        }
        ck_assert_uint_eq(calc_tune_layouts_find(&layouts, id, &index), 1);
        ck_assert_uint_eq(index, i);
        id[7] = '\0';
        ck_assert_uint_eq(calc_tune_layouts_find(&layouts, id, &index), 0);
    }
    size_t index;
    ck_assert_uint_eq(calc_tune_layouts_find(&layouts, "", &index), 0);
    ck_assert_uint_eq(calc_tune_layouts_find(&layouts, "zzzzzzzz", &index), 0);
    ck_assert_uint_eq(calc_tune_layouts_find(&layouts, "0123456789abcdef0", &index), 0);
}

CALC_TEST(identities_that_begin_alike_are_written_whole)
{
    char id[CALC_TUNE_ID_SIZE], other[CALC_TUNE_ID_SIZE];
    size_t index;
    /* The next in order gets the beginning of the one before it. */
    size_t a = layouts.by_hash[3];
    size_t b = layouts.by_hash[4];
    layouts.hash[b] = layouts.hash[a] + 1;
    calc_tune_layouts_id(&layouts, a, id);
    calc_tune_layouts_id(&layouts, b, other);
    ck_assert_uint_eq(strlen(id), 16);
    ck_assert_uint_eq(strlen(other), 16);
    ck_assert_uint_eq(calc_tune_layouts_find(&layouts, id, &index), 1);
    ck_assert_uint_eq(index, a);
    ck_assert_uint_eq(calc_tune_layouts_find(&layouts, other, &index), 1);
    ck_assert_uint_eq(index, b);
    id[8] = '\0';
    ck_assert_uint_eq(calc_tune_layouts_find(&layouts, id, &index), 2);
    calc_tune_layouts_id(&layouts, layouts.by_hash[7], id);
    ck_assert_uint_eq(strlen(id), 8);
}

CALC_TEST(a_layout_that_is_added_stands_behind_the_others_and_is_found)
{
    char id[CALC_TUNE_ID_SIZE];
    size_t index, again;
    calc_exec exec = calc_found_exec(&item[0]);
    int64_t batch = exec.batch_size;
    ck_assert(calc_tune_layouts_add(&layouts, &exec, &index));
    ck_assert_uint_eq(index, 0); /* it is there */
    for (int i = 0; i < 50; i++) {
        exec.batch_size = batch * (100 + i);
        ck_assert(calc_tune_layouts_add(&layouts, &exec, &index));
        ck_assert_uint_eq(index, COUNT / 2 + (size_t)i);
        calc_tune_layouts_id(&layouts, index, id);
        ck_assert_uint_eq(calc_tune_layouts_find(&layouts, id, &again), 1);
        ck_assert_uint_eq(again, index);
    }
    for (size_t i = 1; i < layouts.count; i++) {
        ck_assert(layouts.hash[layouts.by_hash[i - 1]] < layouts.hash[layouts.by_hash[i]]);
    }
    ck_assert_uint_eq(layouts.swept, COUNT / 2);
    system_.chip.mem2.capacity_bytes = 1; /* nothing has room there */
    exec.strategy.optimizer_offload = true;
    size_t count = layouts.count;
    ck_assert(!calc_tune_layouts_add(&layouts, &exec, &index));
    ck_assert_uint_eq(layouts.count, count);
}
