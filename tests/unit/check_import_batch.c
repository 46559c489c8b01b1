#include "formats/import.h"

#include <string.h>

#include "formats/read.h"
#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static calc_status import_text(const calc_framework *framework, const char *text, int64_t procs,
                               calc_exec *exec, calc_errors *errors)
{
    calc_settings settings = {0};
    calc_app app;
    calc_status status =
        framework->syntax == CALC_SYNTAX_TOML
            ? calc_settings_from_toml(&settings, text, strlen(text), "file", errors)
            : calc_settings_from_json(&settings, text, strlen(text), "file", errors);
    ck_assert_int_eq(status, CALC_OK);
    const calc_import import = {
        .framework = framework, .settings = &settings, .name = "file", .procs = procs};
    status = calc_import_run(&import, &app, exec, errors);
    calc_settings_free(&settings);
    return status;
}

static calc_exec deepspeed(const char *text, int64_t procs)
{
    calc_exec exec;
    calc_errors errors = {0};
    ck_assert_msg(import_text(&calc_framework_deepspeed, text, procs, &exec, &errors) == CALC_OK,
                  "%s", errors.item[0].text);
    return exec;
}

static calc_exec torchtitan(const char *text, int64_t procs)
{
    calc_exec exec;
    calc_errors errors = {0};
    ck_assert_msg(import_text(&calc_framework_torchtitan, text, procs, &exec, &errors) == CALC_OK,
                  "%s", errors.item[0].text);
    return exec;
}

