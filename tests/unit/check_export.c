#include "formats/export.h"

#include <stdio.h>
#include <string.h>

#include "formats/import.h"
#include "formats/read.h"
#include "formats/write.h"
#include "frame.h"
#include "io/text.h"
#include "random_struct.h"
#include "sampled.h"
#include "scratch.h"
#include "spec/serving_engine.h"

static int64_t pick(calc_rng *rng, int64_t below)
{
    return 1 + calc_rng_below(rng, (uint32_t)below);
}

/* Any values, then sizes that agree with each other. */
static void random_case(calc_rng *rng, calc_app *app, calc_exec *exec)
{
    memset(app, 0, sizeof *app);
    memset(exec, 0, sizeof *exec);
    random_table(rng, calc_table_of(CALC_KIND_APP), (char *)app);
    random_table(rng, calc_table_of(CALC_KIND_EXEC), (char *)exec);
    exec->strategy.tensor_par = pick(rng, 8);
    exec->pipeline_par = pick(rng, 8);
    exec->strategy.data_par = pick(rng, 8);
    exec->strategy.context_par = calc_rng_below(rng, 4);
    exec->strategy.context_par_inner = pick(rng, 4);
    int64_t context = exec->strategy.context_par > 0 ? exec->strategy.context_par : 1;
    exec->num_procs =
        exec->strategy.tensor_par * exec->pipeline_par * exec->strategy.data_par * context;
    exec->strategy.fsdp_par = calc_rng_below(rng, 2) ? exec->strategy.data_par * context : 0;
    exec->microbatch_size = pick(rng, 4);
    exec->batch_size = exec->microbatch_size * exec->strategy.data_par * pick(rng, 16);
    exec->pipeline_interleaving = exec->pipeline_par > 1 ? pick(rng, 4) : 1;
    app->num_blocks = exec->pipeline_par * exec->pipeline_interleaving * pick(rng, 4);
    app->attn_heads = pick(rng, 64);
    app->dense_blocks = calc_rng_below(rng, (uint32_t)app->num_blocks);
    app->moe_every = calc_rng_below(rng, 3);
    app->num_experts = calc_rng_below(rng, 2) ? pick(rng, 256) : 0;
}

static calc_status read_text(const calc_framework *framework, const char *path, int64_t procs,
                             calc_app *app, calc_exec *exec, calc_errors *errors)
{
    calc_text text = {0};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_text_read(&text, path, NULL), CALC_OK);
    calc_status status =
        calc_settings_from_text(&settings, framework->syntax, text.data, text.length, path, errors);
    const calc_import import = {.framework = framework, .settings = &settings, .procs = procs};
    if (status == CALC_OK) {
        status = calc_import_run(&import, app, exec, errors);
    }
    calc_settings_free(&settings);
    calc_text_free(&text);
    return status;
}

/* Through a file and back. */
static void round_trip(const calc_framework *framework, calc_app *app, calc_exec *exec)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    calc_output *out;
    calc_app whole = *app;
    char line[1024] = "";
    ck_assert_int_eq(calc_export(framework, app, exec, 8, &settings, NULL), CALC_OK);
    ck_assert_int_eq(calc_output_open(&out, "file", NULL), CALC_OK);
    calc_settings_write(out, framework, &settings);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    int64_t procs = framework->launched ? exec->num_procs : 0;
    calc_status status = read_text(framework, "file", procs, app, exec, &errors);
    if (errors.count > 0) {
        calc_error_print(&errors.item[0], line, sizeof line);
    }
    ck_assert_msg(status == CALC_OK, "%s: %s", framework->name, line);
    if (!framework->has_model) {
        *app = whole; /* the file says nothing of it */
    }
    calc_settings_free(&settings);
}

