/* Programs that serve a model: vLLM, SGLang and TensorRT-LLM. The command that starts them names
 * the model, whose files give the number format of the weights. Sources: vLLM,
 * vllm/engine/arg_utils.py; SGLang, python/sglang/srt/server_args.py; TensorRT-LLM,
 * tensorrt_llm/commands/serve.py and llmapi/llm_args.py. Two pools: vLLM, docs/features/
 * nixl_connector_usage.md; SGLang, docs/advanced_features/pd_disaggregation.md. */
#include "formats/framework.h"
#include "spec/serving_program.h"

static const calc_word datatype[] = {{"bfloat16", CALC_DATATYPE_BFLOAT16},
                                     {"float16", CALC_DATATYPE_FLOAT16},
                                     {"float32", CALC_DATATYPE_FLOAT32},
                                     {0}};
static const calc_word cache[] = {{"auto", CALC_FORMAT_AUTO}, {"fp8", CALC_FORMAT_FLOAT8}, {0}};
static const calc_word sglang_cache[] = {
    {"auto", CALC_FORMAT_AUTO}, {"fp8_e4m3", CALC_FORMAT_FLOAT8}, {0}};

/* clang-format off */
static const calc_setting_row vllm[] = {
    CALC_ROW(NUMBER, TENSOR, "--tensor-parallel-size")
    CALC_ROW(NUMBER, PIPELINE, "--pipeline-parallel-size")
    CALC_ROW(NUMBER, DATA, "--data-parallel-size")
    CALC_ROW(SWITCH, SERVE_EXPERTS, "--enable-expert-parallel", .value = 1)
    CALC_ROW(WORDS, PRECISION, "--dtype", .words = datatype)
    CALC_ROW(NUMBER, SERVE_LENGTH, "--max-model-len")
    CALC_ROW(NUMBER, SERVE_SLOTS, "--max-num-seqs")
    CALC_ROW(NUMBER, SERVE_STEP, "--max-num-batched-tokens")
    CALC_ROW(SWITCH, SERVE_CHUNKED, "--enable-chunked-prefill", .value = 1)
    CALC_ROW(SWITCH, SERVE_CHUNKED, "--no-enable-chunked-prefill", .value = 0)
    CALC_ROW(DECIMAL, SERVE_MEMORY, "--gpu-memory-utilization")
    CALC_ROW(WORDS, SERVE_CACHE, "--kv-cache-dtype", .words = cache)
    CALC_ROW(NUMBER, SERVE_PAGE, "--block-size")
    CALC_ROW(FORMAT, SERVE_PREDICTED, "--speculative-config", .text = "{\"method\": \"mtp\", \"num_speculative_tokens\": #}")
};

