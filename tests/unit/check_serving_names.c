/* Names of models, machines and engines, as publishers print them. */
#include "serving_run_case.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_serving_row row;

static void enter(void)
{
    row = serving_row();
}

const calc_test_frame calc_tests = {.setup = enter};

static const char *model_of(const char *name)
{
    row.model = name;
    return calc_serving_model_of(&row).name;
}

CALC_TEST(a_model_is_known_without_its_publisher_and_its_endings)
{
    ck_assert_str_eq(model_of("meta-llama/Meta-Llama-3-70B"), "llama3-70B");
    ck_assert_str_eq(model_of("meta-llama/Llama-3.1-8B-Instruct"), "llama3-8B");
    ck_assert_str_eq(model_of("Llama 3.1 405B"), "llama3-405B");
    ck_assert_str_eq(model_of("meta-llama/Llama-2-7b-hf"), "llama2-7B");
    ck_assert_str_eq(model_of("LLaMA 70B"), "llama2-70B");
    ck_assert_str_eq(model_of("mistralai/Mixtral-8x7B-v0.1"), "mixtral-8x7B");
    ck_assert_str_eq(model_of("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"), "qwen3-235B-A22B");
    ck_assert_str_eq(model_of("workspace/DeepSeek-R1-0528"), "deepseek-v3-671B");
    ck_assert_str_eq(model_of("MiniMaxAI/MiniMax-M2.5"), "minimax-m2-230B");
    ck_assert_str_eq(model_of("Falcon 180B"), "falcon-180B");
    ck_assert_str_eq(model_of("EleutherAI/gpt-j-6b"), "gptj-6B");
    ck_assert_str_eq(model_of("Deci/DeciLM-7B"), "decilm-7B");
}

/* Near names are other models: there is no file of theirs. */
CALC_TEST(a_model_that_is_not_known_is_its_own_name)
{
    const char *const others[] = {"Qwen/Qwen3.5-9B",
                                  "deepseek-ai/DeepSeek-V3.2",
                                  "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
                                  "GPT-J",
                                  "-fp8",
                                  ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_str_eq(model_of(others[i]), others[i]);
    }
}

static calc_serving_checkpoint checkpoint_of(const char *name)
{
    row.model = name;
    return calc_serving_model_of(&row).checkpoint;
}

CALC_TEST(a_checkpoint_is_published_in_a_format)
{
    ck_assert_int_eq(checkpoint_of("Qwen/Qwen3-32B"), CALC_SERVING_CHECKPOINT_16_BITS);
    ck_assert_int_eq(checkpoint_of("Qwen/Qwen3-32B-FP8"), CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK);
    ck_assert_int_eq(checkpoint_of("nvidia/Llama-3.1-8B-Instruct-FP8"),
                     CALC_SERVING_CHECKPOINT_FLOAT8);
    ck_assert_int_eq(checkpoint_of("DeepSeek-R1-0528"), CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK);
    ck_assert_int_eq(checkpoint_of("openai/gpt-oss-120b"), CALC_SERVING_CHECKPOINT_MXFP4);
    ck_assert_int_eq(checkpoint_of("MiniMaxAI/MiniMax-M2.5"), CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK);
    ck_assert_int_eq(checkpoint_of("GPT-J 6B"), CALC_SERVING_CHECKPOINT_16_BITS);
}

