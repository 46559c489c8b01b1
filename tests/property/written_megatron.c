/* Megatron-LM core_v0.15.0: megatron/training/arguments.py and what is in megatron/core; of
 * MindSpeed 2.3.0_core_r0.12.1 with core_v0.12.1. Every condition is an assert or a raise there. */
#include "written.h"

#include <stdlib.h>

#define N(key, absent) written_number(w, key, absent)
#define HAS(key) (written_value(w, key) != NULL)
#define IS(key, value) written_is(w, key, value)

typedef struct sizes {
    int64_t world, tensor, stages, context, replicas, expert, expert_tensor, chunks, layers;
    int64_t microbatches;
} sizes;

static sizes sizes_of(const written *w)
{
    sizes s = {.world = N("--nproc-per-node", 1) * N("--nnodes", 1),
               .tensor = N("--tensor-model-parallel-size", 1),
               .stages = N("--pipeline-model-parallel-size", 1),
               .context = N("--context-parallel-size", 1),
               .expert = N("--expert-model-parallel-size", 1),
               .layers = N("--num-layers", 0)};
    s.expert_tensor = N("--expert-tensor-parallel-size", s.tensor);
    s.chunks = N("--num-virtual-stages-per-pipeline-rank", 1);
    if (HAS("--num-layers-per-virtual-pipeline-stage")) {
        s.chunks = s.layers / s.stages / N("--num-layers-per-virtual-pipeline-stage", 1);
    }
    MUST(w, "arguments.py, total_model_size", DIVIDES(s.tensor * s.stages * s.context, s.world));
    s.replicas = s.world / (s.tensor * s.stages * s.context);
    int64_t each = N("--micro-batch-size", 0) * s.replicas;
    MUST(w, "arguments.py, micro_batch_size", N("--micro-batch-size", 0) > 0);
    MUST(w, "num_microbatches_calculator.py", DIVIDES(each, N("--global-batch-size", 0)));
    s.microbatches = N("--global-batch-size", 0) / each;
    MUST(w, "num_microbatches_calculator.py", s.microbatches >= 1);
    return s;
}

static void ranks(const written *w, const sizes *s)
{
    const char *core = "parallel_state.py";
    int64_t experts = s->expert_tensor * s->expert;
    MUST(w, core, DIVIDES(experts * s->stages, s->world));
    int64_t expert_replicas = s->world / (experts * s->stages);
    int64_t instances = N("--num-distributed-optimizer-instances", 1);
    MUST(w, core, DIVIDES(instances, s->replicas * s->context));
    MUST(w, core, DIVIDES(instances, expert_replicas));
    MUST(w, core,
         IF_THEN(HAS("--use-tp-pp-dp-mapping"), s->stages == 1 || expert_replicas == s->replicas));
    MUST(w, "distributed_data_parallel.py",
         IF_THEN(instances > 1, HAS("--use-distributed-optimizer")));
}

static void stages(const written *w, const sizes *s)
{
    const char *arguments = "arguments.py, pipeline";
    const char *config = "transformer_config.py, pipeline";
    int64_t first = N("--decoder-first-pipeline-num-layers", 0);
    int64_t last = N("--decoder-last-pipeline-num-layers", 0);
    int64_t ends = HAS("--account-for-embedding-in-pipeline-split") +
                   HAS("--account-for-loss-in-pipeline-split");
    int64_t middle = s->stages - (first > 0) - (last > 0);
    MUST(w, arguments,
         HAS("--num-layers-per-virtual-pipeline-stage") +
                 HAS("--num-virtual-stages-per-pipeline-rank") <=
             1);
    MUST(w, arguments, IF_THEN(s->chunks > 1, s->stages > 1));
    MUST(w, arguments,
         IF_THEN(s->chunks > 1 && HAS("--no-overlap-p2p-communication"), s->stages > 2));
    const char *listed = written_value(w, "--pipeline-model-parallel-layout");
    if (listed) {
        int64_t blocks, predictions;
        const char *layout = "pipeline_parallel_layer_layout.py";
        int64_t count = written_stages(listed, &blocks, &predictions);
        MUST(w, layout, count > 0 && DIVIDES(s->stages, count));
        MUST(w, layout, blocks == s->layers && predictions == N("--mtp-num-layers", 0));
        MUST(w, arguments, s->chunks == 1); /* of three options that make chunks one */
        MUST(w, config, first == 0 && last == 0 && ends == 0);
        return;
    }
    MUST(w, arguments, IF_THEN(first == 0 && last == 0, DIVIDES(s->stages, s->layers + ends)));
    MUST(w, arguments,
         IF_THEN(HAS("--num-layers-per-virtual-pipeline-stage"),
                 first == 0 && last == 0 && DIVIDES(s->stages * s->chunks, s->layers + ends)));
    MUST(w, config, IF_THEN(first > 0 || last > 0, ends == 0));
    MUST(w, config, DIVIDES(s->chunks, first) && DIVIDES(s->chunks, last));
    int64_t left = s->layers + ends - first - last;
    MUST(w, config, middle > 0 ? DIVIDES(middle * s->chunks, left) : left == 0);
    MUST(w, "schedules.py", IF_THEN(s->chunks > 1, DIVIDES(s->stages, s->microbatches)));
}

