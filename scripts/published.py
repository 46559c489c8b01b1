"""What is known of published tables of training runs, for make_runs.py: their columns, the software of each publisher by what
it is known to do, machines, models and words. Nothing else in calc knows a publisher.

Rows of several tables begin with a condition: the only group of runs ("": any), columns of which one contains a part, and the
part, letters large or small ("": anything). The first that fits counts: special ones stand before their kind, and the last fits
all."""

# ---- Columns of published tables --------------------------------------------------------------------------------------------

TEXTS = ("id source hardware inter_node_net model model_notes dtype vpp zero_stage_fsdp recompute overlap tflops_counting "
         "memory_counting confidence").split()
OPTIONAL = ("arguments",)  # options of Megatron-LM's command line, as they were given: "--hidden-dropout 0.0 --swiglu"
# Names and the least value; all are at most 1e9, so that the product of two of them is a whole number still.
WHOLE = {1: "num_gpus gpus_per_node layers hidden heads seq global_batch micro_batch tp pp cp".split(),
         0: "ffn kv_heads head_dim vocab num_experts topk moe_ffn dp ep etp".split()}
NUMBERS = {0: "mla sequence_parallel flash_attention measured_tokens_per_s_per_gpu measured_tflops_per_gpu "
              "measured_memory_gib".split(),
           1e-6: ["measured_iteration_s"]}  # no step takes less than a microsecond
MOST = 1e9

# ---- Software ---------------------------------------------------------------------------------------------------------------

# What software does that rows do not print, and the sentence that says so as an assumption.
TRAITS = {
    "unfused_attention": "attention without a flash kernel (GPT code of 2020 to 2022)",
    "dropout": "dropout, the default of GPT code",
    "unfused_loss": "loss in several kernels",
    "eager": "eager PyTorch",
    "eager_unless_compiled": "eager PyTorch, as no torch.compile is named",
    "portable_attention": "portable flash attention kernels",
    "portable_softmax": "scores of attention scaled, masked and normalised in a kernel each",
    "fused_tensor_overlap": "fused tensor-parallel overlap, this software's default",
    "no_tensor_overlap": "no tensor-parallel overlap",
    "data_overlap": "gradient and weight communication overlapped, this software's default",
    "no_message_overlap": "pipeline messages not overlapped",
    "half_gradients": "gradients reduced in 16 bits, this software's default",
    "float8_weights": "weights kept and gathered in 8 bits, this software's default",
    "float8_blocks": "weights kept in 8 bits with scales of blocks, this software's default",
    "float16_gradients": "float16 gradients reduced as they are; of bfloat16, float32 sums, on every rank (BF16_Optimizer)",
    "summed_gradients": "gradients of a sharded optimizer summed on every rank, this software's code",
    "narrow_gradients": "gradients added up in 16 bits and reduced in float32, this software's code",
    "unfused_norm": "RMS norms in a kernel for each operation",
    "unfused_gate": "activation and gate of the feed-forward layer in a kernel each, this software's code",
    "unfused_rope": "rotary embedding in kernels of its own, this software's code",
    "kept_gathers": "what sequence parallelism gathers is kept for the backward pass, this software's code",
    "gathered_logits": "loss of logits gathered over tensor-parallel ranks, this software's code",
    "held_logits": "logits in 16 bits of two micro-batches held beside the loss, this software's code",
    "node_limited_dispatch": "one copy of a token per rank and node (DeepEP, HybridEP)",
    "split_experts": "experts split over the tensor-parallel ranks",
    "ulysses": "context parallelism by all-to-all",
    "no_recompute": "no recomputation",
    "early_stop": "recomputation ends with the last tensor that the backward pass reads",
    "spread_experts": "expert parallelism over as many ranks as there are experts",
    "microbatch_1": "micro-batch not printed: 1",
    "microbatch_per_stage": "micro-batch not printed: a rank's batch in one per stage",
    "microbatch_search": "micro-batch and interleaving not printed: the fastest predicted",
    "chunks_8": "interleaving not printed: 8 chunks",
    "chunks_2": "interleaving not printed: 2 chunks, this software's default",
    "balanced_ends": "embedding and head count as a block each",
    "cost_balanced": "stages of equal arithmetic, the head's counted",
    "float32_shards": "sharded weights in float32, gathered in 16 bits (FSDP2)",
    "launch_blocking": "CUDA_LAUNCH_BLOCKING=1 on more than 20 nodes",
    "whole_tensors": "sharded optimizer by whole tensors: one broadcast per rank",
    "wide_inputs": "inputs of 8-bit multiplications kept in 16 bits (torchao)",
    "engine_buffers": "Transformer Engine's dummy weight gradients and workspaces",
}