/* What a framework can say once, it says again: after one trip nothing changes any more. */
CALC_TEST(a_second_round_trip_changes_nothing)
{
    char folder[256];
    calc_rng rng;
    calc_rng_init(&rng, 42, 54);
    scratch_enter(folder, sizeof folder);
    for (int i = 0; i < 300; i++) {
        for (size_t k = 0; calc_framework_list[k]; k++) {
            const calc_framework *framework = calc_framework_list[k];
            calc_app app, app_again;
            calc_exec exec, exec_again;
            if (framework->serves) {
                continue;
            }
            random_case(&rng, &app, &exec);
            if (framework == &calc_framework_torchtitan) {
                exec.pipeline_interleaving = 1; /* chunks need a model that it knows by name */
            }
            round_trip(framework, &app, &exec);
            app_again = app;
            exec_again = exec;
            round_trip(framework, &app_again, &exec_again);
            /* Without what was lost, a balance may mean the same as another one. */
            calc_plan_resolve(&app, &exec);
            calc_plan_resolve(&app_again, &exec_again);
            ck_assert_msg(memcmp(&app, &app_again, sizeof app) == 0, "%s, case %d", framework->name,
                          i);
            ck_assert_msg(memcmp(&exec, &exec_again, sizeof exec) == 0, "%s, case %d",
                          framework->name, i);
        }
    }
    scratch_leave(folder);
}

typedef struct lost {
    char names[4096];
} lost;

/* What makes another layout has a mark. */
static void collect(void *context, const char *field, const char *value, bool layout)
{
    lost *l = context;
    ck_assert(field[0]);
    ck_assert_ptr_nonnull(value);
    strcat(strcat(l->names, field), layout ? "! " : " ");
}

/* The sizes of a layout are what every framework that trains must carry, but DeepSpeed. */
CALC_TEST(sizes_are_never_lost)
{
    static const char *const sizes[] = {"tensor_par!", "pipeline_par!",    "data_par!",
                                        "batch_size!", "microbatch_size!", NULL};
    calc_rng rng;
    calc_rng_init(&rng, 7, 1);
    for (int i = 0; i < 200; i++) {
        for (size_t k = 0; calc_framework_list[k]; k++) {
            const calc_framework *framework = calc_framework_list[k];
            calc_settings settings = {0};
            calc_app app;
            calc_exec exec;
            lost l = {" "};
            if (framework->serves) {
                continue;
            }
            random_case(&rng, &app, &exec);
            ck_assert_int_eq(calc_export(framework, &app, &exec, 8, &settings, NULL), CALC_OK);
            ck_assert_int_eq(calc_export_lost(framework, &app, &exec, &settings, collect, &l),
                             CALC_OK);
            for (size_t j = 0; sizes[j] && framework != &calc_framework_deepspeed; j++) {
                char word[32];
                snprintf(word, sizeof word, " %s", sizes[j]);
                ck_assert_msg(!strstr(l.names, word), "%s: %s of%s", framework->name, sizes[j],
                              l.names);
            }
            calc_settings_free(&settings);
        }
    }
}

static void dense_case(calc_app *app, calc_exec *exec)
{
    *app = (calc_app){.hidden = 1024,
                      .feedforward = 4096,
                      .seq_size = 2048,
                      .attn_heads = 16,
                      .attn_size = 64,
                      .num_blocks = 24};
    *exec = (calc_exec){.num_procs = 16,
                        .strategy.tensor_par = 2,
                        .pipeline_par = 2,
                        .strategy.data_par = 4,
                        .batch_size = 32,
                        .microbatch_size = 2,
                        .pipeline_interleaving = 1,
                        .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                        .strategy.fused_activation = true,
                        .strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_ASYNC,
                        .training = true,
                        .strategy.context_par_net = -1,
                        .strategy.expert_par_net = -1,
                        .strategy.expert_tensor_par_net = -1,
                        .strategy.expert_data_par_net = -1,
                        .strategy.zero_stage = 0};
}

