/* What frameworks refuse: unit/check_refusal.txt, of layouts below with fields as --set changes
 * them. */
#include "formats/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_app app;
static calc_exec exec;
static calc_strategy *const s = &exec.strategy;

/* Mixtral-like, on 32 processors: fine for Megatron Core. */
static void setup(void)
{
    app = (calc_app){.hidden = 4096,
                     .feedforward = 14336,
                     .seq_size = 4096,
                     .attn_heads = 32,
                     .attn_size = 128,
                     .kv_heads = 8,
                     .num_blocks = 32,
                     .num_experts = 8,
                     .experts_per_token = 2,
                     .structure_type = CALC_STRUCTURE_TYPE_LLAMA};
    exec = (calc_exec){.num_procs = 32,
                       .strategy.tensor_par = 2,
                       .pipeline_par = 4,
                       .strategy.data_par = 4,
                       .batch_size = 32,
                       .microbatch_size = 1,
                       .pipeline_interleaving = 2,
                       .strategy.expert_par = 4,
                       .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                       .strategy.fused_activation = true,
                       .strategy.flash_attention = true,
                       .strategy.pipeline_par_overlap = true,
                       .strategy.optimizer_sharding = true,
                       .strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG,
                       .training = true};
}

/* Llama 3 8B on 16, nothing but replicas that shard all: fine for every framework that has that. */
static void setup_dense(void)
{
    setup();
    app.num_experts = app.experts_per_token = 0;
    app.vocab_size = 128256;
    exec.num_procs = 16;
    exec.pipeline_par = exec.pipeline_interleaving = 1;
    exec.batch_size = 16;
    s->tensor_par = 1;
    s->data_par = 16;
    s->expert_par = 0;
    s->zero_stage = 3;
    s->data_par_overlap = true;
}

/* The same, serving. */
static void setup_serving(void)
{
    setup_dense();
    exec.num_procs = 8;
    s->tensor_par = 8;
    s->data_par = 1;
    s->zero_stage = 0;
    s->optimizer_sharding = s->data_par_overlap = false;
    exec.batch_size = 64;
    exec.training = false;
    exec.inference = (calc_inference){.phase = CALC_INFERENCE_PHASE_SERVE,
                                      .prompt_size = 1000,
                                      .generate_size = 100,
                                      .chunk_size = 512,
                                      .page_size = 16};
}

static void keep(void *context, const char *reason)
{
    fprintf(context, "%s\n", reason);
}

static size_t refuse(const calc_framework *framework, FILE *out)
{
    size_t count;
    ck_assert_int_eq(calc_export_refused(framework, &app, &exec, keep, out, &count), CALC_OK);
    return count;
}

/* FRAMEWORK experts|dense|serving FIELD=VALUE... */
static void answer(const char *said, FILE *out)
{
    char text[512], line[1024];
    const calc_framework *framework = NULL;
    snprintf(text, sizeof text, "%s", said);
    const char *name = strtok(text, " \n"), *layout = strtok(NULL, " \n");
    for (size_t i = 0; calc_framework_list[i]; i++) {
        framework =
            strcmp(calc_framework_list[i]->name, name) == 0 ? calc_framework_list[i] : framework;
    }
    (layout[0] == 'e' ? setup : layout[0] == 'd' ? setup_dense : setup_serving)();
    for (const char *word; (word = strtok(NULL, " \n"));) {
        calc_system system = {0};
        calc_errors errors = {0};
        if (calc_set(&app, &system, &exec, word, NULL, &errors) != CALC_OK) {
            calc_error_print(&errors.item[0], line, sizeof line);
            fprintf(out, "%s\n", line);
        }
    }
    fputs(refuse(framework, out) == 0 ? "fine\n" : "", out);
}

const calc_test_frame calc_tests = {.cases = "unit/check_refusal.txt", .answer = answer};

static bool starts(const calc_system *system)
{
    bool is;
    ck_assert_int_eq(calc_export_starts(&app, system, &exec, NULL, &is), CALC_OK);
    return is;
}

static const char *starter(const calc_system *system)
{
    const char *name;
    ck_assert_int_eq(calc_export_starter(&app, system, &exec, false, &name), CALC_OK);
    return name;
}

/* The reasons of a framework, to be freed. */
static char *reasons_of(const calc_framework *framework)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    refuse(framework, out);
    fclose(out);
    return text;
}

CALC_TEST(trainers_train_and_servers_serve)
{
    for (size_t i = 0; calc_framework_list[i]; i++) {
        const calc_framework *f = calc_framework_list[i];
        (f->serves ? setup : setup_serving)();
        char *text = reasons_of(f);
        ck_assert_msg(strstr(text, f->serves ? "training is true" : "training is false"), "%s: %s",
                      f->name, text);
        ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1); /* nothing else */
        free(text);
    }
}

CALC_TEST(the_same_question_has_the_same_answer)
{
    setup();
    calc_app a = app;
    calc_exec e = exec;
    char *first = reasons_of(&calc_framework_nemo), *second = reasons_of(&calc_framework_nemo);
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
    ck_assert(memcmp(&a, &app, sizeof a) == 0 && memcmp(&e, &exec, sizeof e) == 0);
    exec.num_procs = 33;
    ck_assert_ptr_nonnull(
        strstr(first = reasons_of(&calc_framework_nemo), "contradict each other"));
    free(first);
}

CALC_TEST(a_layout_starts_if_one_framework_runs_it)
{
    calc_system any = {.platform = CALC_PLATFORM_ANY};
    setup_dense();
    ck_assert(starts(&any));
    setup(); /* stages and experts */
    exec.strategy.weight_offload = true;
    ck_assert(!starts(&any));
    setup_serving();
    ck_assert(starts(&any));
}

CALC_TEST(a_framework_starts_what_is_on_its_platforms)
{
    calc_system cuda = {.platform = CALC_PLATFORM_CUDA};
    calc_system rocm = {.platform = CALC_PLATFORM_ROCM};
    calc_system cann = {.platform = CALC_PLATFORM_CANN};
    calc_system xpu = {.platform = CALC_PLATFORM_XPU};
    setup_dense();
    ck_assert_str_eq(starter(&cuda), "megatron");
    ck_assert_str_eq(starter(&rocm), "megatron");
    ck_assert_str_ne(starter(&cann), "megatron");
    exec.stages.chips = 1; /* a stage on another system */
    exec.stages.system[0] = &xpu;
    const char *both = starter(&cuda);
    ck_assert(!both || strcmp(both, "megatron") != 0);
    setup_serving();
    exec.inference.prefill_system.system = &xpu;
    ck_assert(!starts(&cuda));
    exec.inference.prefill_system.system = &cuda;
    ck_assert(starts(&cuda));
}

/* No framework known here trains on TPUs, so none refuses a layout; vLLM serves on them. */
CALC_TEST(where_no_framework_is_known_none_refuses)
{
    calc_system tpu = {.platform = CALC_PLATFORM_TPU};
    calc_system cuda = {.platform = CALC_PLATFORM_CUDA};
    setup_dense();
    ck_assert_ptr_null(starter(&tpu));
    ck_assert(starts(&tpu));
    setup_serving();
    ck_assert_str_eq(starter(&tpu), "vllm");
    setup(); /* stages and experts */
    exec.strategy.weight_offload = true;
    ck_assert(starts(&tpu));
    ck_assert(!starts(&cuda));
}