def traits(words):
    assert TRAITS.keys() >= set(words.split()), words
    return frozenset(words.split())


NONE = traits("")
OLD_GPT = traits("unfused_attention dropout unfused_loss")
MEGATRON_2021 = OLD_GPT | traits("no_message_overlap")
VTRAIN = MEGATRON_2021 | traits("half_gradients")
NVIDIA_EARLIER = traits("data_overlap half_gradients fused_tensor_overlap")
# fp8_params of MLPerf 4.0's configurations (3.1's have none), of DGX Cloud's since v24.11 and of NeMo's recipes;
# fp8_param_gather of Megatron-Bridge (mixed_precision.py of v0.2.0 to v0.6.0). NeMo-Framework-Launcher of 24.07 names it for
# MLPerf's model alone.
NVIDIA_RECIPE = NVIDIA_EARLIER | traits("float8_weights")
PYTORCH = traits("portable_attention data_overlap wide_inputs")
PYTORCH_TODAY = PYTORCH | traits("unfused_loss eager_unless_compiled")
TITAN = PYTORCH_TODAY | traits("microbatch_per_stage chunks_2 float32_shards")
BIGSCIENCE = MEGATRON_2021 | traits("no_tensor_overlap float16_gradients")
FOUNDRY = traits("eager unfused_loss portable_attention")
NANOTRON = FOUNDRY | traits("no_message_overlap cost_balanced unfused_gate")  # models/llama.py, GLUActivation
INTERNEVO = traits("eager portable_attention no_tensor_overlap half_gradients whole_tensors")
# Aleph Alpha's Scaling: core/nn/linear/column_parallel_linear.py (parallel_output), transformer/model/losses/cross_entropy.py,
# core/optimizer/allreduce.py, parameter_group.py and optimizer.py (allreduce_gradients, also of a sharded optimizer);
# core/nn/mlp.py (_standard_siglu_forward), rotary.py (apply_rotary_pos_emb), norm/rms_norm.py (gathers behind the norm, for linear
# layers that keep their input). core/nn/parallel_module and pipeline_schedule/train.py: the last stage's outputs stay in a buffer
# for each of at least two micro-batches (required_buffer_count), 2 x 2 bytes a logit.
SCALING = traits("eager no_tensor_overlap narrow_gradients summed_gradients unfused_gate unfused_rope kept_gathers gathered_logits "
                 "held_logits")
# PaddleNLP 3.0: llm/run_pretrain.py, transformers/llama/modeling.py.
PADDLE = traits("eager no_tensor_overlap half_gradients unfused_norm unfused_rope")
SIMUMAX = traits("no_tensor_overlap no_message_overlap ulysses engine_buffers")
DATA_OVERLAP = traits("data_overlap")
JAX = DATA_OVERLAP | traits("early_stop")  # XLA computes no result that nothing uses
MIXTURES_OF_BRIDGE = traits("data_overlap half_gradients float8_weights float8_blocks node_limited_dispatch engine_buffers")

BOTH, MIXTURES_ONLY, DENSE_ONLY = 0, 1, -1  # models with and without experts
OTHER = "other"