CALC_TEST(fields_that_a_framework_cannot_say_are_told)
{
    calc_app app;
    calc_exec exec;
    calc_settings settings = {0};
    lost l = {" "};
    dense_case(&app, &exec);
    ck_assert_int_eq(calc_export(&calc_framework_megatron, &app, &exec, 8, &settings, NULL),
                     CALC_OK);
    ck_assert_int_eq(
        calc_export_lost(&calc_framework_megatron, &app, &exec, &settings, collect, &l), CALC_OK);
    ck_assert_str_eq(l.names, " ");
    calc_settings_free(&settings);
    exec.training = false;
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    exec.strategy.weight_offload = true;
    exec.strategy.moe_imbalance = 0.5;
    ck_assert_int_eq(calc_export(&calc_framework_megatron, &app, &exec, 8, &settings, NULL),
                     CALC_OK);
    ck_assert_int_eq(
        calc_export_lost(&calc_framework_megatron, &app, &exec, &settings, collect, &l), CALC_OK);
    /* What has no effect, as the load of experts that there are not, is none that is lost. */
    ck_assert_str_eq(l.names, " tensor_par_overlap weight_offload! training! ");
    calc_settings_free(&settings);
}

CALC_TEST(layouts_that_contradict_themselves_are_refused)
{
    calc_app app;
    calc_exec exec;
    calc_settings settings = {0};
    calc_errors errors = {0};
    dense_case(&app, &exec);
    exec.num_procs = 17;
    ck_assert_int_eq(calc_export(&calc_framework_nemo, &app, &exec, 8, &settings, &errors),
                     CALC_ERR_RULE);
    dense_case(&app, &exec);
    exec.batch_size = 33;
    ck_assert_int_eq(calc_export(&calc_framework_nemo, &app, &exec, 8, &settings, &errors),
                     CALC_ERR_RULE);
    dense_case(&app, &exec);
    exec.strategy.fsdp_par = 3;
    ck_assert_int_eq(calc_export(&calc_framework_nemo, &app, &exec, 8, &settings, &errors),
                     CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 3);
    ck_assert_str_eq(errors.item[0].pointer, "/num_procs");
    ck_assert_str_eq(errors.item[1].pointer, "/batch_size");
    ck_assert_str_eq(errors.item[2].pointer, "/fsdp_par");
    calc_settings_free(&settings);
}

/* A layout that serves, of what engines are told. */
static void random_server(calc_rng *rng, const calc_framework *framework, calc_app *app,
                          calc_exec *exec)
{
    static const int64_t power[] = {1, 2, 4, 8};
    calc_strategy *s = &exec->strategy;
    calc_inference *i = &exec->inference;
    calc_plan plan;
    calc_plan_clear(&plan);
    calc_framework_defaults(framework, &plan);
    *app = (calc_app){.hidden = 4096,
                      .feedforward = 14336,
                      .seq_size = 4096,
                      .attn_heads = 32,
                      .attn_size = 128,
                      .num_blocks = 32,
                      .causal = true,
                      .mtp_blocks = 1};
    *exec = (calc_exec){.pipeline_par = power[calc_rng_below(rng, 2)],
                        .pipeline_interleaving = 1,
                        .microbatch_size = 1,
                        .pipeline_par_net = 1};
    s->datatype = CALC_DATATYPE_BFLOAT16;
    s->tensor_par = power[calc_rng_below(rng, 4)];
    s->data_par = power[calc_rng_below(rng, 3)];
    if (calc_rng_below(rng, 2)) {
        app->num_experts = 64;
        app->experts_per_token = 2;
        s->expert_par = power[calc_rng_below(rng, 4)] * power[calc_rng_below(rng, 2)];
        s->expert_tensor_par = power[calc_rng_below(rng, 3)];
    }
    exec->num_procs = s->tensor_par * s->data_par * exec->pipeline_par;
    exec->batch_size = s->data_par * pick(rng, 256);
    i->phase = CALC_INFERENCE_PHASE_SERVE;
    i->engine.program = (calc_serving_program)plan.value[CALC_PLAN_SERVE_PROGRAM];
    i->prompt_size = 1000;
    i->generate_size = 200;
    i->chunk_size = calc_rng_below(rng, 2) ? 64 * pick(rng, 32) : 0;
    i->kv_datatype = calc_rng_below(rng, 2) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    i->page_size = calc_rng_below(rng, 2) ? 64 : 0;
    i->memory_share = calc_rng_below(rng, 2) ? 0.75 : 0;
    i->speculative_tokens = calc_rng_below(rng, 3);
}