static void model(const written *w, const sizes *s)
{
    const char *config = "transformer_config.py";
    int64_t heads = N("--num-attention-heads", 0);
    int64_t seq = N("--seq-length", 0);
    MUST(w, config, DIVIDES(s->tensor, heads));
    MUST(w, config,
         IF_THEN(HAS("--group-query-attention"), DIVIDES(s->tensor, N("--num-query-groups", 1))));
    MUST(w, "tensor_parallel/layers.py", DIVIDES(s->tensor, N("--ffn-hidden-size", 0)));
    MUST(w, "arguments.py, seq_length", IF_THEN(s->context > 1, DIVIDES(2 * s->context, seq)));
    MUST(w, "tensor_parallel/mappings.py",
         IF_THEN(HAS("--sequence-parallel"), DIVIDES(s->tensor, seq / s->context)));
    MUST(w, "arguments.py, max_position_embeddings", N("--max-position-embeddings", 0) >= seq);
    MUST(w, "arguments.py, mtp_num_layers",
         IF_THEN(HAS("--mtp-num-layers"), IS("--position-embedding-type", "rope") ||
                                              IS("--position-embedding-type", "none")));
    MUST(w, config,
         IF_THEN(HAS("--squared-relu") && !HAS("--no-bias-gelu-fusion"),
                 HAS("--disable-bias-linear")));
    MUST(w, "arguments.py, formats", !(HAS("--fp16") && HAS("--bf16")));
    MUST(w, "arguments.py, formats", !(HAS("--fp8-format") && HAS("--fp4-format")));
    MUST(w, config, IF_THEN(HAS("--fp8-param-gather"), HAS("--fp8-format")));
    MUST(w, "arguments.py, parser",
         IF_THEN(HAS("--main-params-dtype"),
                 IS("--main-params-dtype", "fp32") || IS("--main-params-dtype", "fp16")));
}

