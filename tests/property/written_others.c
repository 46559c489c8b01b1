/* The checks of the others; sources at each. */
#include "written.h"

#define N(key, absent) written_number(w, key, absent)
#define HAS(key) (written_value(w, key) != NULL)
#define YES(key) written_yes(w, key)
#define IS(key, value) written_is(w, key, value)

/* Whether a list in brackets has the word. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
        if (strchr("[ ", at[-1]) && strchr(",]", at[length])) {
            return true;
        }
    }
    return false;
}

/* Megatron-Bridge, src/megatron/bridge/peft. */
static void must_adapt(const written *w)
{
    const char *targets = written_value(w, "peft.target_modules");
    const char *folder = "megatron.bridge.peft.";
    if (!targets) {
        MUST(w, "peft/base.py", !HAS("peft._target_") && !HAS("peft.dim"));
        return;
    }
    const char *kind = written_value(w, "peft._target_");
    MUST(w, "peft/base.py", kind && strncmp(kind, folder, strlen(folder)) == 0);
    MUST(w, "lora.py", N("peft.dim", 0) > 0 && strcmp(targets, "[]") != 0);
    bool each = IS("peft._target_", "megatron.bridge.peft.canonical_lora.CanonicalLoRA");
    MUST(w, "canonical_lora.py",
         IF_THEN(each, !lists(targets, "linear_qkv") && !lists(targets, "linear_fc1")));
    static const char *const apart[] = {"linear_q", "linear_k", "linear_v", "linear_fc1_gate",
                                        "linear_fc1_up"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        MUST(w, "lora.py", IF_THEN(!each, !lists(targets, apart[i])));
    }
    MUST(w, "dora.py",
         IF_THEN(IS("peft._target_", "megatron.bridge.peft.dora.DoRA"),
                 !HAS("peft.share_expert_adapters")));
}

/* NeMo 2.4.0 (megatron_gpt_model.py, and TransformerConfig of Megatron Core), Megatron-Bridge 0.6.0
 * (training/config.py, with core_v0.19.0). */
void written_must_core(const written *w)
{
    bool nemo = strcmp(w->framework, "nemo") == 0;
    const char *config = "transformer_config.py";
    int64_t tensor = N("model.tensor_model_parallel_size", 1);
    int64_t stages = N("model.pipeline_model_parallel_size", 1);
    int64_t context = N("model.context_parallel_size", 1);
    int64_t chunks = N("model.virtual_pipeline_model_parallel_size", 1);
    int64_t layers = N("model.num_layers", 0);
    int64_t first = N("model.num_layers_in_first_pipeline_stage", 0);
    int64_t last = N("model.num_layers_in_last_pipeline_stage", 0);
    int64_t seq = N(nemo ? "model.encoder_seq_length" : "model.seq_length", 0);
    int64_t middle = stages - (first > 0) - (last > 0);
    int64_t ends = YES("model.account_for_embedding_in_pipeline_split") +
                   YES("model.account_for_loss_in_pipeline_split");
    int64_t left = layers + ends - first - last;
    MUST(w, config, DIVIDES(tensor, N("model.num_attention_heads", 0)));
    MUST(w, config, DIVIDES(tensor, N("model.num_query_groups", tensor)));
    const char *listed = written_value(w, "model.pipeline_model_parallel_layout");
    if (listed) {
        int64_t blocks, predictions;
        const char *layout = "pipeline_parallel_layer_layout.py";
        MUST(w, layout, written_stages(listed, &blocks, &predictions) == stages);
        MUST(w, layout, blocks == layers && predictions == N("model.mtp_num_layers", 0));
        MUST(w, config, !nemo && chunks == 1 && first == 0 && last == 0 && ends == 0);
    } else {
        MUST(w, config, middle > 0 ? DIVIDES(middle * chunks, left) : left == 0);
    }
    MUST(w, config, IF_THEN(ends > 0, first == 0 && last == 0));
    MUST(w, "model_parallel_config.py", IF_THEN(YES("model.sequence_parallel"), tensor > 1));
    MUST(w, "context parallelism", IF_THEN(context > 1, DIVIDES(2 * context, seq)));
    MUST(w, "megatron_gpt_model.py", IF_THEN(nemo, chunks == 1));
    MUST(w, "megatron_gpt_model.py",
         IF_THEN(YES("model.optim.overlap_param_sync"), YES("model.optim.overlap_grad_sync")));
    int64_t experts = N("model.num_moe_experts", 0);
    MUST(w, config,
         IF_THEN(experts > 0, DIVIDES(N("model.expert_model_parallel_size", 1), experts)));
    MUST(w, "moe_layer.py", IF_THEN(experts > 0 && tensor > 1, YES("model.sequence_parallel")));
    bool flex = IS("model.moe_token_dispatcher_type", "flex");
    MUST(w, "token_dispatcher.py",
         IF_THEN(flex, N("model.expert_model_parallel_size", 1) *
                               N("model.expert_tensor_parallel_size", tensor) >
                           1));
    bool fsdp = YES("ddp.use_megatron_fsdp");
    MUST(w, "config.py, Megatron-FSDP",
         IF_THEN(fsdp, IS("checkpoint.ckpt_format", "fsdp_dtensor") &&
                           !YES("dist.use_tp_pp_dp_mapping")));
    MUST(w, "mcore_fsdp_adapter.py", IF_THEN(fsdp, stages == 1));
    MUST(w, "optimizer_config.py",
         IF_THEN(YES("optimizer.use_precision_aware_optimizer"),
                 YES("ddp.use_distributed_optimizer")));
    MUST(w, "distributed_data_parallel.py",
         IF_THEN(YES("ddp.overlap_param_gather"),
                 YES("ddp.use_distributed_optimizer") && YES("ddp.overlap_grad_reduce")));
    bool graphs = HAS("model.cuda_graph_impl") && !IS("model.cuda_graph_impl", "none");
    MUST(w, config, IF_THEN(graphs, !IS("model.recompute_granularity", "full")));
    MUST(w, "transformer_config.py",
         IF_THEN(IS("model.cuda_graph_impl", "local"), !HAS("model.recompute_granularity")));
    must_adapt(w);
}