static void hear_nothing(void *context, const char *reason)
{
    (void)context;
    (void)reason;
}

/* What a server is told comes back, found by its keys; lengths of requests, and whether there are
 * experts that all ranks split, are not among it. */
CALC_TEST(servers_are_told_what_they_say)
{
    char folder[256];
    calc_rng rng;
    calc_rng_init(&rng, 42, 54);
    scratch_enter(folder, sizeof folder);
    for (size_t k = 0; calc_framework_list[k]; k++) {
        const calc_framework *framework = calc_framework_list[k];
        int count = 0;
        for (int n = 0; n < sample_of(2000) && framework->serves; n++) {
            calc_app app, none;
            calc_exec exec, back;
            calc_errors errors = {0};
            calc_settings told = {0}, again = {0}, read = {0};
            calc_text text = {0};
            calc_output *out;
            random_server(&rng, framework, &app, &exec);
            size_t reasons;
            ck_assert_int_eq(
                calc_export_refused(framework, &app, &exec, hear_nothing, NULL, &reasons), CALC_OK);
            if (reasons > 0) {
                continue;
            }
            count++;
            ck_assert_int_eq(calc_export(framework, &app, &exec, 8, &told, NULL), CALC_OK);
            if (framework->one_replica && !calc_serving_engine_shares(&exec.strategy)) {
                exec.num_procs /= exec.strategy.data_par; /* the file is one of several servers */
                exec.batch_size /= exec.strategy.data_par;
                exec.strategy.data_par = 1;
            }
            ck_assert_int_eq(calc_output_open(&out, "file", NULL), CALC_OK);
            calc_settings_write(out, framework, &told);
            ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
            ck_assert_int_eq(calc_text_read(&text, "file", NULL), CALC_OK);
            const calc_framework *found = NULL;
            ck_assert_int_eq(calc_detect(&found, text.data, text.length, "file", &read, &errors),
                             CALC_OK);
            ck_assert_ptr_eq(found, framework);
            const calc_import import = {.framework = found, .settings = &read};
            ck_assert_int_eq(calc_import_run(&import, &none, &back, &errors), CALC_OK);
            ck_assert(!back.training && back.batch_size == exec.batch_size);
            ck_assert_int_eq(back.num_procs, exec.num_procs);
            ck_assert_int_eq(back.strategy.data_par, exec.strategy.data_par);
            ck_assert_int_eq(back.inference.kv_datatype, exec.inference.kv_datatype);
            ck_assert_int_eq(back.inference.speculative_tokens, exec.inference.speculative_tokens);
            back.inference.prompt_size = exec.inference.prompt_size;
            back.inference.generate_size = exec.inference.generate_size;
            if (back.strategy.expert_par <= 1) {
                back.strategy.expert_par = exec.strategy.expert_par;
                back.strategy.expert_tensor_par = exec.strategy.expert_tensor_par;
            }
            ck_assert_int_eq(calc_export(framework, &app, &back, 8, &again, NULL), CALC_OK);
            for (size_t i = 0; i < told.count; i++) {
                const calc_setting *a = &told.item[i];
                const char *b = NULL;
                for (size_t j = 0; j < again.count; j++) {
                    b = strcmp(again.item[j].key, a->key) == 0 ? again.item[j].value : b;
                }
                ck_assert_msg(b && strcmp(a->value, b) == 0, "%s %s: %s, %s", framework->name,
                              a->key, a->value, b ? b : "-");
            }
            calc_settings_free(&told);
            calc_settings_free(&again);
            calc_settings_free(&read);
            calc_text_free(&text);
        }
        ck_assert_msg(!framework->serves || count > 20, "%s: %d", framework->name, count);
    }
    scratch_leave(folder);
}