# Start of the id, a part of it, models, name of the group, traits; why its rows are not predicted. The first that fits counts.
SOURCES = [
    ("simumax_b200", "", BOTH, "simumax_b200", SIMUMAX),
    ("simumax", "", BOTH, "simumax", SIMUMAX),
    ("seqsel_tab5", "", BOTH, "calculon_tab5", MEGATRON_2021),
    ("seqsel_fig", "", BOTH, "seqsel_fig1", OLD_GPT, "analytical memory values, no measurement"),
    ("seqsel", "", BOTH, "seqsel_abs", OLD_GPT),
    ("mlm_sc21_tab1", "", BOTH, "mlm_sc21_tab1", MEGATRON_2021 | traits("microbatch_search")),
    ("mlm_sc21_tab2", "", BOTH, "mlm_sc21_tab2", MEGATRON_2021 | traits("microbatch_search")),
    ("mlm_readme2020", "", BOTH, "mlm_readme2020", OLD_GPT | traits("no_tensor_overlap half_gradients")),
    ("mlm_readme_h100", "", BOTH, "mlm_readme_h100", traits("data_overlap microbatch_search")),
    ("vtrain_multi", "", BOTH, "vtrain_multi", VTRAIN),
    ("vtrain_single", "", BOTH, "vtrain_single", VTRAIN),
    ("foundry_h100", "", BOTH, "foundry_h100", FOUNDRY),
    ("foundry_a100_80", "", BOTH, "foundry_a100_80", FOUNDRY),
    ("foundry_a100_40", "", BOTH, "foundry_a100_40", FOUNDRY),
    ("foundry", "", BOTH, "foundry", FOUNDRY),
    ("mlperf3", "", BOTH, "mlperf", NVIDIA_EARLIER),
    ("mlperf", "", BOTH, "mlperf", NVIDIA_RECIPE),
    ("torchtitan_ao", "", BOTH, "torchao", TITAN),
    ("torchtitan", "", BOTH, "torchtitan", TITAN),
    ("nemo_24", "", BOTH, "nemo_2407", NVIDIA_EARLIER),
    ("nemo_long", "", BOTH, "nemo_longseq", NONE, "GPU count is not the product of the parallel sizes"),
    ("nemo_", "", BOTH, "nemo", NVIDIA_RECIPE),
    ("automodel", "GPT-OSS", BOTH, "automodel", PYTORCH | traits("no_recompute spread_experts")),
    ("automodel", "", BOTH, "automodel", PYTORCH | traits("no_recompute")),
    ("mcore_small", "", BOTH, "mcore_small", traits("unfused_loss split_experts")),
    ("mcore_ci", "", BOTH, "mcore_ci", traits("dropout unfused_loss")),
    ("msllm", "", BOTH, "ascend_msllm", traits("no_message_overlap")),
    ("mtnlg", "", BOTH, "mtnlg", OLD_GPT),
    ("llama3_405b", "", BOTH, "llama3_paper", traits("unfused_loss data_overlap microbatch_1 chunks_8 balanced_ends")),
    ("nemotron4", "", BOTH, "nemotron4", traits("data_overlap microbatch_1 chunks_8")),
    ("primus", "", BOTH, "primus", DATA_OVERLAP),
    ("dgxc_", "grok", BOTH, "dgxc_grok", NVIDIA_RECIPE | traits("split_experts")),
    ("dgxc_", "nemotron4-340b", BOTH, "dgxc_dense", traits("data_overlap half_gradients float8_weights")),
    ("dgxc_", "", BOTH, "dgxc_dense", NVIDIA_RECIPE),
    ("mbridge", "", MIXTURES_ONLY, "mbridge_moe", MIXTURES_OF_BRIDGE),
    ("mbridge", "nemotron-3", BOTH, "mbridge_moe", NONE),
    ("mbridge", "", DENSE_ONLY, "mbridge_dense", NVIDIA_RECIPE | traits("float8_blocks engine_buffers")),
    ("bigscience_v100", "", BOTH, "bigscience_v100", BIGSCIENCE),
    ("bigscience", "", BOTH, "bigscience_a100", BIGSCIENCE | traits("launch_blocking")),
    ("internevo", "", BOTH, "internevo", INTERNEVO),
    ("nanotron", "_tp1_", BOTH, "nanotron_tp1", NANOTRON),
    ("nanotron", "", BOTH, "nanotron", NANOTRON),
    ("maxtext", "", BOTH, "maxtext", JAX),
    ("aleph", "rms", BOTH, "aleph", SCALING),
    ("aleph", "_torch", BOTH, "aleph", SCALING | traits("unfused_norm portable_softmax")),
    ("aleph", "", BOTH, "aleph", SCALING | traits("unfused_norm")),
    ("paddlenlp", "", BOTH, "paddlenlp", PADDLE),
    ("nemolauncher", "", BOTH, "nemo_launcher", DATA_OVERLAP),
    ("paxml", "", BOTH, "paxml", JAX),
    ("fms_fsdp", "", BOTH, OTHER, PYTORCH_TODAY | traits("half_gradients")),
]

