#include "formats/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "scratch.h"

static const struct {
    const char *text, *found; /* the framework's name; NULL: none */
    calc_status status;
    int line; /* of the mistake */
} cases[] = {
    {"[parallelism]\ntensor_parallel_degree = 2\n", "torchtitan", CALC_OK, 0},
    {"# a comment\n\n[[unread]]\na = 1\n[training]\nseq_len = 2\n", "torchtitan", CALC_OK, 0},
    {"training.seq_len = 2\n", "torchtitan", CALC_OK, 0},
    {"\xef\xbb\xbf{\"zero_optimization\": {\"stage\": 3}}", "deepspeed", CALC_OK, 0},
    {"{\"train_batch_size\": 8, \"steps\": [NaN, -Infinity]}", "deepspeed", CALC_OK, 0},
    {"{\"sharding\": \"stage1\", \"bf16\": true}", "paddle", CALC_OK, 0},
    {"trainer:\n  precision: bf16\n", "nemo", CALC_OK, 0},
    {"trainer:\n  strategy:\n    tensor_model_parallel_size: 8\n", "nemo2", CALC_OK, 0},
    {"{\n# a comment\n\"model-parallel-size\": 8,\n}", "gpt-neox", CALC_OK, 0},
    {"run actor_rollout_ref.actor.megatron.context_parallel_size=2\n", "verl", CALC_OK, 0},
    {"---\ntrain:\n  global_batch_size: 8\n", "megatron-bridge", CALC_OK, 0},
    {"parallel_config:\n  data_parallel: 8\n", "mindformers", CALC_OK, 0},
    {"tensor_parallel_size: 8\nmax_batch_size: 4\n", "tensorrt-llm", CALC_OK, 0},
    {"A=1\ntorchrun x.py --num-layers 4 --lr 1\n", "megatron", CALC_OK, 0},
    {"torchrun x.py --num-layers 4 --moe-fb-overlap\n", "mindspeed", CALC_OK, 0},
    {"vllm serve m --tensor-parallel-size 4\n", "vllm", CALC_OK, 0},
    {"serve m --tensor-parallel-size 4\n", "vllm", CALC_OK, 0},
    /* An image of a container is the server that it has; a model is enough. */
    {"docker run --gpus all -v ~/.cache:/root vllm/vllm-openai:v1 m/m --tensor-parallel-size 4\n",
     "vllm", CALC_OK, 0},
    {"docker run --gpus all vllm/vllm-openai:v1 m/m\n", "vllm", CALC_OK, 0},
    {"docker run a/sglang:v1 python3 -m sglang.launch_server --model-path m --tp 4\n", "sglang",
     CALC_OK, 0},
    {"vllm serve m/m\n", "vllm", CALC_OK, 0},
    {"docker pull vllm/vllm-openai:v1\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"vllm bench serve --model m\n", NULL, CALC_ERR_UNSUPPORTED, 1},
    {"python3 -m sglang.launch_server --tensor-parallel-size 4\n", "sglang", CALC_OK, 0},
    {"trtllm-serve m --tp_size 4\n", "tensorrt-llm", CALC_OK, 0},
    /* Options in a table of YAML; words of Hydra; options that are keys of a file. */
    {"ENV_VARS:\n  A: 1\nMODEL_ARGS:\n  --num-layers: 4\n  --bf16: true\n", "megatron", CALC_OK, 0},
    {"run model.tensor_model_parallel_size=2 train.global_batch_size=8\n", "megatron-bridge",
     CALC_OK, 0},
    {"run --training.seq_len 2 --parallelism.tensor_parallel_degree=2\n", "torchtitan", CALC_OK, 0},
    {"run --distributed.tp_size 2 --distributed.dp_size none\n", "automodel", CALC_OK, 0},
    /* What adds to another framework is meant where its additions are used, or its program named.
     */
    {"per_device_train_batch_size: 2\nbf16: true\n", "transformers", CALC_OK, 0},
    {"per_device_train_batch_size: 2\nuse_peft: true\n", "trl", CALC_OK, 0},
    {"model_name_or_path: m\nper_device_train_batch_size: 2\nmax_length: 64\n", "trl", CALC_OK, 0},
    {"model: m\nper_device_train_batch_size: 2\nmax_length: 64\n", "ms-swift", CALC_OK, 0},
    {"swift rlhf --model m --per_device_train_batch_size 2\n", "ms-swift", CALC_OK, 0},
    {"megatron pt --num_layers 2 --micro_batch_size 2\n", "megatron-swift", CALC_OK, 0},
    {"torchrun --nproc_per_node 8 x.py --num-layers 4 --micro-batch-size 2\n", "megatron", CALC_OK,
     0},
    {"parameters:\n  max_seq_len: 8\n  model: {d_model: 64}\n", "llm-foundry", CALC_OK, 0},
    /* A launcher and a model say nothing of whose options follow. */
    {"torchrun --nproc-per-node 8 --nnodes 2 x.py --model m\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    /* As many keys of two. */
    {"trainer:\n  devices: 8\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"run m --tensor-parallel-size 4\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"model:\n  tensor_model_parallel_size: 2\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"any --model m --tensor-parallel-size 4\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    /* Fewer than half are known. */
    {"{\"train_batch_size\": 8, \"a\": 1, \"b\": 2}", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"run --num-layers 4 --a 1 --b 2\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"{\"hidden\": 4096}", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"a: 1\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"[table]\na = 1\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"root:x:0:0:root:/root:/bin/bash\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"# nothing\n", NULL, CALC_ERR_UNSUPPORTED, 0},
    {"{\n\"train_batch_size\": 8,\n}", NULL, CALC_ERR_SYNTAX, 2},
    {"[\n1, 2", NULL, CALC_ERR_SYNTAX, 2},
    {"[table]\na = = 1\n", NULL, CALC_ERR_SYNTAX, 2},
    {"a: 1\n b: 2\n", NULL, CALC_ERR_SYNTAX, 2}};

/* Whole, and without the byte after it that would end a text. */
CALC_TEST_LOOP(keys_say_whose_file_it_is, 0, sizeof cases / sizeof *cases)
{
    size_t length = strlen(cases[_i].text);
    char *text = malloc(length + 1);
    const calc_framework *found = NULL;
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_ptr_nonnull(text);
    memcpy(text, cases[_i].text, length);
    text[length] = 'x';
    ck_assert_int_eq(calc_detect(&found, text, length, "text", &settings, &errors),
                     cases[_i].status);
    ck_assert_str_eq(found ? found->name : "none", cases[_i].found ? cases[_i].found : "none");
    ck_assert_int_eq(errors.count, cases[_i].status != CALC_OK);
    ck_assert_int_eq(errors.item[0].line, cases[_i].line);
    calc_settings_free(&settings);
    found = NULL;
    ck_assert_int_eq(calc_detect(&found, text, length, "text", &settings, NULL), cases[_i].status);
    calc_settings_free(&settings);
    free(text);
}

static calc_status named(const calc_framework *framework, const char *text)
{
    calc_settings settings = {0};
    calc_status status = calc_detect(&framework, text, strlen(text), "text", &settings, NULL);
    calc_settings_free(&settings);
    return status;
}

CALC_TEST(a_framework_that_is_named_has_to_read_something)
{
    ck_assert_int_eq(named(&calc_framework_nemo, "model:\n  num_layers: 4\n  a: 1\n  b: 2\n"),
                     CALC_OK);
    ck_assert_int_eq(named(&calc_framework_nemo, "a: 1\n"), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(named(&calc_framework_megatron, "--lr 1"), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(named(&calc_framework_tensorrt_llm, "trtllm-serve m --tp_size 4"), CALC_OK);
    ck_assert_int_eq(named(&calc_framework_tensorrt_llm, "max_batch_size: 4"), CALC_OK);
}

CALC_TEST(words_of_a_command_say_whose_they_are)
{
    static const char *const vllm[] = {"vllm", "serve", "m", "--tensor-parallel-size", "4"};
    static const char *const open[] = {"--tensor-parallel-size", "4"};
    static const char *const megatron[] = {"--num-layers", "4", "--a", "--b", "--c"};
    const calc_framework *found = NULL;
    calc_settings settings = {0};
    ck_assert_int_eq(calc_detect_options(&found, vllm, 5, &settings, NULL), CALC_OK);
    ck_assert_ptr_eq(found, &calc_framework_vllm);
    calc_settings_free(&settings);
    found = NULL;
    ck_assert_int_eq(calc_detect_options(&found, open, 2, &settings, NULL), CALC_ERR_UNSUPPORTED);
    calc_settings_free(&settings);
    ck_assert_int_eq(calc_detect_options(&found, megatron, 5, &settings, NULL), CALC_OK);
    ck_assert_ptr_eq(found, &calc_framework_megatron);
    calc_settings_free(&settings);
}

/* A request of a server or of a page names no file of this machine. */
CALC_TEST(a_text_without_a_name_follows_nothing)
{
    static const char text[] = "vllm serve m --config more.yaml --max-num-seqs 4\n";
    char folder[256];
    scratch_enter(folder, sizeof folder);
    FILE *more = fopen("more.yaml", "w");
    ck_assert_ptr_nonnull(more);
    fputs("tensor-parallel-size: 8\n", more);
    ck_assert_int_eq(fclose(more), 0);
    for (size_t named = 0; named < 2; named++) {
        const calc_framework *found = NULL;
        calc_settings settings = {0};
        ck_assert_int_eq(
            calc_detect(&found, text, strlen(text), named ? "text" : NULL, &settings, NULL),
            CALC_OK);
        ck_assert_ptr_eq(found, &calc_framework_vllm);
        ck_assert_uint_eq(settings.files, named);
        ck_assert(!calc_settings_last(&settings, "tensor-parallel-size") == !named);
        calc_settings_free(&settings);
    }
    scratch_leave(folder);
}
