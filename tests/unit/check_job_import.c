/* Launch files as jobs: unit/check_job_import.txt, "FRAMEWORK" and a file; and jobs that come back
 * from what is written. */
#include "formats/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differences.h"
#include "formats/read.h"
#include "frame.h"
#include "io/job_load.h"
#include "spec/absent.h"

static calc_job_launch launch;
static calc_errors errors;
static char told[4096];

static void enter(void)
{
    errors = (calc_errors){0};
    told[0] = '\0';
}

static void tell(void *context, const char *key, calc_unread what, const char *assumed)
{
    (void)context;
    size_t length = strlen(told);
    if (what != CALC_UNREAD_HARMLESS) {
        snprintf(told + length, sizeof told - length, "%s: %s\n", key ? key : "file",
                 assumed ? assumed : "");
    }
}

/* @param file  where programs are looked for; NULL: none */
static calc_status read_settings(const calc_framework *framework, const calc_settings *settings,
                                 char *file)
{
    calc_text text = {.data = file, .length = file ? strlen(file) : 0};
    const calc_job_launch_format *format = calc_job_launch_format_of(framework);
    calc_settings prepared = {0};
    calc_import import = {
        .framework = framework, .settings = settings, .name = "run", .unread = tell};
    calc_status status = calc_job_launch_prepare(format, &import, &prepared, &errors);
    import.settings = &prepared;
    status =
        status == CALC_OK ? calc_job_launch_read(format, &import, &text, &launch, &errors) : status;
    calc_settings_free(&prepared);
    return status;
}

static calc_status from(const calc_framework *framework, const char *text)
{
    errors = (calc_errors){0};
    told[0] = '\0';
    calc_settings settings = {0};
    ck_assert_int_eq(
        calc_settings_from_text(
            &settings, framework == &calc_framework_nemo_rl ? CALC_SYNTAX_YAML : CALC_SYNTAX_SHELL,
            text, strlen(text), "run", &errors),
        CALC_OK);
    calc_status status = read_settings(framework, &settings, (char *)text);
    calc_settings_free(&settings);
    return status;
}

static void reads(const calc_framework *framework, const char *text)
{
    ck_assert_msg(from(framework, text) == CALC_OK, "%s", errors.item[0].text);
}

#define A "actor_rollout_ref.actor."
#define R "actor_rollout_ref.rollout."