# Traits of a source that is not known: its kind of software as it is set up today.
UNKNOWN = [
    ("", "hardware", "ascend", traits("no_message_overlap")),
    ("", "hardware", "910", traits("no_message_overlap")),
    ("", "zero_stage_fsdp", "fsdp", PYTORCH_TODAY),
    ("", "id", "", DATA_OVERLAP),  # Megatron-LM
]

# Who published a group, where independence is meant: by the first word of its name. Megatron-LM and its papers, NeMo,
# Megatron-Bridge, AutoModel, DGX Cloud, and MLPerf's runs, all but one of them NVIDIA's own.
NVIDIA = set("automodel calculon dgxc mbridge mcore mlm mlperf mtnlg nemo nemotron4 seqsel".split())

# Confidence that is said of a run's place in a release, not of its numbers: what it is of those.
CONFIDENCES = {("simumax_b200", "low"): "medium"}

# The month in which a release, paper or report appeared. Releases that are called by year and month are of that month, papers
# of that of their number at arXiv.
DATES = [
    ("", "source", "Megatron-LM README 2020", "2020-12"),  # of that year
    ("", "source", "arXiv 2104.04473", "2021-04"),
    ("", "source", "arXiv 2201.11990", "2022-01"),
    ("", "source", "arXiv 2205.05198", "2022-05"),
    ("", "source", "MLPerf Training v3.1", "2023-11"),
    ("", "source", "llm-foundry", "2024-01"),  # its README, over 2023; H100 at last
    ("", "source", "long-sequence performance 24.03", "2024-03"),
    ("", "source", "Nemotron-4", "2024-06"),
    ("", "source", "MLPerf Training v4.0", "2024-06"),
    ("", "source", "arXiv 2407.21783", "2024-07"),
    ("", "source", "24.07-rev2", "2024-09"),
    ("", "source", "performance summary 24.07", "2024-07"),
    ("", "source", "ModelLink) 1.0.RC3", "2024-10"),
    ("", "source", "vTrain", "2024-11"),
    ("", "source", "MLPerf Training v4.1", "2024-11"),
    ("", "source", "benchmarking v24.11", "2024-11"),
    ("", "source", "torchtitan benchmarks Dec 2024", "2024-12"),
    ("", "source", "arXiv 2412.19437", "2024-12"),
    ("", "source", "benchmarking v25.02", "2025-02"),
    ("", "source", "benchmarking v25.04", "2025-04"),
    ("", "source", "performance 25.04", "2025-04"),
    ("", "source", "benchmarking v25.05", "2025-05"),
    ("", "source", "MLPerf Training v5.0", "2025-06"),
    ("", "source", "performance summary 25.09", "2025-09"),
    ("", "source", "performance summary 25.11", "2025-11"),
    ("", "source", "SimuMax v1.2", "2026-01"),  # with PyTorch 2.10, of that month
    ("", "source", "performance summary 26.02", "2026-02"),
    ("", "source", "performance summary 26.04.01", "2026-05"),
    ("", "source", "performance summary 26.04", "2026-04"),
    ("", "source", "performance summary 26.06.01", "2026-07"),
    ("", "source", "performance summary 26.06", "2026-06"),
    ("", "source", "performance summary 26.08", "2026-08"),
    ("", "source", "AutoModel", "2026-04"),  # its newest rows
    ("", "source", "", ""),
]

# ---- Machines ---------------------------------------------------------------------------------------------------------------

# The name of a machine's file in systems/, and the family of machines alike.
MACHINES = [
    ("vtrain_multi", "hardware", "A100", "vtrain_a100", "A100"),  # 800 Gb/s per node
    ("vtrain_single", "hardware", "A100", "vtrain_a100", "A100"),
    ("simumax_b200", "hardware", "B200", "b200_180g", "Blackwell"),  # slower clocks than other B200
    ("", "hardware", "A100-SXM4-40", "a100_sxm_40g", "A100"),
    ("", "hardware", "A100", "a100_sxm_80g", "A100"),
    ("", "hardware", "V100", "v100_sxm", "A100"),
    ("", "hardware", "H100-SXM-96", "h100_sxm_500w", "H100"),
    ("", "hardware", "H800", "h800", "H100"),
    ("", "hardware", "H200", "h200", "H100"),
    ("", "hardware", "H100", "h100_sxm", "H100"),
    ("", "hardware", "GB300", "gb300_nvl72", "Blackwell"),
    ("", "hardware", "GB200", "gb200_nvl72", "Blackwell"),
    ("", "hardware", "B300", "b300", "Blackwell"),
    ("", "hardware", "B200", "b200", "Blackwell"),
    ("", "hardware", "MI355X", "mi355x", "CDNA"),
    ("", "hardware", "MI325X", "mi325x", "CDNA"),
    ("", "hardware", "MI300X", "mi300x", "CDNA"),
    ("", "hardware", "Ascend", "ascend_910b", "910B"),
    ("", "hardware", "", "", ""),
]

