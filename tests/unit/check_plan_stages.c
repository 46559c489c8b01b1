/* Lists of stages told to frameworks, and what comes back. */
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

/* ---- Refusals -------------------------------------------------------------------------------- */

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

CALC_TEST(what_a_framework_cannot_be_told_is_refused)
{
    set("stages=3,7x11");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_str_eq(refused(&calc_framework_bridge), "");
    ck_assert_str_eq(refused(&calc_framework_mindformers), "");
    const calc_framework *others[] = {&calc_framework_mindspeed, &calc_framework_torchtitan,
                                      &calc_framework_paddle, &calc_framework_nemo};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_msg(strstr(refused(others[i]), "it has no setting for stages.blocks = 3, 7x11\n"),
                      "%s: %s", others[i]->name, told);
    }
    set("stages={\"activation_recompute\": [\"2xfull\", \"6xnone\"], \"recompute_blocks\": "
        "[3, \"7xnull\"]}");
    ck_assert_str_eq(refused(&calc_framework_megatron),
                     "it has no setting for stages.recompute_blocks = full of 3, full, 6x none\n");
    ck_assert_str_eq(refused(&calc_framework_mindformers), "");
    set("stages={\"activation_recompute\": [\"2xattn_only\", \"6xnone\"]}");
    ck_assert_str_eq(refused(&calc_framework_mindformers),
                     "it has no setting for stages.recompute_blocks = 2x attn_only, 6x none\n");
}

CALC_TEST(what_all_stages_recompute_is_told_as_of_a_layout)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    set("stages={\"activation_recompute\": \"full\", \"recompute_blocks\": 3, \"blocks\": [4, "
        "\"6x12\", 4]}");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_int_eq(calc_export(&calc_framework_megatron, &app, &exec, 8, &settings, &errors),
                     CALC_OK);
    int found = 0;
    for (size_t i = 0; i < settings.count; i++) {
        const calc_setting *s = &settings.item[i];
        found += strcmp(s->key, "--recompute-num-layers") == 0 && strcmp(s->value, "3") == 0;
        found += strcmp(s->key, "--recompute-method") == 0 && strcmp(s->value, "block") == 0;
        found += strcmp(s->key, "--pipeline-model-parallel-layout") == 0 &&
                 strcmp(s->value, "Et*4|(t*12|)*6t*4L") == 0;
    }
    ck_assert_int_eq(found, 3);
    calc_settings_free(&settings);
}

static int remarks;

static void count_system(void *context, const char *field, const char *value, bool layout)
{
    (void)context;
    if (strcmp(field, "stages.system") == 0) {
        ck_assert_str_eq(value, "4x a800, 4x h800");
        ck_assert(!layout);
        remarks++;
    }
}

/* What Megatron-LM is told of a key. */
static const char *setting(const char *key)
{
    static char value[256];
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_export(&calc_framework_megatron, &app, &exec, 8, &settings, &errors),
                     CALC_OK);
    value[0] = '\0';
    for (size_t i = 0; i < settings.count; i++) {
        if (strcmp(settings.item[i].key, key) == 0) {
            snprintf(value, sizeof value, "%s", settings.item[i].value);
        }
    }
    calc_settings_free(&settings);
    return value;
}

/* Megatron-Core recomputes the first of a stage's blocks, up to that number: all where there are
 * fewer. */
CALC_TEST(a_stage_with_fewer_blocks_recomputes_all_of_them)
{
    set("stages={\"blocks\": [13, \"5x12\", 6, 1], \"activation_recompute\": \"full\", "
        "\"recompute_blocks\": [\"7x2\", 1]}");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_str_eq(setting("--recompute-num-layers"), "2");
    set("stages={\"blocks\": [13, \"5x12\", 6, 1], \"activation_recompute\": \"full\", "
        "\"recompute_blocks\": [2, \"7x1\"]}");
    ck_assert_str_eq(
        refused(&calc_framework_megatron),
        "it has no setting for stages.recompute_blocks = full of 2, 6x full of 1, full\n");
}

/* Ours are blocks of a stage, spread over its chunks; those of Megatron-Core's TransformerBlock are
 * of a chunk: "the number of layers per virtual pipeline stage" (Megatron-Bridge's guide). */
CALC_TEST(recomputed_blocks_are_told_by_chunk)
{
    set("pipeline_interleaving=5");
    set("activation_recompute=full");
    set("seq_par_ag_redo=false");
    set("recompute_blocks=5");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_str_eq(setting("--recompute-num-layers"), "1");
    set("recompute_blocks=3");
    ck_assert_str_ne(refused(&calc_framework_megatron), "");
}

/* calc has no balance that gives chunks different numbers, but for the ends. */
CALC_TEST(letters_of_uneven_chunks_are_a_list)
{
    set("pipeline_par=16");
    set("data_par=8");
    set("num_blocks=126");
    set("pipeline_interleaving=4");
    set("stages=62x2,2x1");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_str_eq(setting("--pipeline-model-parallel-layout"), "Et*2|(t*2|)*61t|tL");
}

/* Letters of equal chunks, but for the ends, which have one less, are read as pipeline_balance. */
CALC_TEST(a_list_that_is_a_balance_of_ends_comes_back)
{
    set("pipeline_par=2");
    set("data_par=64");
    set("num_blocks=10");
    set("pipeline_interleaving=3");
    set("stages=1,4x2,1");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_str_eq(setting("--pipeline-model-parallel-layout"), "Et|(t*2|)*4tL");
}