/* TorchTitan 0.2.2: distributed/parallel_dims.py, distributed/pipeline_parallel.py, train.py,
 * models/llama3/infra/parallelize.py, models/deepseek_v3/infra/parallelize.py. */
void written_must_torchtitan(const written *w)
{
#define P "parallelism."
    int64_t replicate = N(P "data_parallel_replicate_degree", 1);
    int64_t shard = N(P "data_parallel_shard_degree", -1);
    int64_t tensor = N(P "tensor_parallel_degree", 1);
    int64_t stages = N(P "pipeline_parallel_degree", 1);
    int64_t context = N(P "context_parallel_degree", 1);
    int64_t expert = N(P "expert_parallel_degree", 1);
    int64_t expert_tensor = N(P "expert_tensor_parallel_degree", 1);
    int64_t local = N("training.local_batch_size", 0);
    const char *dims = "parallel_dims.py";
    int64_t world = N("world", 0); /* added by the test */
    MUST(w, dims, replicate * shard * context * tensor * stages == world);
    MUST(w, dims, IF_THEN(expert > 1, expert_tensor == 1 || expert_tensor == tensor));
    MUST(w, dims, IF_THEN(expert > 1, DIVIDES(expert * expert_tensor, shard * context * tensor)));
    MUST(w, dims, DIVIDES(tensor * 2 * context, N("training.seq_len", 0)));
    MUST(w, "train.py", DIVIDES(local * replicate * shard, N("training.global_batch_size", 0)));
    MUST(w, "parallelize.py",
         IF_THEN(replicate > 1 && shard == 1 && context == 1, world == replicate));
    MUST(w, "train_spec", HAS("model.name") && HAS("model.flavor"));
    bool deepep = IS(P "expert_parallel_comm_backend", "deepep");
    MUST(w, "deepseek_v3/parallelize.py", IF_THEN(deepep, expert > 1 && expert_tensor == 1));
    if (stages == 1) {
        return;
    }
    const char *schedule = written_value(w, P "pipeline_parallel_schedule");
    bool single = strcmp(schedule, "1F1B") == 0 || strcmp(schedule, "GPipe") == 0;
    bool v = strcmp(schedule, "ZBVZeroBubble") == 0 || strcmp(schedule, "DualPipeV") == 0;
    int64_t each = N(P "pipeline_parallel_layers_per_stage", 0);
    int64_t layers = N("layers", 0); /* added by the test */
    int64_t weight = N(P "pipeline_parallel_first_stage_less_layers", 1) +
                     N(P "pipeline_parallel_last_stage_less_layers", 1);
    int64_t virtual_stages =
        each > 0 ? (layers + weight + each - 1) / each : stages * (single ? 1 : 2);
    const char *pipeline = "pipeline_parallel.py";
    MUST(w, pipeline, DIVIDES(stages, virtual_stages));
    MUST(w, pipeline, single ? virtual_stages == stages : virtual_stages >= 2 * stages);
    MUST(w, pipeline, IF_THEN(v, virtual_stages == 2 * stages));
    MUST(w, pipeline, virtual_stages <= layers + weight);
    MUST(w, pipeline, DIVIDES(N(P "pipeline_parallel_microbatch_size", 1), local));
    int64_t microbatches = local / N(P "pipeline_parallel_microbatch_size", 1);
    int64_t rounds = microbatches / stages > 0 ? microbatches / stages : 1;
    MUST(w, "torch, schedules.py",
         IF_THEN(strcmp(schedule, "Interleaved1F1B") == 0, DIVIDES(rounds, microbatches)));
    MUST(w, "dual_pipe_v.py",
         IF_THEN(strcmp(schedule, "DualPipeV") == 0 && expert > 1,
                 IS("activation_checkpoint.mode", "none")));
#undef P
}

