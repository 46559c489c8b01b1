/* Programs that serve a model: vLLM, SGLang and TensorRT-LLM. The command that starts them names
 * the model, whose files give the number format of the weights. Sources: vLLM,
 * vllm/engine/arg_utils.py; SGLang, python/sglang/srt/server_args.py; TensorRT-LLM,
 * tensorrt_llm/commands/serve.py and llmapi/llm_args.py. Two pools: vLLM, docs/features/
 * nixl_connector_usage.md; SGLang, docs/advanced_features/pd_disaggregation.md. */
#include "base/error.h"
#include "formats/framework.h"
#include "formats/plan_macros.h"
#include "spec/serving_engine.h"

/* clang-format off */
static const char datatype[] = "bfloat16 float16 float32 half=float16 float=float32 auto=bfloat16";
static const char eager[] = "0=1 NONE=1 *=";
static const char cache[] = "auto fp8=float8 fp8_e4m3=float8 fp8_e5m2=float8 bfloat16";
/* CALC_PLAN_NARROW_8, CALC_PLAN_NARROW_4_STORED or CALC_PLAN_NARROW_4; 0: as the checkpoint is */
static const char quantization[] =
    "fp8=1 w8a8_fp8=1 w8a8_int8=1 blockwise_int8=1 fbgemm_fp8=1 ptpc_fp8=1 modelopt_fp8=1 mxfp8=1 experts_int8=1 "
    "awq=2 awq_marlin=2 gptq=2 gptq_marlin=2 moe_wna16=2 bitsandbytes=2 mxfp4=2 petit_nvfp4=2 w4afp8=2 auto-round=2 "
    "modelopt_fp4=3 nvfp4=3 modelopt=0 modelopt_mixed=0 compressed-tensors=0 quark=0 torchao=0 ascend=0 gguf=0 inc=0 auto=0";

static const calc_setting_row vllm[] = {
    CALC_ROW(NAME, MODEL, "--model", .also = "--model_id", .read_only = true) /* KServe's */
    CALC_ROW(NAME, MODEL, "serve", .read_only = true)
    CALC_ROW(NUMBER, TENSOR, "--tensor-parallel-size", .also = "-tp") CALC_ROW(NUMBER, PIPELINE, "--pipeline-parallel-size", .also = "-pp")
    CALC_ROW(NUMBER, DATA, "--data-parallel-size", .also = "-dp") CALC_ROW(SWITCH, SERVE_EXPERTS, "--enable-expert-parallel", .value = 1)
    CALC_ROW(WORDS, PRECISION, "--dtype", .words = datatype)
    CALC_ROW(WORDS, NARROW, "--quantization", .words = quantization, .when = CALC_PLAN_NARROW)
    CALC_ROW(NUMBER, SERVE_LENGTH, "--max-model-len", .unset = true) CALC_ROW(NUMBER, SERVE_SLOTS, "--max-num-seqs")
    CALC_ROW(NUMBER, SERVE_STEP, "--max-num-batched-tokens") CALC_ROW(SWITCH, SERVE_CHUNKED, "--enable-chunked-prefill", .value = 1)
    CALC_ROW(SWITCH, SERVE_CHUNKED, "--no-enable-chunked-prefill", .value = 0) CALC_ROW(SWITCH, SERVE_EAGER, "--enforce-eager", .value = 1)
    CALC_ROW(WORDS, SERVE_EAGER, "--compilation-config", .words = eager, .read_only = true) CALC_ROW(IS, SERVE_EAGER, "-O0", .value = 1, .read_only = true)
    CALC_ROW(WORDS, SERVE_EAGER, "--compilation-config.level", .also = "-O.level", .words = eager, .read_only = true)
    CALC_ROW(WORDS, SERVE_EAGER, "--compilation-config.mode", .also = "-cc.mode", .words = eager, .read_only = true)
    CALC_ROW(WORDS, SERVE_EAGER, "--compilation-config.cudagraph_mode", .also = "-cc.cudagraph_mode", .words = eager, .read_only = true)
    CALC_ROW(WORDS, SERVE_EAGER, "-O.mode", .also = "-O.cudagraph_mode", .words = eager, .read_only = true) CALC_ROW(NUMBER, SERVE_RELEASE, "image", .read_only = true)
    CALC_ROW(DECIMAL, SERVE_MEMORY, "--gpu-memory-utilization")
    CALC_ROW(WORDS, SERVE_CACHE, "--kv-cache-dtype", .words = cache)
    CALC_ROW(NUMBER, SERVE_PAGE, "--block-size")
    CALC_ROW(FORMAT, SERVE_PREDICTED, "--speculative-config", .text = "{\"method\": \"mtp\", \"num_speculative_tokens\": #}")
    CALC_ROW(NUMBER, SERVE_PREDICTED, "--speculative-config.num_speculative_tokens", .read_only = true)
    CALC_ROW_DEFAULT(SERVE_PROGRAM, CALC_SERVING_PROGRAM_VLLM) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(SERVE_STEP, 8192)
    CALC_ROW_DEFAULT(SERVE_CHUNKED, 1) CALC_ROW_DEFAULT(SERVE_PAGE, 16)
};