CALC_TEST(which_stage_is_on_which_system_is_a_remark)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    set("stages={\"system\": [\"4xa800\", \"4xh800\"], \"blocks\": [\"4x8\", \"4x12\"]}");
    ck_assert_str_eq(refused(&calc_framework_megatron), "");
    ck_assert_int_eq(calc_export(&calc_framework_megatron, &app, &exec, 8, &settings, &errors),
                     CALC_OK);
    ck_assert_int_eq(
        calc_export_lost(&calc_framework_megatron, &app, &exec, &settings, count_system, NULL),
        CALC_OK);
    ck_assert_int_eq(remarks, 1);
    calc_settings_free(&settings);
}

/* ---- There and back -------------------------------------------------------------------------- */

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

/* ---- Texts ----------------------------------------------------------------------------------- */

static calc_exec read_of(const calc_framework *framework, const char *pair[][2], size_t count,
                         calc_status want, calc_errors *errors)
{
    calc_settings settings = {0};
    calc_app app_back;
    calc_exec back = {0};
    for (size_t i = 0; i < count; i++) {
        calc_setting *s = calc_settings_add(&settings, pair[i][0], strlen(pair[i][0]));
        ck_assert(calc_setting_append(s, pair[i][1], strlen(pair[i][1])));
    }
    calc_import import = {.framework = framework, .settings = &settings, .procs = 512};
    ck_assert_int_eq(calc_import_run(&import, &app_back, &back, errors), want);
    calc_settings_free(&settings);
    return back;
}

CALC_TEST(offsets_are_from_an_even_split)
{
    calc_errors errors = {0};
    calc_stage_run place[CALC_MAX_PLACES];
    const char *pair[][2] = {{"model.model_config.num_hidden_layers", "10"},
                             {"parallel_config.pipeline_stage", "2"},
                             {"model.model_config.pp_interleave_num", "2"},
                             {"model.model_config.offset", "[[0, 0], [1, 1]]"},
                             {"recompute_config.recompute", "[[2, 2], [3, 1]]"}};
    calc_app ten = app;
    ten.num_blocks = 10;
    calc_exec back = read_of(&calc_framework_mindformers, pair, 5, CALC_OK, &errors);
    ck_assert_int_eq(calc_plan_places(&ten, &back, place), 4);
    const int blocks[] = {2, 2, 3, 3}, again[] = {2, 2, 3, 1};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(place[i].blocks, blocks[i]);
        ck_assert_int_eq(place[i].recompute_blocks, again[i]);
    }
    pair[3][1] = "[[0, 0], [1, 2]]";
    read_of(&calc_framework_mindformers, pair, 5, CALC_ERR_RULE, &errors);
    ck_assert_str_eq(errors.item[0].text,
                     "the offsets do not spread 10 blocks over 4 stages and chunks");
    pair[3][1] = "[0, 0, 1]";
    errors = (calc_errors){0};
    read_of(&calc_framework_mindformers, pair, 5, CALC_ERR_RULE, &errors);
    pair[3][1] = "half";
    errors = (calc_errors){0};
    read_of(&calc_framework_mindformers, pair, 5, CALC_ERR_RANGE, &errors);
    ck_assert_str_eq(
        errors.item[0].text,
        "model.model_config.offset: expected a number per stage, or a list of them per "
        "chunk, found \"half\"");
    pair[3][1] = "0";
    pair[4][1] = "[2, -1]";
    errors = (calc_errors){0};
    read_of(&calc_framework_mindformers, pair, 5, CALC_ERR_RANGE, &errors);
    pair[4][1] = "true";
    back = read_of(&calc_framework_mindformers, pair, 5, CALC_OK, &errors);
    ck_assert_int_eq(back.stages.count, 0);
    ck_assert_int_eq(back.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_FULL);
}

CALC_TEST(an_uneven_layout_is_a_list)
{
    calc_errors errors = {0};
    const char *pair[][2] = {{"--num-layers", "10"},
                             {"--pipeline-model-parallel-size", "4"},
                             {"--pipeline-model-parallel-layout", "Ett|(ttt|)*2ttL"}};
    calc_exec back = read_of(&calc_framework_megatron, pair, 3, CALC_OK, &errors);
    ck_assert_int_eq(back.pipeline_balance, CALC_PIPELINE_BALANCE_ENDS); /* 2 3 3 2 */
    ck_assert_int_eq(back.stages.count, 0);
    pair[2][1] = "Ettt|t|ttt|tttL";
    back = read_of(&calc_framework_megatron, pair, 3, CALC_OK, &errors);
    ck_assert_int_eq(back.pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS);
    ck_assert_int_eq(back.stages.count, 3);
    ck_assert_int_eq(back.stages.run[1].blocks, 1);
    pair[2][1] = "Ettt|t||ttttttL"; /* a stage without blocks: no list says it */
    back = read_of(&calc_framework_megatron, pair, 3, CALC_OK, &errors);
    ck_assert_int_eq(back.pipeline_balance, CALC_PIPELINE_BALANCE_FREE);
    ck_assert_int_eq(back.stages.count, 0);
}