/* DeepSpeed 0.19.5: runtime/config.py, runtime/zero/config.py. */
void written_must_deepspeed(const written *w, int64_t world)
{
    int64_t stage = N("zero_optimization.stage", 0);
    int64_t ranks = world / N("sequence_parallel_size", 1) / N("tensor_parallel.autotp_size", 1);
    MUST(w, "config.py, _batch_assertion",
         N("train_batch_size", 0) ==
             N("train_micro_batch_size_per_gpu", 0) * N("gradient_accumulation_steps", 0) * ranks);
    MUST(w, "config.py", !(YES("fp16.enabled") && YES("bf16.enabled")));
    MUST(w, "zero/config.py", stage >= 0 && stage <= 3);
    MUST(w, "zero/config.py", IF_THEN(HAS("zero_optimization.offload_param.device"), stage == 3));
    MUST(w, "zero/config.py",
         IF_THEN(HAS("zero_optimization.offload_optimizer.device"), stage >= 1));
    MUST(w, "engine.py, MiCS",
         IF_THEN(HAS("zero_optimization.mics_shard_size"),
                 stage == 3 && DIVIDES(N("zero_optimization.mics_shard_size", 0),
                                       ranks * N("sequence_parallel_size", 1))));
}

/* MindSpore Transformers 1.7.0: parallel_core/transformer_config.py, op_parallel_config.py. */
void written_must_mindformers(const written *w, int64_t world)
{
#define M "model.model_config."
    const char *config = "transformer_config.py";
    const char *dropout = written_value(w, M "hidden_dropout");
    int64_t tensor = N("parallel_config.model_parallel", 1);
    int64_t context = N("parallel_config.context_parallel", 1);
    MUST(w, "op_parallel_config.py",
         N("parallel_config.data_parallel", 1) * tensor * context *
                 N("parallel_config.pipeline_stage", 1) ==
             world);
    MUST(w, config, IF_THEN(dropout, strchr(dropout, '.') != NULL));
    MUST(w, config, N(M "mtp_num_layers", 0) <= 1);
    MUST(w, config, DIVIDES(tensor, N(M "num_attention_heads", 0)));
    MUST(w, config, IF_THEN(context > 1, YES(M "use_flash_attention")));
    MUST(w, config, IF_THEN(N("parallel_config.expert_parallel", 1) > 1, HAS(M "num_experts")));
    MUST(w, config, IF_THEN(HAS(M "n_group"), DIVIDES(N(M "n_group", 1), N(M "num_experts", 0))));
#undef M
}