static const calc_setting_row sglang[] = {
    CALC_ROW(NAME, MODEL, "--model", .also = "--model-path", .read_only = true)
    CALC_ROW(NUMBER, SERVE_RANKS, "--tp-size", .also = "--tp") CALC_ROW(NUMBER, SERVE_RANKS, "--tensor-parallel-size", .read_only = true)
    CALC_ROW(NUMBER, PIPELINE, "--pp-size", .also = "--pp") CALC_ROW(NUMBER, PIPELINE, "--pipeline-parallel-size", .read_only = true)
    CALC_ROW(NUMBER, DATA, "--dp-size", .also = "--dp") CALC_ROW(NUMBER, DATA, "--data-parallel-size", .read_only = true)
    CALC_ROW(SWITCH, SERVE_TOGETHER, "--enable-dp-attention", .value = 1) CALC_ROW(NUMBER, EXPERT, "--ep-size", .also = "--ep")
    CALC_ROW(NUMBER, EXPERT, "--expert-parallel-size", .read_only = true)
    CALC_ROW(WORDS, PRECISION, "--dtype", .words = datatype)
    CALC_ROW(WORDS, NARROW, "--quantization", .words = quantization, .when = CALC_PLAN_NARROW)
    CALC_ROW(NUMBER, SERVE_LENGTH, "--context-length") CALC_ROW(NUMBER, SERVE_ALL_SLOTS, "--max-running-requests")
    CALC_ROW(NUMBER, SERVE_CHUNK, "--chunked-prefill-size") CALC_ROW(SWITCH, SERVE_CHUNKED, "--enable-mixed-chunk", .value = 1)
    CALC_ROW(NAME, MODEL, "serve", .launcher = true, .read_only = true) CALC_ROW(NUMBER, SERVE_RELEASE, "image", .read_only = true)
    CALC_ROW(SWITCH, SERVE_EAGER, "--disable-cuda-graph", .value = 1) CALC_ROW(DECIMAL, SERVE_MEMORY, "--mem-fraction-static")
    CALC_ROW(WORDS, SERVE_CACHE, "--kv-cache-dtype", .words = "auto fp8_e4m3=float8 fp8_e5m2=float8 bf16=bfloat16 bfloat16")
    CALC_ROW(NUMBER, SERVE_PAGE, "--page-size")
    CALC_ROW_CONSTANT("--speculative-algorithm", .text = "EAGLE", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW(NUMBER, SERVE_PREDICTED, "--speculative-num-steps")
    CALC_ROW_CONSTANT("--speculative-eagle-topk", .text = "1", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW(NUMBER, SERVE_VERIFIED, "--speculative-num-draft-tokens", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW_DEFAULT(SERVE_PROGRAM, CALC_SERVING_PROGRAM_SGLANG) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(SERVE_CHUNK, 8192)
};

static const calc_setting_row tensorrt_llm[] = {
    CALC_ROW(NUMBER, SERVE_RANKS, "tensor_parallel_size") CALC_ROW(NUMBER, PIPELINE, "pipeline_parallel_size")
    CALC_ROW(SWITCH, SERVE_TOGETHER, "enable_attention_dp", .value = 1)
    CALC_ROW(NUMBER, EXPERT, "moe_expert_parallel_size") CALC_ROW(NUMBER, EXPERT_TENSOR, "moe_tensor_parallel_size")
    CALC_ROW(WORDS, PRECISION, "dtype", .words = datatype)
    CALC_ROW(NUMBER, SERVE_LENGTH, "max_seq_len") CALC_ROW(NUMBER, SERVE_SLOTS, "max_batch_size") CALC_ROW(NUMBER, SERVE_STEP, "max_num_tokens")
    CALC_ROW(SWITCH, SERVE_CHUNKED, "enable_chunked_prefill", .value = 1) CALC_ROW(DECIMAL, SERVE_MEMORY, "kv_cache_config.free_gpu_memory_fraction")
    CALC_ROW(WORDS, SERVE_CACHE, "kv_cache_config.dtype", .words = cache)
    CALC_ROW(NUMBER, SERVE_PAGE, "kv_cache_config.tokens_per_block")
    CALC_ROW_CONSTANT("speculative_config.decoding_type", .text = "MTP", .when = CALC_PLAN_SERVE_PREDICTED)
    CALC_ROW(NUMBER, SERVE_PREDICTED, "speculative_config.num_nextn_predict_layers")
    CALC_ROW(NUMBER, SERVE_PREDICTED, "speculative_config.max_draft_len", .read_only = true)
    /* Options of trtllm-serve, which the file adds to. */
    CALC_ROW(NAME, MODEL, "serve", .read_only = true) CALC_ROW(NUMBER, SERVE_RELEASE, "image", .read_only = true)
    CALC_ROW(WORDS, SERVE_EAGER, "cuda_graph_config", .words = "null=1 *=", .read_only = true)
    CALC_ROW(NUMBER, SERVE_RANKS, "--tp_size", .read_only = true) CALC_ROW(NUMBER, PIPELINE, "--pp_size", .read_only = true)
    CALC_ROW(NUMBER, EXPERT, "--ep_size", .read_only = true) CALC_ROW(NUMBER, SERVE_LENGTH, "--max_seq_len", .read_only = true)
    CALC_ROW(NUMBER, SERVE_SLOTS, "--max_batch_size", .read_only = true) CALC_ROW(NUMBER, SERVE_STEP, "--max_num_tokens", .read_only = true)
    CALC_ROW(DECIMAL, SERVE_MEMORY, "--kv_cache_free_gpu_memory_fraction", .read_only = true)
    CALC_ROW_DEFAULT(SERVE_PROGRAM, CALC_SERVING_PROGRAM_TENSORRT_LLM) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(SERVE_STEP, 8192) CALC_ROW_DEFAULT(SERVE_PAGE, 32)
};
/* clang-format on */

static CALC_REFUSALS(refusals)
{
    CALC_REFUSE(e->inference.phase == CALC_INFERENCE_PHASE_NONE, "inference.phase is not given");
    CALC_REFUSE(e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED,
                "inference.phase disaggregated is two servers, which it is not told of in one "
                "file: export a layout with phase prefill and one with phase decode");
    CALC_REFUSE(e->inference.speculative_tokens > 0 && a->mtp_blocks == 0,
                "inference.speculative_tokens without mtp_blocks needs a draft model or a method, "
                "which is yours to name");
}

/* Replicas that share their experts are one server: its ranks are tensor parallelism times these.
 * TensorRT-LLM then has as many replicas as ranks. */
static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    bool shared = YES(SERVE_TOGETHER);
    if (shared && SAYS(SERVE_RANKS) && !SAYS(DATA)) {
        SET(DATA, VALUE(SERVE_RANKS));
    }
    double together = shared ? VALUE(DATA) : 1;
    if (SAYS(SERVE_RANKS)) {
        SET(TENSOR, VALUE(SERVE_RANKS) / together);
    }
    double tensor = VALUE(TENSOR), ranks = tensor * together;
    if (tensor != floor(tensor)) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "%.0f ranks are not divisible by the %.0f replicas that share them",
                               VALUE(SERVE_RANKS), together);
    }
    if (SAYS(SERVE_ALL_SLOTS)) {
        SET(SERVE_SLOTS, floor(VALUE(SERVE_ALL_SLOTS) / together));
    }
    if (SAYS(SERVE_CHUNK)) {
        SET(SERVE_CHUNK, floor(VALUE(SERVE_CHUNK) / together));
    }
    if (YES(SERVE_EXPERTS)) {
        SET(EXPERT, tensor * VALUE(DATA));
        SET(EXPERT_TENSOR, 1);
    } else if (SAYS(EXPERT) && !SAYS(EXPERT_TENSOR)) {
        SET(EXPERT_TENSOR, floor(ranks / VALUE(EXPERT)));
    }
    return CALC_OK;
}