static const calc_setting_row sglang[] = {
    CALC_ROW(NUMBER, SERVE_RANKS, "--tp-size")
    CALC_ROW(NUMBER, PIPELINE, "--pp-size")
    CALC_ROW(NUMBER, DATA, "--dp-size")
    CALC_ROW(SWITCH, SERVE_TOGETHER, "--enable-dp-attention", .value = 1)
    CALC_ROW(NUMBER, EXPERT, "--ep-size")
    CALC_ROW(WORDS, PRECISION, "--dtype", .words = datatype)
    CALC_ROW(NUMBER, SERVE_LENGTH, "--context-length")
    CALC_ROW(NUMBER, SERVE_ALL_SLOTS, "--max-running-requests")
    CALC_ROW(NUMBER, SERVE_CHUNK, "--chunked-prefill-size")
    CALC_ROW(SWITCH, SERVE_CHUNKED, "--enable-mixed-chunk", .value = 1)
    CALC_ROW(DECIMAL, SERVE_MEMORY, "--mem-fraction-static")
    CALC_ROW(WORDS, SERVE_CACHE, "--kv-cache-dtype", .words = sglang_cache)
    CALC_ROW(NUMBER, SERVE_PAGE, "--page-size")
    CALC_ROW_CONSTANT("--speculative-algorithm", .text = "EAGLE", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW(NUMBER, SERVE_PREDICTED, "--speculative-num-steps")
    CALC_ROW_CONSTANT("--speculative-eagle-topk", .text = "1", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW(NUMBER, SERVE_VERIFIED, "--speculative-num-draft-tokens", .when = CALC_PLAN_SERVE_PREDICTED)
};

static const calc_setting_row tensorrt_llm[] = {
    CALC_ROW(NUMBER, SERVE_RANKS, "tensor_parallel_size")
    CALC_ROW(NUMBER, PIPELINE, "pipeline_parallel_size")
    CALC_ROW(SWITCH, SERVE_TOGETHER, "enable_attention_dp", .value = 1)
    CALC_ROW(NUMBER, EXPERT, "moe_expert_parallel_size")
    CALC_ROW(NUMBER, EXPERT_TENSOR, "moe_tensor_parallel_size")
    CALC_ROW(WORDS, PRECISION, "dtype", .words = datatype)
    CALC_ROW(NUMBER, SERVE_LENGTH, "max_seq_len")
    CALC_ROW(NUMBER, SERVE_SLOTS, "max_batch_size")
    CALC_ROW(NUMBER, SERVE_STEP, "max_num_tokens")
    CALC_ROW(SWITCH, SERVE_CHUNKED, "enable_chunked_prefill", .value = 1)
    CALC_ROW(DECIMAL, SERVE_MEMORY, "kv_cache_config.free_gpu_memory_fraction")
    CALC_ROW(WORDS, SERVE_CACHE, "kv_cache_config.dtype", .words = cache)
    CALC_ROW(NUMBER, SERVE_PAGE, "kv_cache_config.tokens_per_block")
    CALC_ROW_CONSTANT("speculative_config.decoding_type", .text = "MTP", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW(NUMBER, SERVE_PREDICTED, "speculative_config.num_nextn_predict_layers")
};
/* clang-format on */

/* ---- Layouts that they refuse ---------------------------------------------------------------- */

CALC_REFUSAL(says_no_phase, e->inference.phase == CALC_INFERENCE_PHASE_NONE)
CALC_REFUSAL(is_two_servers, e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED)
CALC_REFUSAL(drafts_elsewhere, e->inference.speculative_tokens > 0 && a->mtp_blocks == 0)
static const calc_refusal serve[] = {
    {says_no_phase, "inference.phase is not given"},
    {is_two_servers, "inference.phase disaggregated is two servers, which it is not told of in one "
                     "file: export a layout with phase prefill and one with phase decode"},
    {drafts_elsewhere, "inference.speculative_tokens without mtp_blocks needs a draft model or a "
                       "method, which is yours to name"}};
static CALC_REFUSALS(refusals, serve);

#define NIXL                                                                                       \
    "--kv-transfer-config '{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_both\"}'"

const calc_framework calc_framework_vllm = {
    .name = "vllm",
    .title = "vLLM",
    .version = "0.11",
    .launch = "run it with bash and the model: its folder or its name; options follow",
    .script = "vllm serve",
    .pool = {NIXL, NIXL},
    .router = "a proxy of the NixlConnector in front of both",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN) | CALC_ON(HPU) | CALC_ON(TPU),
    .syntax = CALC_SYNTAX_SHELL,
    .serves = true,
    CALC_FRAMEWORK_ROWS(vllm),
    CALC_FRAMEWORK_REFUSALS(&refusals, &calc_refusals_programs, &calc_refusals_vllm)};

const calc_framework calc_framework_sglang = {
    .name = "sglang",
    .title = "SGLang",
    .version = "0.5",
    .launch = "run it with bash and the model: its folder or its name; options follow",
    .script = "python3 -m sglang.launch_server --model-path",
    .pool = {"--disaggregation-mode prefill", "--disaggregation-mode decode"},
    .router =
        "python3 -m sglang_router.launch_router --pd-disaggregation --prefill URL --decode URL",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN),
    .syntax = CALC_SYNTAX_SHELL,
    .serves = true,
    CALC_FRAMEWORK_ROWS(sglang),
    CALC_FRAMEWORK_REFUSALS(&refusals, &calc_refusals_programs, &calc_refusals_sglang)};

const calc_framework calc_framework_tensorrt_llm = {
    .name = "tensorrt-llm",
    .title = "TensorRT-LLM",
    .version = "1.2, PyTorch backend",
    .launch = "trtllm-serve MODEL --extra_llm_api_options this file",
    .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML,
    .serves = true,
    CALC_FRAMEWORK_ROWS(tensorrt_llm),
    CALC_FRAMEWORK_REFUSALS(&refusals, &calc_refusals_programs, &calc_refusals_tensorrt_llm)};