# ---- Models -----------------------------------------------------------------------------------------------------------------

# Words of the vocabulary.
VOCABULARIES = [
    ("", "model id", "llama3", 128256), ("", "model id", "deepseek-v3", 129280), ("", "model id", "gpt-oss", 201088),
    ("", "model id", "qwen3", 151936), ("", "model id", "kimi", 163840), ("", "model id", "llama2", 32000),
    ("", "model id", "llama_", 32000), ("", "model id", "aquila", 100008), ("", "model id", "baichuan-", 64000),
    ("", "model id", "baichuan2", 125696), ("", "model id", "bloom", 250880), ("", "model id", "internlm-", 103168),
    ("", "model id", "codellama", 32000), ("", "model id", "yi-", 64000), ("", "model id", "qwen-", 151936),
    ("", "model id", "mistral", 32000), ("", "model id", "mcore_small", 50257), ("", "model id", "gpt3-", 51200),
    ("", "model id", "gpt4", 51200), ("", "model id", "", 51200),
]

# Blocks without experts at the beginning, and the width of the shared experts in widths of one routed expert.
MIXTURES = [
    ("automodel", "id", "", 0, 0),  # those of its DeepSeek-V3 and Kimi-K2 are not counted
    ("", "id", "deepseekv2", 1, 2),
    ("", "id", "deepseek-v2", 1, 2),
    ("simumax_b200", "id", "deepseek", 1, 1),  # their V3 is cut to one dense block
    ("ascend_msllm", "id", "deepseek", 1, 2),
    ("", "id", "deepseek", 3, 1),
    ("", "id", "kimi", 1, 1),
    ("", "id", "", 0, 0),
]

# Attention that sees the last tokens only: so many, and every so many blocks one that sees all.
WINDOWS = [("", "id", "mistral_7B", 4096, 0), ("", "id", "gpt-oss", 128, 2), ("", "id", "gemma2", 4096, 2),
           ("", "id", "", 0, 0)]

# Three matrices with a gate, or two.
GATED = [
    ("", "id", "grok", True),  # 314 billion parameters only fit a gated layer
    ("ascend_msllm", "id", "bloom", False),
    ("ascend_msllm", "id", "gpt3", False),
    ("ascend_msllm", "id", "", True),
    ("", "model", "nemotron", False),
    ("", "model_notes", "SwiGLU", True),
    ("", "model_notes", "GELU", False),
    ("", "model_notes", "ReLU", False),
    ("", "model", "gpt", False),
    ("", "id", "", True),
]

# Latent attention, where `mla` does not say so.
HAS_LATENT = [("ascend_msllm", "id", "deepseek", True), ("ascend_msllm", "id", "", False), ("", "model", "deepseek-v", True),
              ("", "model", "deepseekv", True), ("", "model", "kimi", True), ("", "id", "", False)]

# Latent attention of DeepSeek-V2, V3 and Kimi-K2, and the options of Megatron-LM that say otherwise.
LATENT = {"q_lora_rank": (1536, "q-lora-rank"), "kv_lora_rank": (512, "kv-lora-rank"), "qk_nope_size": (128, "qk-head-dim"),
          "qk_rope_size": (64, "qk-pos-emb-head-dim"), "v_size": (128, "v-head-dim")}

# ---- What was measured ------------------------------------------------------------------------------------------------------


def gpt_recomputed_flop(row):
    """FLOP of a step with full recomputation, GPT: Narayanan et al. 2021 (arXiv 2104.04473), eq. 3, with their vocabulary of
    51,200."""
    shape = 1 + row.seq / (6 * row.hidden) + 51200 / (16 * row.layers * row.hidden)
    return 96 * row.global_batch * row.seq * row.layers * row.hidden * row.hidden * shape