/* The job as its file has it, in one line, and the layouts of actor and rollout. */
static void answer(const char *said, FILE *out)
{
    char name[32], line[1024];
    calc_text text = {0};
    calc_output *file;
    ck_assert_int_eq(sscanf(said, "%31s", name), 1);
    const char *rest = said + strlen(name) + 1;
    char *script = strndup(rest, strlen(rest) - 1);
    if (from(calc_framework_find(name), script) != CALC_OK) {
        calc_error_print(&errors.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
    } else {
        static const calc_exec none;
        int count = 0;
        ck_assert_int_eq(calc_output_open_memory(&file, &text, &errors), CALC_OK);
        calc_job_launch_put_job(file, &launch, "run");
        ck_assert_int_eq(calc_output_close(file, &errors), CALC_OK);
        for (const char *at = text.data; at[0] && at[1]; at++) {
            if (*at == '\n') {
                at += strspn(at + 1, " ");
            } else {
                fputc(*at, out);
            }
        }
        fputs("\nactor: ", out);
        print_differences(CALC_KIND_EXEC, &none, &launch.actor, out, &count);
        fputs("\nrollout: ", out);
        count = 0;
        print_differences(CALC_KIND_EXEC, &none, &launch.rollout, out, &count);
        fprintf(out, "\n%s", told);
    }
    calc_text_free(&text);
    free(script);
}

const calc_test_frame calc_tests = {
    .setup = enter, .cases = "unit/check_job_import.txt", .answer = answer};

/* Every key exists in the release whose keys tests/formats lists. */
CALC_TEST(every_format_belongs_to_a_framework)
{
    int count = 0;
    for (size_t i = 0; calc_framework_all[i]; i++) {
        const calc_job_launch_format *format = calc_job_launch_format_of(calc_framework_all[i]);
        count += format != NULL;
        for (size_t k = 0; format && k < format->job->count; k++) {
            const calc_setting_row *row = &format->job->rows[k];
            ck_assert(row->key || row->how == CALC_HOW_DEFAULT);
            ck_assert(!row->key || calc_framework_row(format->job, row->key) == row);
        }
    }
    ck_assert_int_eq(count, 4);
}

static int lost;

static void count_lost(void *context, const char *field, const char *value, bool layout)
{
    (void)context;
    (void)layout;
    ck_assert_msg(strcmp(field, "roles.rollout.memory_share") == 0, "%s = %s", field, value);
    lost++;
}

static calc_app model(void)
{
    calc_app app;
    calc_absent_fill(calc_table_of(CALC_KIND_APP), &app);
    app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    app.hidden = 4096;
    app.feedforward = 12288;
    app.seq_size = 4096;
    app.attn_heads = 32;
    app.attn_size = 128;
    app.num_blocks = 36;
    app.vocab_size = 151936;
    return app;
}

/* A job that was read is written and read again. */
static void comes_back(const calc_framework *framework, const char *text)
{
    const calc_job_launch_format *format = calc_job_launch_format_of(framework);
    calc_settings settings = {0};
    calc_app app = model();
    reads(framework, text);
    launch.actor.seq_size = app.seq_size;
    calc_job_launch *first = malloc(sizeof *first);
    ck_assert_ptr_nonnull(first);
    *first = launch;
    ck_assert_msg(calc_job_launch_settings(format, first, &app, 8, &settings, &errors) == CALC_OK,
                  "%s", errors.item[0].text);
    lost = 0;
    ck_assert_int_eq(calc_job_launch_lost(format, first, &app, &settings, count_lost, NULL),
                     CALC_OK);
    ck_assert_int_eq(lost, first->job.roles.rollout.memory_share == 0);
    ck_assert_msg(read_settings(framework, &settings, NULL) == CALC_OK, "%s", errors.item[0].text);
    const calc_job *a = &first->job, *b = &launch.job;
    ck_assert_int_eq(a->prompts, b->prompts);
    ck_assert_int_eq(a->samples, b->samples);
    ck_assert_int_eq(a->mini_batch > 0 ? a->mini_batch : a->prompts * a->samples, b->mini_batch);
    ck_assert_int_eq(a->kl, b->kl);
    ck_assert_int_eq(a->old_logprob, b->old_logprob);
    ck_assert_int_eq(a->lengths.response.cap, b->lengths.response.cap);
    ck_assert_int_eq(a->pools_count, b->pools_count);
    ck_assert_int_eq(a->pools[0].chips, b->pools[0].chips);
    ck_assert_int_eq(a->pools[1].chips, b->pools[1].chips);
    ck_assert_int_eq(a->roles.actor.micro_tokens, b->roles.actor.micro_tokens);
    ck_assert_int_eq(a->roles.actor.forward_tokens, b->roles.actor.forward_tokens);
    ck_assert_int_eq(a->roles.actor.offload, b->roles.actor.offload);
    ck_assert_int_eq(a->roles.rollout.sleep, b->roles.rollout.sleep);
    ck_assert_int_eq(first->rollout.num_procs, launch.rollout.num_procs);
    ck_assert_str_eq(first->rollout.inference.engine.name, launch.rollout.inference.engine.name);
    ck_assert_int_eq(first->actor.strategy.tensor_par, launch.actor.strategy.tensor_par);
    ck_assert_int_eq(first->actor.strategy.zero_stage, launch.actor.strategy.zero_stage);
    ck_assert_int_eq(first->actor.strategy.context_par, launch.actor.strategy.context_par);
    calc_settings_free(&settings);
    free(first);
}

CALC_TEST(jobs_come_back_from_verl)
{
    comes_back(&calc_framework_verl,
               "verl algorithm.adv_estimator=grpo data.train_batch_size=128 " R "n=8 " A
               "ppo_mini_batch_size=64 data.max_response_length=2048 " A "strategy=fsdp " A
               "use_dynamic_bsz=True " A "ppo_max_token_len_per_gpu=8192 " A
               "ulysses_sequence_parallel_size=2 " A "use_kl_loss=True " R "name=vllm " R
               "gpu_memory_utilization=0.6 trainer.nnodes=2");
    comes_back(&calc_framework_verl,
               "verl algorithm.adv_estimator=grpo data.train_batch_size=128 " R "n=8 " A
               "strategy=megatron " A "megatron.tensor_model_parallel_size=4 " A
               "ppo_micro_batch_size_per_gpu=1 " R "name=sglang " R
               "tensor_model_parallel_size=8 actor_rollout_ref.hybrid_engine=False "
               "rollout.nnodes=1 rollout.n_gpus_per_node=8 "
               "algorithm.rollout_correction.bypass_mode=True");
}

CALC_TEST(jobs_come_back_from_slime)
{
    comes_back(&calc_framework_slime,
               "--rollout-batch-size 32 --n-samples-per-prompt 8 --global-batch-size 128 "
               "--rollout-max-response-len 4096 --colocate --actor-num-nodes 2 "
               "--use-dynamic-batch-size --max-tokens-per-gpu 8192 --use-kl-loss "
               "--log-probs-max-tokens-per-gpu 16384 --tensor-model-parallel-size 2 "
               "--sequence-parallel --context-parallel-size 2 --rollout-num-gpus-per-engine 4 "
               "--sglang-pp-size 2 "
               "--sglang-mem-fraction-static 0.7 --swiglu --normalization RMSNorm "
               "--position-embedding-type rope --disable-bias-linear --group-query-attention");
}

/* What is written is a job. */
CALC_TEST(a_written_job_is_read)
{
    calc_text text = {0};
    calc_output *out;
    calc_job job;
    reads(&calc_framework_openrlhf,
          "--rollout_batch_size 128 --colocate_all_models --reward_pretrain rm "
          "--rollout_max_tokens_per_gpu 512 --zero_stage 3");
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_job_launch_put_job(out, &launch, "OpenRLHF, run");
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_msg(calc_job_parse(&job, text.data, text.length, "job", &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    ck_assert_int_eq(job.prompts, 128);
    ck_assert_int_eq(job.samples, 1);
    ck_assert_int_eq(job.roles.reward.given, CALC_JOB_RUNS);
    ck_assert_int_eq(job.roles.actor.offload, 0);
    ck_assert(job.roles.actor.offload_given && job.roles.actor.execution_length > 0);
    ck_assert_int_eq(job.roles.rollout.sleep, 0);
    ck_assert_double_eq(job.roles.rollout.memory_share, 0.95);
    calc_text_free(&text);
}