static void experts(const written *w, const sizes *s)
{
    const char *config = "transformer_config.py, experts";
    int64_t count = N("--num-experts", 0);
    if (count == 0) {
        MUST(w, config, s->expert == 1 && !HAS("--moe-ffn-hidden-size"));
        return;
    }
    bool flex = IS("--moe-token-dispatcher-type", "flex");
    bool exchange = IS("--moe-token-dispatcher-type", "alltoall");
    MUST(w, "arguments.py, num_experts", DIVIDES(s->expert, count));
    MUST(w, "arguments.py, moe_grouped_gemm", IF_THEN(HAS("--moe-grouped-gemm"), HAS("--bf16")));
    MUST(w, "experts.py", DIVIDES(s->expert_tensor, N("--moe-ffn-hidden-size", 0)));
    MUST(w, "moe_layer.py", IF_THEN(s->tensor > 1, HAS("--sequence-parallel")));
    MUST(w, "token_dispatcher.py", IF_THEN(flex, s->expert_tensor * s->expert > 1));
    MUST(w, "token_dispatcher.py", IF_THEN(flex, HAS("--moe-enable-deepep")));
    MUST(w, config, IF_THEN(HAS("--moe-enable-deepep"), flex));
    MUST(w, config, IF_THEN(flex, !HAS("--moe-pad-expert-input-to-capacity")));
    MUST(w, config,
         IF_THEN(HAS("--moe-pad-expert-input-to-capacity"), HAS("--moe-expert-capacity-factor")));
    MUST(w, config, IF_THEN(HAS("--moe-shared-expert-overlap"), exchange));
    MUST(w, config, IF_THEN(!HAS("--disable-bias-linear"), s->expert_tensor == 1));
    MUST(w, "experts.py", IF_THEN(!HAS("--disable-bias-linear"), HAS("--no-bias-dropout-fusion")));
    MUST(w, config,
         IF_THEN(HAS("--moe-router-enable-expert-bias"),
                 IS("--moe-router-score-function", "sigmoid")));
    MUST(w, config,
         IF_THEN(N("--moe-router-topk", 2) == 1,
                 HAS("--moe-router-pre-softmax") || IS("--moe-router-score-function", "sigmoid")));
    int64_t groups = N("--moe-router-num-groups", 0);
    MUST(w, config,
         IF_THEN(groups > 0, DIVIDES(groups, count) && N("--moe-router-group-topk", 0) <= groups));
}

static void sharding(const written *w)
{
    const char *arguments = "arguments.py, sharding";
    bool sharded = HAS("--use-distributed-optimizer") || HAS("--use-megatron-fsdp");
    MUST(w, arguments,
         IF_THEN(HAS("--overlap-param-gather"), sharded && HAS("--overlap-grad-reduce")));
    MUST(w, arguments, IF_THEN(HAS("--fp8-param-gather"), sharded));
    MUST(w, arguments,
         IF_THEN(HAS("--optimizer-cpu-offload"),
                 HAS("--use-precision-aware-optimizer") &&
                     IF_THEN(HAS("--fp8-param-gather"), IS("--fp8-recipe", "delayed"))));
    MUST(w, "optimizer_config.py",
         IF_THEN(HAS("--use-precision-aware-optimizer"), HAS("--use-distributed-optimizer")));
    MUST(w, "optimizer_config.py",
         IF_THEN(HAS("--main-params-dtype") || HAS("--exp-avg-dtype") || HAS("--exp-avg-sq-dtype"),
                 HAS("--use-precision-aware-optimizer")));
}

static void recomputation(const written *w)
{
    const char *config = "transformer_config.py, recompute";
    const char *modules = written_value(w, "--recompute-modules");
    bool full = IS("--recompute-granularity", "full");
    bool selective = IS("--recompute-granularity", "selective");
    MUST(w, config, IF_THEN(full, HAS("--recompute-method") && HAS("--recompute-num-layers")));
    MUST(w, config,
         IF_THEN(selective, !HAS("--recompute-method") && !HAS("--recompute-num-layers")));
    MUST(w, config, IF_THEN(modules && strstr(modules, "moe_act"), HAS("--moe-grouped-gemm")));
    MUST(w, config,
         IF_THEN(modules && strstr(modules, "mla_up_proj"), HAS("--multi-latent-attention")));
    MUST(
        w, config,
        IF_THEN(modules && strstr(modules, "shared_experts"), !HAS("--moe-shared-expert-overlap")));
    MUST(w, "arguments.py, cuda_graph_impl", IF_THEN(HAS("--cuda-graph-impl"), !full));
    MUST(w, "transformer_config.py, cuda_graph_impl",
         IF_THEN(IS("--cuda-graph-impl", "local"), !selective));
}

/* Up to Hopper. */
static void environment(const written *w, const sizes *s, bool fsdp, bool overlap)
{
    bool one = IS("CUDA_DEVICE_MAX_CONNECTIONS", "1");
    bool split = s->tensor > 1 || s->context > 1;
    MUST(w, "arguments.py, CUDA_DEVICE_MAX_CONNECTIONS", IF_THEN(split && !fsdp && !overlap, one));
    MUST(w, "arguments.py, FSDP", IF_THEN(fsdp, !one && HAS("CUDA_DEVICE_MAX_CONNECTIONS")));
}