#define NIXL                                                                                       \
    "--kv-transfer-config '{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_both\"}'"

/* What the requests are, whoever sends them. */
#define OF_REQUESTS                                                                                \
    " batch_size batch prompt_size generate_size prompt_spread generate_spread requests "          \
    "arrival_rate prefix_hit speculative_accept "

/* clang-format off */
/* Gaudi and TPU by plugins: vllm-project/vllm-gaudi and tpu-inference. */
const calc_framework calc_framework_vllm = {.name = "vllm", .title = "vLLM", .version = "0.11",
    .launch = "run it with bash and the model: its folder or its name; options follow", .script = "vllm serve",
    .program = "vllm", .pool = {NIXL, NIXL}, .router = "a proxy of the NixlConnector in front of both",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN) | CALC_ON(HPU) | CALC_ON(TPU),
    .syntax = CALC_SYNTAX_SHELL, .serves = true, .elsewhere = OF_REQUESTS, .reconcile = settle, CALC_FRAMEWORK_ROWS(vllm, vllm),
    CALC_FRAMEWORK_REFUSALS(refusals, calc_refusals_programs, calc_refusals_vllm)};

const calc_framework calc_framework_sglang = {.name = "sglang", .title = "SGLang", .version = "0.5",
    .launch = "run it with bash and the model: its folder or its name; options follow",
    .script = "python3 -m sglang.launch_server --model-path", .program = "sglang",
    .pool = {"--disaggregation-mode prefill", "--disaggregation-mode decode"},
    .router = "python3 -m sglang_router.launch_router --pd-disaggregation --prefill URL --decode URL",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN), .syntax = CALC_SYNTAX_SHELL, .serves = true, .elsewhere = OF_REQUESTS,
    .reconcile = settle, CALC_FRAMEWORK_ROWS(sglang, sglang),
    CALC_FRAMEWORK_REFUSALS(refusals, calc_refusals_programs, calc_refusals_sglang)};

const calc_framework calc_framework_tensorrt_llm = {.name = "tensorrt-llm", .title = "TensorRT-LLM",
    .version = "1.2, PyTorch backend", .launch = "trtllm-serve MODEL --extra_llm_api_options this file",
    .platforms = CALC_ON(CUDA), .syntax = CALC_SYNTAX_YAML, .program = "trtllm-serve", .options = true,
    .serves = true, .one_replica = true, .elsewhere = OF_REQUESTS, .reconcile = settle, CALC_FRAMEWORK_ROWS(tensorrt_llm, tensorrt_llm),
    CALC_FRAMEWORK_REFUSALS(refusals, calc_refusals_programs, calc_refusals_tensorrt_llm)};
/* clang-format on */