/* PaddleNLP 3.0: paddlenlp/trainer/training_args.py. */
void written_must_paddle(const written *w, int64_t world)
{
    const char *arguments = "training_args.py";
    const char *pipeline = written_value(w, "pipeline_parallel_config");
    const char *sharding = written_value(w, "sharding_parallel_config");
    int64_t stages = N("pipeline_parallel_degree", 1);
    int64_t sequence = N("sep_parallel_degree", 1) * N("context_parallel_degree", 1);
    int64_t split = N("tensor_parallel_degree", 1) * stages;
    bool sharded = HAS("sharding");
    MUST(w, arguments, !(YES("fp16") && YES("bf16")));
    MUST(w, arguments, DIVIDES(split, world));
    MUST(w, arguments, !(HAS("sep_parallel_degree") && HAS("context_parallel_degree")));
    int64_t shard = sharded ? N("sharding_parallel_degree", world / split / sequence) : 1;
    int64_t replicas = world / (shard * split * sequence);
    MUST(w, arguments, replicas * shard * split * sequence == world);
    MUST(w, arguments, IF_THEN(stages > 1 && sharded, IS("sharding", "stage1")));
    bool overlap = stages > 1 && pipeline && strstr(pipeline, "comm_overlap");
    MUST(w, arguments, IF_THEN(overlap, replicas == 1));
    MUST(w, arguments, IF_THEN(overlap && shard > 1, YES("amp_master_grad")));
    if (!sharding || shard == 1) {
        return;
    }
    MUST(w, arguments, IF_THEN(strstr(sharding, "split_param"), YES("amp_master_grad")));
    MUST(w, arguments,
         IF_THEN(strstr(sharding, "enable_stage2_overlap"), IS("sharding", "stage2")));
    MUST(w, arguments,
         IF_THEN(strstr(sharding, "allgather_overlap"),
                 IS("sharding", "stage1") && strstr(sharding, "split_param")));
}

/* vLLM 0.11: vllm/config/parallel.py, scheduler.py, cache.py. */
void written_must_vllm(const written *w, int64_t world)
{
    int64_t slots = N("--max-num-seqs", 0);
    int64_t tokens = N("--max-num-batched-tokens", 0);
    int64_t page = N("--block-size", 16);
    MUST(w, "parallel.py",
         N("--tensor-parallel-size", 1) * N("--pipeline-parallel-size", 1) *
                 N("--data-parallel-size", 1) ==
             world);
    MUST(w, "scheduler.py", slots >= 1 && tokens >= slots);
    MUST(w, "scheduler.py",
         IF_THEN(HAS("--no-enable-chunked-prefill"), tokens >= N("--max-model-len", 0)));
    MUST(w, "scheduler.py", HAS("--enable-chunked-prefill") != HAS("--no-enable-chunked-prefill"));
    MUST(w, "cache.py", page >= 8 && page <= 128 && (page & (page - 1)) == 0);
}

/* SGLang 0.5: python/sglang/srt/server_args.py. */
void written_must_sglang(const written *w, int64_t world)
{
    const char *arguments = "server_args.py";
    int64_t ranks = N("--tp-size", 1);
    int64_t replicas = N("--dp-size", 1);
    int64_t chunk = N("--chunked-prefill-size", -1);
    bool together = HAS("--enable-dp-attention");
    MUST(w, arguments, ranks * N("--pp-size", 1) * (together ? 1 : replicas) == world);
    MUST(w, arguments, IF_THEN(together, replicas > 1 && DIVIDES(replicas, ranks)));
    MUST(w, arguments, DIVIDES(N("--ep-size", 1), ranks));
    MUST(w, arguments, N("--max-running-requests", 0) >= (together ? replicas : 1));
    MUST(w, arguments,
         IF_THEN(chunk > 0, DIVIDES(N("--page-size", 1) * (together ? replicas : 1), chunk)));
    MUST(w, arguments, chunk == -1 || chunk > 0);
    MUST(w, arguments, IF_THEN(HAS("--enable-mixed-chunk"), chunk > 0));
    MUST(w, arguments,
         IF_THEN(HAS("--speculative-algorithm"),
                 N("--speculative-num-draft-tokens", 0) == N("--speculative-num-steps", 0) + 1 &&
                     N("--pp-size", 1) == 1));
}

/* TensorRT-LLM 1.2: tensorrt_llm/llmapi/llm_args.py, mapping.py. */
void written_must_tensorrt_llm(const written *w, int64_t world)
{
    int64_t ranks = N("tensor_parallel_size", 1);
    int64_t page = N("kv_cache_config.tokens_per_block", 32);
    MUST(w, "mapping.py", DIVIDES(ranks * N("pipeline_parallel_size", 1), world)); /* servers */
    MUST(w, "mapping.py",
         IF_THEN(HAS("moe_expert_parallel_size"),
                 N("moe_expert_parallel_size", 1) * N("moe_tensor_parallel_size", 1) == ranks));
    MUST(w, "llm_args.py", (page & (page - 1)) == 0);
    MUST(w, "llm_args.py", N("max_num_tokens", 0) >= N("max_batch_size", 0));
    MUST(w, "llm_args.py",
         IF_THEN(!YES("enable_chunked_prefill"), N("max_num_tokens", 0) >= N("max_seq_len", 0)));
}