static void fails(const calc_framework *framework, const char *text, int64_t procs,
                  const char *printed)
{
    calc_exec exec;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_ne(import_text(framework, text, procs, &exec, &errors), CALC_OK);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

static void has_batch(calc_exec exec, int64_t data_par, int64_t batch, int64_t micro)
{
    ck_assert_int_eq(exec.strategy.data_par, data_par);
    ck_assert_int_eq(exec.batch_size, batch);
    ck_assert_int_eq(exec.microbatch_size, micro);
}

/* deepspeed/runtime/config.py: which of the three follows from which. */
CALC_TEST(deepspeed_derives_what_is_left_out_of_a_batch)
{
    const char *micro = "{\"train_micro_batch_size_per_gpu\": 2}";
    has_batch(deepspeed(micro, 8), 8, 16, 2);
    has_batch(deepspeed("{\"train_micro_batch_size_per_gpu\": 2, "
                        "\"gradient_accumulation_steps\": 4}",
                        8),
              8, 64, 2);
    has_batch(deepspeed("{\"train_batch_size\": 64}", 8), 8, 64, 8);
    has_batch(deepspeed("{\"train_batch_size\": 64, \"gradient_accumulation_steps\": 4}", 8), 8, 64,
              2);
    has_batch(deepspeed("{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2}", 8), 8,
              64, 2);
    has_batch(deepspeed("{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2, "
                        "\"gradient_accumulation_steps\": 4}",
                        0),
              8, 64, 2);
    has_batch(deepspeed("{\"train_batch_size\": \"auto\", "
                        "\"train_micro_batch_size_per_gpu\": 2, "
                        "\"tensor_parallel\": {\"autotp_size\": 2}}",
                        8),
              4, 8, 2);
}

CALC_TEST(deepspeed_batches_must_be_products)
{
    fails(&calc_framework_deepspeed,
          "{\"train_batch_size\": 60, \"train_micro_batch_size_per_gpu\": 2, "
          "\"gradient_accumulation_steps\": 4}",
          8, "the global batch of 60 is not micro-batch * accumulation * replicas: 2 * 4 * 8");
    fails(&calc_framework_deepspeed, "{\"train_batch_size\": 60}", 8,
          "the global batch of 60 is not micro-batch * accumulation * replicas: 1 * 1 * 8");
}

CALC_TEST(deepspeed_shards_and_overlaps_as_it_does)
{
    calc_exec e = deepspeed("{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": "
                            "{\"stage\": 3, \"offload_optimizer\": {\"device\": \"cpu\"}}, "
                            "\"bf16\": {\"enabled\": true}, \"sequence_parallel_size\": 2}",
                            8);
    ck_assert_int_eq(e.strategy.zero_stage, 3);
    ck_assert(e.strategy.data_par_overlap && e.strategy.optimizer_offload);
    ck_assert_int_eq(e.strategy.datatype, CALC_DATATYPE_BFLOAT16);
    ck_assert_int_eq(e.strategy.context_par, 2);
    ck_assert_int_eq(e.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_ULYSSES);
    e = deepspeed("{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": 2, "
                  "\"mics_shard_size\": -1}}",
                  8);
    ck_assert_int_eq(e.strategy.zero_stage, 2);
    ck_assert(!e.strategy.data_par_overlap);
    ck_assert_int_eq(e.strategy.fsdp_par, 0);
    e = deepspeed("{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": 3, "
                  "\"overlap_comm\": false}}",
                  8);
    ck_assert(!e.strategy.data_par_overlap);
}

CALC_TEST(torchtitan_replicas_take_local_batches)
{
    has_batch(torchtitan("[training]\nlocal_batch_size = 4\n", 8), 8, 32, 4);
    has_batch(torchtitan("[training]\nlocal_batch_size = 4\nglobal_batch_size = -1\n", 8), 8, 32,
              4);
    has_batch(torchtitan("[training]\nlocal_batch_size = 4\nglobal_batch_size = 64\n", 8), 8, 64,
              4);
    const char *stages = "[training]\nlocal_batch_size = 6\n[parallelism]\n"
                         "pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3\n"
                         "data_parallel_shard_degree = -1\n";
    calc_exec e = torchtitan(stages, 8);
    has_batch(e, 4, 24, 3);
    ck_assert_int_eq(e.strategy.zero_stage, 2); /* its policy where there are stages */
    ck_assert_int_eq(e.strategy.fsdp_par, 0);
}

CALC_TEST(torchtitan_shards_by_its_policy)
{
    calc_exec e = torchtitan("[parallelism]\nfsdp_reshard_after_forward = \"default\"\n", 8);
    ck_assert_int_eq(e.strategy.zero_stage, 3);
    ck_assert_int_eq(e.strategy.datatype, CALC_DATATYPE_BFLOAT16);
    e = torchtitan("[parallelism]\nfsdp_reshard_after_forward = \"never\"\n", 8);
    ck_assert_int_eq(e.strategy.zero_stage, 2);
    e = torchtitan("[parallelism]\ndata_parallel_shard_degree = 1\n"
                   "data_parallel_replicate_degree = 8\n",
                   8);
    ck_assert_int_eq(e.strategy.zero_stage, 0);
    ck_assert_int_eq(e.strategy.data_par, 8);
    e = torchtitan("[parallelism]\ndata_parallel_shard_degree = 4\n"
                   "data_parallel_replicate_degree = 2\n",
                   0);
    ck_assert_int_eq(e.strategy.fsdp_par, 4);
    ck_assert_int_eq(e.strategy.data_par, 8);
}

CALC_TEST(torchtitan_chunks_need_a_model_that_is_known)
{
    const char *named = "[model]\nname = \"llama3\"\nflavor = \"70B\"\n[parallelism]\n"
                        "pipeline_parallel_degree = 4\npipeline_parallel_layers_per_stage = 5\n"
                        "pipeline_parallel_schedule = \"Interleaved1F1B\"\n";
    ck_assert_int_eq(torchtitan(named, 8).pipeline_interleaving, 4);
    const char *swapped = "[model]\nflavor = \"405B\"\nname = \"llama3\"\n[parallelism]\n"
                          "pipeline_parallel_degree = 2\npipeline_parallel_layers_per_stage = 9\n";
    ck_assert_int_eq(torchtitan(swapped, 8).pipeline_interleaving, 7);
    fails(&calc_framework_torchtitan,
          "[model]\nflavor = \"debugmodel\"\n[parallelism]\npipeline_parallel_degree = 4\n"
          "pipeline_parallel_layers_per_stage = 5\n",
          8,
          "blocks per chunk need the number of blocks, which is missing\n"
          "  hint: without it, set pipeline_interleaving in the layout");
    ck_assert_int_eq(torchtitan("[model]\nflavor = \"debugmodel\"\n[parallelism]\n"
                                "pipeline_parallel_degree = 4\n",
                                8)
                         .pipeline_interleaving,
                     1);
}