static void both(const written *w, const sizes *s)
{
    ranks(w, s);
    stages(w, s);
    model(w, s);
    experts(w, s);
    sharding(w);
    recomputation(w);
    MUST(w, "arguments.py, tp_comm_overlap",
         IF_THEN(HAS("--tp-comm-overlap"), s->tensor > 1 && HAS("--sequence-parallel")));
}

void written_must_megatron(const written *w)
{
    sizes s = sizes_of(w);
    bool fsdp = HAS("--use-megatron-fsdp");
    bool overlap = HAS("--overlap-moe-expert-parallel-comm");
    const char *type = written_value(w, "--cp-comm-type");
    both(w, &s);
    environment(w, &s, fsdp, overlap);
    MUST(w, "arguments.py, FSDP", fsdp == IS("--ckpt-format", "fsdp_dtensor"));
    MUST(w, "mcore_fsdp_adapter.py", IF_THEN(fsdp, s.stages == 1));
    MUST(w, "megatron_fsdp.py", IF_THEN(fsdp, s.expert == 1));
    MUST(w, "megatron_fsdp.py",
         IF_THEN(IS("--data-parallel-sharding-strategy", "optim_grads"),
                 HAS("--overlap-grad-reduce")));
    const char *inner = written_value(w, "--hierarchical-context-parallel-sizes");
    MUST(w, "arguments.py, cp_comm_type",
         IF_THEN(type && strcmp(type, "a2a+p2p") == 0,
                 inner && strtoll(inner, NULL, 10) * strtoll(strchr(inner, ' '), NULL, 10) ==
                              s.context));
    MUST(w, "transformer_config.py, overlap",
         IF_THEN(overlap, s.expert > 1 && (s.stages == 1 || s.chunks > 1) &&
                              !IS("--moe-token-dispatcher-type", "allgather") &&
                              !IS("--recompute-granularity", "full") &&
                              !HAS("--moe-shared-expert-overlap") &&
                              N("--mtp-num-layers", 0) <= 1));
}

void written_must_mindspeed(const written *w)
{
    sizes s = sizes_of(w);
    bool fsdp = HAS("--use-custom-fsdp");
    bool v = IS("--schedules-method", "dualpipev");
    bool overlap = HAS("--moe-fb-overlap");
    int64_t heads = N("--num-attention-heads", 0);
    const char *algorithm = written_value(w, "--context-parallel-algo");
    both(w, &s);
    environment(w, &s, fsdp, false);
    MUST(w, "arguments.py, FSDP",
         IF_THEN(fsdp,
                 HAS("--use-distributed-optimizer") && HAS("--no-gradient-accumulation-fusion")));
    MUST(w, "dualpipev_feature.py",
         IF_THEN(v, !fsdp && !HAS("--overlap-grad-reduce") && s.context == 1 && s.stages > 1 &&
                        HAS("--untie-embeddings-and-output-weights") && !HAS("--swap-attention") &&
                        s.chunks == 1 && s.layers >= 2 * s.stages &&
                        s.microbatches >= 2 * s.stages - 1));
    MUST(w, "fb_overlap.py",
         IF_THEN(overlap, !IS("--moe-token-dispatcher-type", "allgather") && s.expert > 1 &&
                              s.expert_tensor == 1 && !HAS("--swap-attention") &&
                              (s.stages == 1 || s.chunks > 1 || v) &&
                              IF_THEN(s.chunks > 1, s.microbatches / s.stages > 1)));
    MUST(w, "context_parallel_feature.py",
         IF_THEN(algorithm && strcmp(algorithm, "hybrid_cp_algo") == 0,
                 DIVIDES(N("--ulysses-degree-in-cp", 0), s.context) &&
                     s.context / N("--ulysses-degree-in-cp", 0) > 1 &&
                     DIVIDES(N("--ulysses-degree-in-cp", 0) * s.tensor, heads)));
    MUST(w, "ulysses_context_parallel.py",
         IF_THEN(algorithm && strcmp(algorithm, "ulysses_cp_algo") == 0,
                 DIVIDES(s.context * s.tensor, heads)));
    MUST(w, "arguments.py of core_v0.12.1", IF_THEN(HAS("--mtp-num-layers"), s.context == 1));
}
