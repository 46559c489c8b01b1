/* Lists of stages told to frameworks, and what comes back; in which words, and what is refused:
 * golden/check_commands_export.txt. */
#include "formats/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "formats/export.h"
#include "formats/import.h"
#include "frame.h"
#include "shipped_case.h"
#include "spec/stage_list.h"

static calc_app app;
static calc_exec exec;

static void set(const char *assignment)
{
    calc_system system = {0};
    calc_errors errors = {0};
    ck_assert_msg(calc_set(&app, &system, &exec, assignment, NULL, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

/* Eight stages of a model of 80 blocks, in words that all frameworks have. */
static void setup(void)
{
    load_shipped(CALC_KIND_APP, &app, "models", "llama3-70B");
    load_shipped(CALC_KIND_EXEC, &exec, "executions", "llama3-70B_512");
    set("pipeline_par=8");
    set("data_par=16");
    set("context_par=1");
    set("pipeline_interleaving=1");
    set("batch_size=2048");
    set("grad_datatype=float32");
}

const calc_test_frame calc_tests = {.setup = setup};

static char told[2048];

static void tell(void *context, const char *reason)
{
    (void)context;
    strcat(strcat(told, reason), "\n");
}

static const char *refused(const calc_framework *framework)
{
    told[0] = '\0';
    size_t count;
    ck_assert_int_eq(calc_export_refused(framework, &app, &exec, tell, NULL, &count), CALC_OK);
    return told;
}

static void comes_back(const calc_framework *framework, const char *what)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    calc_app app_back;
    calc_exec back;
    calc_stage_run mine[CALC_MAX_PLACES], theirs[CALC_MAX_PLACES];
    ck_assert_str_eq(refused(framework), "");
    ck_assert_int_eq(calc_export(framework, &app, &exec, 8, &settings, &errors), CALC_OK);
    calc_import import = {.framework = framework, .settings = &settings, .procs = exec.num_procs};
    ck_assert_msg(calc_import_run(&import, &app_back, &back, &errors) == CALC_OK, "%s: %s", what,
                  errors.item[0].text);
    int64_t count = calc_plan_places(&app, &exec, mine);
    ck_assert_int_eq(count, exec.pipeline_par * exec.pipeline_interleaving);
    ck_assert_int_eq(calc_plan_places(&app_back, &back, theirs), count);
    for (int64_t i = 0; i < count; i++) {
        ck_assert_msg(mine[i].blocks == theirs[i].blocks, "%s: place %lld", what, (long long)i);
        ck_assert_msg(mine[i].recompute_blocks == theirs[i].recompute_blocks &&
                          mine[i].recompute == theirs[i].recompute,
                      "%s: place %lld", what, (long long)i);
    }
    calc_settings_free(&settings);
}

/* A random list of the blocks of all chunks; with what recomputes of each if `some`. */
static void list_at_random(calc_rng *rng, bool some)
{
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t all = exec.pipeline_par * exec.pipeline_interleaving;
    int64_t left = app.num_blocks - all;
    for (int64_t i = 0; i < all; i++) {
        int64_t more = i == all - 1 ? left : calc_rng_below(rng, (uint32_t)(left / 2 + 1));
        left -= more;
        int64_t again = some ? calc_rng_below(rng, (uint32_t)(more + 2)) : 0;
        place[i] = (calc_stage_run){.places = 1,
                                    .blocks = (int16_t)(1 + more),
                                    .recompute = CALC_ACTIVATION_RECOMPUTE_FULL,
                                    .recompute_blocks = (int16_t)again};
    }
    exec.stages = (calc_stage_list){0};
    ck_assert(calc_stage_list_pack(place, all, &exec.stages));
}

CALC_TEST(random_lists_come_back)
{
    for (int i = 0; i < 200; i++) {
        calc_rng rng;
        char what[32];
        setup();
        calc_rng_init(&rng, 20261123, (uint64_t)i);
        snprintf(what, sizeof what, "list %d", i);
        exec.pipeline_interleaving = 1 + i % 3;
        list_at_random(&rng, false);
        comes_back(&calc_framework_megatron, what);
        comes_back(&calc_framework_bridge, what);
        comes_back(&calc_framework_mindformers, what);
        list_at_random(&rng, true);
        comes_back(&calc_framework_mindformers, what);
    }
}

/* A list whose stages are all alike says nothing that the layout does not, but for their chips. */
CALC_TEST(only_a_list_that_says_something_is_kept)
{
    set("stages={\"blocks\": [\"8x10\"], \"activation_recompute\": \"none\"}");
    calc_plan_stages_resolve(&app, &exec);
    ck_assert_int_eq(exec.stages.count, 0);
    ck_assert_int_eq(exec.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE);
    set("stages={\"blocks\": [\"8x10\"], \"system\": [\"8xh800\"]}");
    ck_assert_int_eq(exec.stages.chips, 1);
    calc_plan_stages_resolve(&app, &exec);
    ck_assert_int_eq(exec.stages.count, 1);
    ck_assert_int_eq(exec.stages.chips, 1);
    ck_assert_int_eq(exec.stages.run[0].places, 8);
    ck_assert_int_eq(exec.stages.run[0].blocks, CALC_STAGE_AS_EXEC);
}