def llama3_flop(row):
    """6 FLOP per parameter and token, and causal attention: Llama 3 405B, 405.9e9 parameters."""
    return row.global_batch * row.seq * (6 * 405.9e9 + 6 * row.layers * row.hidden * row.seq)


# How sources that print FLOP/s alone count FLOP.
CONVENTIONS = {
    "mlm_sc21_tab1": (gpt_recomputed_flop, "FLOP counted with full recomputation, as printed"),
    "mlm_sc21_tab2": (gpt_recomputed_flop, "FLOP counted with full recomputation, as printed"),
    "seqsel_abs": (gpt_recomputed_flop, "FLOP counted with full recomputation"),
    "llama3_paper": (llama3_flop, "FLOP: 6 per parameter and token, causal attention"),
}

# ---- Free words -------------------------------------------------------------------------------------------------------------

# Phrases of the columns `dtype`, `zero_stage_fsdp`, `recompute` and `overlap`, by what they do and mean. Letters may be large
# or small, and words joined, or spelt with a dash, an underscore, a dot or a blank: only letters, digits and "=" count. The
# longest of several phrases in the same place is read.
#   says    its meanings; "=value" or a word behind it may deny them
#   rest    likewise, and the rest up to a semicolon belongs to it
#   before  denies the words after it, up to the end of the clause
#   behind  denies the earlier words of the clause
#   key     belongs to the value behind it, which says it all
#   pass    says nothing that is modelled
WORDS = {
    "dtype": {
        "says float16": "fp16, float16, half",
        "says float8": "fp8, float8, amp fp8",
        "says float8 block_scales": "mxfp8, fp8mx",
        "says block_scales": "mx, blockwise, block scaling, subchannel",
        "says float4": "fp4, nvfp4, float4",
        "says float4 block_scales": "mxfp4",
        "says row_scales": "rowwise, rowwise with gw hp",
        "says half_gradients": "pure",  # reduced in 16 bits
        "says float8_gather": "with float8 all gather, f8 all gather",
        "says float8_attention": "fp8 attention, fp8 dpa",
        "pass": "bf16, bfloat16, fp32, float32, amp bf16, te, hybrid, delayed, current, scaling, e4m3, e5m2, linear, fsdp, "
                "mixed precision, default, tensorwise, with bfloat16 all gather, mxfp8 cublas, "
                "mxfp8 cublas rceil, 1x128, 128x128",
    },
    "zero_stage_fsdp": {
        "says sharded_optimizer": "1, zero 1, zero stage 1, distributed optimizer, parallel optimizer, sharded optimizer, "
                                  "dist opt",
        "says sharded_gradients": "2, zero 2, zero stage 2, shard grad op, weights not resharded",
        "says sharded_weights": "3, zero 3, zero stage 3, fsdp, fsdp1, fsdp2, full shard",
        "says sharded_weights shard_node": "hsdp, hybrid shard",  # a copy per node
        "says shard_group": "within groups of",  # the number of ranks that share a copy
        "before": "no, without",
        "key": "group",
        "pass": "1 deepspeed or 0 not stated here, 0, none, ddp, megatron, deepspeed, jax, a, over all ranks, over dp cp, "
                "optimizer grad sharded, fsdp 16 x 8 data 2, fsdp 32 x 8",
    },
    "recompute": {
        "says full": "full",
        "says blocks": "block",  # their number in a stage
        "says selective": "selective",
        "says by_operator": "sac, selective ac",
        "says core_attn": "core attn, core attention, attention core",
        "says layernorm": "layernorm, rmsnorm, norms",
        "says mla_up_proj": "mla up proj, mla up projection",
        "says mlp": "mlp",
        "says moe_act": "moe act",
        "says shared_experts": "shared experts",
        "says moe": "moe",
        "says offload": "activation cpu offload, cpu offload, offload",
        "before": "no, without",
        "key": "uniform",
        "pass": "none, modules, layers, for 8k, paper, and, torchtitan op level, share of blocks not printed, "
                "conf activations checkpoint granularity null, nemo 24 07 recommended configs, inferred, "
                "vtrain validation configs use checkpoint=true, remat policy, custom, configure sh, saved, recomputed, qkv, "
                "save qkv proj, save qkv out proj, save dot only, out proj, out projection, mlpwo, matrix products, "
                "first matrices",
    },
    "overlap": {
        "says tensor_overlap": "tp comm overlap, tp comm, tp overlap, ub tp comm overlap, userbuffers, async tp, mc2",
        "says gradient_overlap": "grad reduce, overlap grad reduce, overlap grad sync, dp gradient bucketing overlap",
        "says gather_overlap": "param gather, overlap param gather, overlap param sync",
        "says gradient_overlap gather_overlap": "grad reduce param gather overlap, dp grad param overlap, dp overlap, "
                                                "fsdp prefetch, fsdp2 prefetch",
        "says half_gradients": "grad sync dtype=bf16",
        "says expert_overlap": "ep a2a, ep overlap, overlap moe expert parallel comm, full all to all pp overlap",
        "says expert_overlap delayed_wgrad": "moe a2a overlap",
        "says delayed_wgrad": "delay wgrad compute, delayed wgrad",
        "says deferred_wgrad": "wgrad deferral limit",  # of the head; the number of micro-batches, 0: of all
        "says node_limited": "deepep, hybridep",
        "says ulysses": "ulysses",
        "says compiled": "torch compile, compile, compiled, xla compile",
        "says graphs": "cuda graph, cuda graphs, layer cuda graph, cuda graph=local, cuda graph impl=local",
        "says full_graph": "full iteration",
        "says engine_graphs": "transformer engine",
        "says attention_graph": "attn",
        "says fused_experts": "use transformer engine op fuser, te op fuser, op fuser, cutedsl fused grouped mlp, "
                              "fused grouped mlp",
        "says float8_attention": "fp8 dot product attention, fp8 attention",
        "says": "p2p overlap, pp overlap, overlap p2p, overlap p2p comm",  # pipeline messages: interleaving tells
        "rest stage_list": "num layer list",  # the blocks of each stage
        "rest": "pp layout",
        "before": "no, without",
        "behind": "off, all off, disabled",
        "key": "moe mlp glu interleave size, moe paged stash, high priority a2a comm stream, dispatcher, cp algo, "
               "bucket cap mb, nccl ub, reuse fp32 param, coc, use gradient bucket",
        "pass": "grad sync dtype=fp32, eager, "
                "cuda graph=none full iteration, paged stash, high priority communication stream, high priority comm stream, "
                "high priority stream, true, false, none, none stated, null, token drop, moe router, moe preprocess, mamba, "
                "alltoall, flex, megatron cp algo, hybrid cp algo, ring, cp type, 1f1b, interleaved, dualpipe, dualpipev, "
                "sms for comm, te, torchsdpa, flexattn, torch mm, by latency hiding scheduler, in their validation config, "
                "configure sh, config, conf default, not in table, nemo 2 0 recipe defaults, nemo perf scripts default",
    },
}
# Words that ids say, by patterns as of file names.
SAID_BY_ID = {"*MX*": "block_scales", "*AsyncTP*": "tensor_overlap", "*Interleaved*": "interleaved",
              "mbridge*fsdp*": "fully_sharded", "*gpt-oss*": "unfused_experts", "*GPT-OSS*": "unfused_experts",
              "*nemotron-3*": "mamba", "*nemotron3_super*": "mamba"}
NUMBERED = {"blocks", "shard_group", "deferred_wgrad"}  # a number may stand behind these
YES = "true yes on enabled 1".split()
NO = "false no none off disabled 0 na".split()

# Members of sets, in the order in which they are written; words of `recompute` that mean a part of a block are called like it.
SETS = {"recompute_modules": "core_attn layernorm mla_up_proj mlp moe_act shared_experts moe".split(),
        "offload_modules": "attn_norm qkv_linear core_attn attn_proj mlp_norm expert_fc1 moe_act fused_group_mlp".split(),
        "framework_mem": "te_dummy_wgrad gemm_workspace loss_copies logits_gathered logits_held".split()}

# What changes a run, but nothing in calc, so that runs that differ in it are not the same: options of Megatron-LM, and words of
# `dtype` for how numbers of 8 bits are scaled.
UNMODELLED = ("moe-grouped-gemm moe-router-load-balancing-type no-create-attention-mask-in-dataloader deterministic-mode "
              "transformer-impl").split()
SCALINGS = "gw_hp", "cublas"