CALC_TEST(a_machine_is_known_by_the_start_of_its_name)
{
    const char *assumed;
    const struct {
        const char *gpu, *system;
    } cases[] = {{"H100-SXM-80GB", "h100_sxm"},
                 {"GB200-NVL72", "gb200_nvl72"},
                 {"GH200", "gh200"},
                 {"L40S", "l40s"},
                 {"A100-SXM-80GB (power limit 330 W)", "a100_sxm_80g"},
                 {"NVIDIA H100-PCIe-80GB", "NVIDIA H100-PCIe-80GB"},
                 {"h20", "h20"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row.gpu = cases[i].gpu;
        ck_assert_str_eq(calc_serving_machine_of(&row, &assumed), cases[i].system);
        ck_assert_ptr_null(assumed);
    }
    row.gpu = "MI250"; /* of which a table counts dies */
    ck_assert_str_eq(calc_serving_machine_of(&row, &assumed), "mi250");
    ck_assert_ptr_nonnull(assumed);
    row.gpu = "A100-SXM (40GB or 80GB not in table)";
    ck_assert_str_eq(calc_serving_machine_of(&row, &assumed), "a100_sxm_40g");
    ck_assert_ptr_nonnull(assumed);
}

static const char *reason;
static int year;

static calc_serving_engine engine_of(const char *software, const char *date)
{
    row.gpu = "H100-SXM";
    row.software = software;
    row.date = date;
    return calc_serving_engine_of(&row, &year, &reason);
}

CALC_TEST(an_engine_is_known_by_its_version)
{
    const struct {
        const char *software;
        calc_serving_engine engine;
        int year;
    } cases[] = {
        {"vLLM 0.5.3.post1 (script)", CALC_SERVING_ENGINE_VLLM_0_5, 2024},
        {"vLLM 0.7.3", CALC_SERVING_ENGINE_VLLM_0_6, 2024},
        {"vLLM 0.7.3 ROCm 6.3.1", CALC_SERVING_ENGINE_VLLM_ROCM_0_6, 2025},
        {"vLLM v0.10.2", CALC_SERVING_ENGINE_VLLM_0_8, 2025},
        {"vLLM v0.11.0", CALC_SERVING_ENGINE_VLLM_0_11, 2025},
        {"vllm 0.19.0 (vllm/vllm-openai:v0.19.0-cu130)", CALC_SERVING_ENGINE_VLLM_0_11, 2025},
        {"SGLang v0.5.3rc0", CALC_SERVING_ENGINE_SGLANG_0_5, 2025},
        {"mori-sglang rocm/sgl-dev:sglang-0.5.7-rocm700", CALC_SERVING_ENGINE_SGLANG_0_5, 2025},
        {"TensorRT-LLM 0.6.1", CALC_SERVING_ENGINE_TENSORRT_LLM_0_5, 2023},
        {"TensorRT-LLM 0.9.0", CALC_SERVING_ENGINE_TENSORRT_LLM_0_9, 2024},
        {"trtllm 1.0.0rc3", CALC_SERVING_ENGINE_TENSORRT_LLM_1_0, 2025},
        {"trt nvcr.io/nvidia/tensorrt-llm/release:1.1.0rc2.post2",
         CALC_SERVING_ENGINE_TENSORRT_LLM_1_1, 2025},
        {"trtllm 1.3.0rc1 (nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.9.0;)",
         CALC_SERVING_ENGINE_TENSORRT_LLM_1_2, 2026},
        {"atom rocm/atom:rocm7.1.1-pytorch2.9-atom0.1.1-MI350x", CALC_SERVING_ENGINE_ATOM_0_1,
         2026}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(engine_of(cases[i].software, ""), cases[i].engine);
        ck_assert_ptr_null(reason);
        ck_assert_int_eq(year, cases[i].year);
    }
}

/* An image of Dynamo has a version of its own. */
CALC_TEST(without_a_version_the_date_counts)
{
    const struct {
        const char *software, *date;
        calc_serving_engine engine;
    } cases[] = {
        {"vLLM (Splitwise fork)", "2024-04-25 (paper)", CALC_SERVING_ENGINE_VLLM_0_2},
        {"vLLM (version not in table)", "2024 (arXiv 2411.00136)", CALC_SERVING_ENGINE_VLLM_0_5},
        {"vllm", "2025-10-29", CALC_SERVING_ENGINE_VLLM_0_11},
        {"vllm nightly-5b8c30d62b754b57", "2026-04-01", CALC_SERVING_ENGINE_VLLM_0_11},
        {"trt", "2025-10-30", CALC_SERVING_ENGINE_TENSORRT_LLM_1_0},
        {"trt", "2025-11-30", CALC_SERVING_ENGINE_TENSORRT_LLM_1_1},
        {"dynamo-trt", "2025-12-01", CALC_SERVING_ENGINE_TENSORRT_LLM_1_2},
        {"trtllm 0.8.1.post1 (nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post1)",
         "2026-01-14", CALC_SERVING_ENGINE_TENSORRT_LLM_1_2},
        {"dynamo-sglang", "2026-02-01", CALC_SERVING_ENGINE_SGLANG_0_5},
        {"gpt-fast (PyTorch nightly)", "2023-11-30", CALC_SERVING_ENGINE_GPT_FAST_2023}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(engine_of(cases[i].software, cases[i].date), cases[i].engine);
        ck_assert_ptr_null(reason);
        ck_assert_int_eq(year, (int)strtol(cases[i].date, NULL, 10));
    }
}

CALC_TEST(amd_builds_sglang_for_itself)
{
    const struct {
        const char *software, *date;
        calc_serving_engine engine;
    } cases[] = {
        {"sglang 0.5.2 (rocm/7.0:sgl-dev)", "2026-01-02", CALC_SERVING_ENGINE_SGLANG_ROCM_0_5},
        {"sglang lmsysorg/sglang:v0.5.5.post3-rocm700-mi35x", "2025-12-06",
         CALC_SERVING_ENGINE_SGLANG_ROCM_0_5_5},
        {"mori-sglang rocm/sgl-dev:sglang-0.5.7-rocm700", "2025-12-06",
         CALC_SERVING_ENGINE_SGLANG_ROCM_0_5_5},
        {"sglang", "2025-12-30", CALC_SERVING_ENGINE_SGLANG_ROCM_0_5},
        {"sglang", "2026-01-02", CALC_SERVING_ENGINE_SGLANG_ROCM_0_5_5}};
    row.gpu = "MI355X";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row.software = cases[i].software;
        row.date = cases[i].date;
        ck_assert_int_eq(calc_serving_engine_of(&row, &year, &reason), cases[i].engine);
    }
    row.gpu = "mi300x";
    ck_assert_int_eq(calc_serving_engine_of(&row, &year, &reason), cases[4].engine);
}

CALC_TEST(an_engine_that_is_not_described_is_a_reason)
{
    const struct {
        const char *software, *date, *reason;
    } cases[] = {{"", "2025-10", "the serving engine is not described, or not named"},
                 {"TensorRT 10.2.0, CUDA 12.4", "2024-08",
                  "the serving engine is not described, or not named"},
                 {"sambaflow", "2024", "the serving engine is not described, or not named"},
                 {"vLLM", "", "neither version nor date of the engine"},
                 {"vLLM", "2025-13", "neither version nor date of the engine"},
                 {"sglang 0.3.1", "2025-10", "this version of the engine is not described"},
                 {"vllm", "2023-01", "this version of the engine is not described"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(engine_of(cases[i].software, cases[i].date), CALC_SERVING_ENGINE_NONE);
        ck_assert_str_eq(reason, cases[i].reason);
    }
}
