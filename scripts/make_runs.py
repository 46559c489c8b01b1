#!/usr/bin/env python3
"""Turns a published table of training runs, in the words of its publishers, into the rows that `calc validate` reads.

TABLE is a CSV file (.gz too; "-": standard input) with the columns of COLUMNS below, others are ignored: numbers as printed,
blank where nothing is, and the free words of publications. The result has the application, the execution, the machine and
the measured values of each run in calc's own fields, what had to be assumed for it, and why a run cannot be predicted.
All that depends on who published a run, or on how it says things, is in the tables at the start of this file."""
import argparse
import bisect
import csv
import functools
import gzip
import io
import itertools
import math
import re
import sys
from types import SimpleNamespace

# ---- Columns of published tables -------------------------------------------------------------------------------------------

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

# ---- Software --------------------------------------------------------------------------------------------------------------

# What software does that rows do not print, and the sentence that says so as an assumption.
TRAITS = {
    "unfused_attention": "attention without a flash kernel (GPT code of 2020 to 2022)",
    "dropout": "dropout, the default of GPT code",
    "unfused_loss": "loss in several kernels",
    "eager": "eager PyTorch",
    "eager_unless_compiled": "eager PyTorch, as no torch.compile is named",
    "portable_attention": "portable flash attention kernels",
    "fused_tensor_overlap": "fused tensor-parallel overlap, this software's default",
    "no_tensor_overlap": "no tensor-parallel overlap",
    "data_overlap": "gradient and weight communication overlapped, this software's default",
    "no_message_overlap": "pipeline messages not overlapped",
    "half_gradients": "gradients reduced in 16 bits, this software's default",
    "float8_gather": "weights in 8 bits gathered in 8 bits, this software's default",
    "float16_gradients": "float16 gradients reduced as they are; of bfloat16, float32 sums",
    "node_limited_dispatch": "one copy of a token per rank and node (DeepEP, HybridEP)",
    "split_experts": "experts split over the tensor-parallel ranks",
    "ulysses": "context parallelism by all-to-all",
    "no_recompute": "no recomputation",
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
NVIDIA_RECIPE = NVIDIA_EARLIER | traits("float8_gather")
PYTORCH = traits("portable_attention data_overlap wide_inputs")
PYTORCH_TODAY = PYTORCH | traits("unfused_loss eager_unless_compiled")
TITAN = PYTORCH_TODAY | traits("microbatch_per_stage chunks_2 float32_shards")
BIGSCIENCE = MEGATRON_2021 | traits("no_tensor_overlap float16_gradients")
FOUNDRY = traits("eager unfused_loss portable_attention")
NANOTRON = FOUNDRY | traits("no_message_overlap cost_balanced")
INTERNEVO = traits("eager portable_attention no_tensor_overlap half_gradients whole_tensors")
SIMUMAX = traits("no_tensor_overlap no_message_overlap ulysses engine_buffers")
DATA_OVERLAP = traits("data_overlap")
MIXTURES_OF_BRIDGE = traits("data_overlap half_gradients float8_gather node_limited_dispatch engine_buffers")

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
    ("dgxc_", "nemotron4-340b", BOTH, "dgxc_dense", traits("data_overlap half_gradients float8_gather")),
    ("dgxc_", "", BOTH, "dgxc_dense", NVIDIA_RECIPE),
    ("mbridge", "", MIXTURES_ONLY, "mbridge_moe", MIXTURES_OF_BRIDGE),
    ("mbridge", "nemotron-3", BOTH, "mbridge_moe", NONE),
    ("mbridge", "", DENSE_ONLY, "mbridge_dense", NVIDIA_RECIPE | traits("engine_buffers")),
    ("bigscience_v100", "", BOTH, "bigscience_v100", BIGSCIENCE),
    ("bigscience", "", BOTH, "bigscience_a100", BIGSCIENCE | traits("launch_blocking")),
    ("internevo", "", BOTH, "internevo", INTERNEVO),
    ("nanotron", "_tp1_", BOTH, "nanotron_tp1", NANOTRON),
    ("nanotron", "", BOTH, "nanotron", NANOTRON),
    ("maxtext", "", BOTH, "maxtext", DATA_OVERLAP),
    ("paxml", "", BOTH, "paxml", DATA_OVERLAP),
    ("fms_fsdp", "", BOTH, OTHER, PYTORCH_TODAY | traits("half_gradients")),
]

# Who published a group, where independence is meant: by the first word of its name. Megatron-LM and its papers, NeMo,
# Megatron-Bridge, AutoModel, DGX Cloud, and MLPerf's runs, all but one of them NVIDIA's own.
NVIDIA = set("automodel calculon dgxc mbridge mcore mlm mlperf mtnlg nemo nemotron4 seqsel".split())

# Confidence that is said of a run's place in a release, not of its numbers: what it is of those.
CONFIDENCES = {("simumax_b200", "low"): "medium"}

# The month in which a release, paper or report appeared, by what the column `source` contains; the first that fits counts.
# Releases that are called by year and month are of that month, papers of that of their number at arXiv.
DATES = {
    "Megatron-LM README 2020": "2020-12",  # of that year
    "arXiv 2104.04473": "2021-04",
    "arXiv 2201.11990": "2022-01",
    "arXiv 2205.05198": "2022-05",
    "MLPerf Training v3.1": "2023-11",
    "llm-foundry": "2024-01",  # its README, over 2023; H100 at last
    "long-sequence performance 24.03": "2024-03",
    "Nemotron-4": "2024-06",
    "MLPerf Training v4.0": "2024-06",
    "arXiv 2407.21783": "2024-07",
    "24.07-rev2": "2024-09",
    "performance summary 24.07": "2024-07",
    "ModelLink) 1.0.RC3": "2024-10",
    "vTrain": "2024-11",
    "MLPerf Training v4.1": "2024-11",
    "benchmarking v24.11": "2024-11",
    "torchtitan benchmarks Dec 2024": "2024-12",
    "arXiv 2412.19437": "2024-12",
    "benchmarking v25.02": "2025-02",
    "benchmarking v25.04": "2025-04",
    "performance 25.04": "2025-04",
    "benchmarking v25.05": "2025-05",
    "MLPerf Training v5.0": "2025-06",
    "performance summary 25.09": "2025-09",
    "performance summary 25.11": "2025-11",
    "SimuMax v1.2": "2026-01",  # with PyTorch 2.10, of that month
    "performance summary 26.02": "2026-02",
    "performance summary 26.04.01": "2026-05",
    "performance summary 26.04": "2026-04",
    "performance summary 26.06.01": "2026-07",
    "performance summary 26.06": "2026-06",
    "performance summary 26.08": "2026-08",
    "AutoModel": "2026-04",  # its newest rows
}

# ---- Machines --------------------------------------------------------------------------------------------------------------

# What the column `hardware` contains, the only group of the row or "" for any, the name of the machine's file in systems/, and
# the family of machines alike. The first that fits counts: special machines before their kind.
MACHINES = [
    ("A100", "vtrain_multi", "vtrain_a100", "A100"),  # 800 Gb/s per node
    ("A100", "vtrain_single", "vtrain_a100", "A100"),
    ("B200", "simumax_b200", "b200_180g", "Blackwell"),  # slower clocks than other B200
    ("A100-SXM4-40", "", "a100_sxm_40g", "A100"),
    ("A100", "", "a100_sxm_80g", "A100"),
    ("V100", "", "v100_sxm", "A100"),
    ("H100-SXM-96", "", "h100_sxm_500w", "H100"),
    ("H800", "", "h800", "H100"),
    ("H200", "", "h200", "H100"),
    ("H100", "", "h100_sxm", "H100"),
    ("GB300", "", "gb300_nvl72", "Blackwell"),
    ("GB200", "", "gb200_nvl72", "Blackwell"),
    ("B300", "", "b300", "Blackwell"),
    ("B200", "", "b200", "Blackwell"),
    ("MI355X", "", "mi355x", "CDNA"),
    ("MI325X", "", "mi325x", "CDNA"),
    ("MI300X", "", "mi300x", "CDNA"),
    ("Ascend", "", "ascend_910b", "910B"),
]

# ---- Models ----------------------------------------------------------------------------------------------------------------

# Words of a family's vocabulary, by what the model or the id contains; the first that fits counts.
VOCABULARIES = {
    "llama3": 128256, "deepseek-v3": 129280, "gpt-oss": 201088, "qwen3": 151936, "kimi": 163840, "llama2": 32000,
    "llama_": 32000, "aquila": 100008, "baichuan-": 64000, "baichuan2": 125696, "bloom": 250880, "internlm-": 103168,
    "codellama": 32000, "yi-": 64000, "qwen-": 151936, "mistral": 32000, "mcore_small": 50257, "gpt3-": 51200, "gpt4": 51200,
    "": 51200,
}

# By what the id contains and the group ("": any): blocks without experts at the beginning, and the width of the shared experts
# in widths of one routed expert. The first that fits counts.
MIXTURES = [
    ("deepseekv2", "", 1, 2),
    ("deepseek-v2", "", 1, 2),
    ("deepseek", "simumax_b200", 1, 1),  # their V3 is cut to one dense block
    ("deepseek", "ascend_msllm", 1, 2),
    ("deepseek", "", 3, 1),
    ("kimi", "", 1, 1),
    ("", "", 0, 0),
]

# Attention that sees the last tokens only, by what the id contains: so many, and every so many blocks one that sees all.
WINDOWS = {"mistral_7B": (4096, 0), "gpt-oss": (128, 2), "gemma2": (4096, 2)}

# Latent attention of DeepSeek-V2, V3 and Kimi-K2, and the options of Megatron-LM that say otherwise.
LATENT = {"q_lora_rank": (1536, "q-lora-rank"), "kv_lora_rank": (512, "kv-lora-rank"), "qk_nope_size": (128, "qk-head-dim"),
          "qk_rope_size": (64, "qk-pos-emb-head-dim"), "v_size": (128, "v-head-dim")}

# ---- Free words ------------------------------------------------------------------------------------------------------------

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
        "says half_gradients": "pure",  # reduced in 16 bits
        "says float8_gather": "with float8 all gather, f8 all gather",
        "says float8_attention": "fp8 attention, fp8 dpa",
        "pass": "bf16, bfloat16, fp32, float32, amp bf16, te, hybrid, delayed, current, scaling, e4m3, e5m2, linear, fsdp, "
                "mixed precision, default, tensorwise, rowwise, rowwise with gw hp, with bfloat16 all gather, mxfp8 cublas, "
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
NUMBERED = {"blocks", "shard_group", "deferred_wgrad"}  # a number may stand behind these
YES = "true yes on enabled 1".split()
NO = "false no none off disabled 0 na".split()

# Members of sets, in the order in which they are written; words of `recompute` that mean a part of a block are called like it.
SETS = {"recompute_modules": "core_attn layernorm mla_up_proj mlp moe_act shared_experts moe".split(),
        "offload_modules": "attn_norm qkv_linear core_attn attn_proj mlp_norm expert_fc1 moe_act fused_group_mlp".split(),
        "framework_mem": "te_dummy_wgrad gemm_workspace loss_copies".split()}

# ---- What is written -------------------------------------------------------------------------------------------------------

HEAD = ("id source publisher published release sys family model confidence measured_s measured_mem_gib memory_counting "
        "unpredicted assumed unmodelled procs inter_node_gbit").split()
# Fields of calc's applications and executions, in the order of its tables; a column is written if a row has a value.
FIELDS = """
    hidden feedforward seq_size attn_heads attn_size num_blocks ffn_type norm_type position_type bias dropout tied_embeddings
    causal window_size global_every kv_heads qk_norm q_lora_rank kv_lora_rank qk_nope_size qk_rope_size v_size vocab_size
    vocab_multiple num_experts experts_per_token expert_feedforward shared_feedforward dense_blocks mtp_blocks

    tensor_par pipeline_par data_par batch_size microbatch_size datatype fused_activation attention_type activation_recompute
    pipeline_interleaving optimizer_sharding tensor_par_comm_type tensor_par_overlap seq_par_ag_redo data_par_overlap training
    flash_attention attention_kernel rank_order context_par context_par_type expert_par expert_tensor_par dispatch_type
    expert_par_overlap delayed_wgrad pipeline_balance first_stage_blocks last_stage_blocks deferred_head_wgrad
    pipeline_par_overlap zero_stage fsdp_par param_gather_overlap param_gather_datatype optimizer_shards memory_model
    matrix_datatype attention_datatype weight_datatype activation_datatype grad_datatype grad_reduce_datatype optimizer scaling
    offload_modules recompute_modules recompute_blocks fused_cross_entropy eager unfused_experts fused_experts cuda_graph
    launch_blocking framework_mem stages""".split()
QUALIFIED = {"seq_size": "app.seq_size"}  # both documents have it
# Options of Megatron-LM that change a run, but nothing in calc: runs that differ in them are not the same.
UNMODELLED = ("moe-grouped-gemm moe-router-load-balancing-type no-create-attention-mask-in-dataloader deterministic-mode "
              "transformer-impl").split()
MOST_PLACES, MOST_RUNS = 128, 48  # of a list of stages: stages times chunks, and runs of equal ones
GRAPHED_ATTENTION, GRAPHED_ROUTER = 0.7, 0.2  # shares of a block's kernels that graphs of its parts launch


class Unpredicted(Exception):
    """Why a run cannot be predicted."""


class BadTable(Exception):
    """What is wrong with a table, and where."""


# ---- Numbers and texts -----------------------------------------------------------------------------------------------------


def whole(number):
    return int(number + 0.5)


def known(number, blank):
    return blank if math.isnan(number) else number


def size_of(number):
    """A parallel size: blank and 0 are 1."""
    return whole(min(number, 1e6)) if number > 1 else 1


def leading_whole(text):
    match = re.match(r"\s*[+-]?\d+", text)
    return int(match[0]) if match else 0


def leading_number(text):
    match = re.match(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    return float(match[0]) if match else 0.0


def number_text(number):
    """The shortest text of 15 to 17 digits that reads back."""
    if number == int(number) and abs(number) < 2**53:
        return str(int(number))
    return next(text for digits in (15, 16, 17) if float(text := f"{number:.{digits}g}") == number)


def contains(text, part):
    """Letters large or small."""
    return part.lower() in text.lower()


def first_contained(table, *texts):
    """The value of the first key that one of the texts contains, letters large or small."""
    return next((value for key, value in table.items() if any(contains(text, key) for text in texts)), None)


# ---- Free words ------------------------------------------------------------------------------------------------------------

PHRASES = {column: [(phrase.replace(" ", ""), *key.partition(" ")[::2]) for key, phrases in table.items()
                    for phrase in phrases.split(", ")] for column, table in WORDS.items()}
NOT_ASCII = r"\x80-\U0010ffff"  # letters of other scripts are letters
WORD = re.compile(rf"[0-9]+(?![A-Za-z{NOT_ASCII}])|[0-9A-Za-z{NOT_ASCII}]+")
COUNTS = re.compile(rf"[0-9A-Za-z=;{NOT_ASCII}]")


class Cell:
    """A cell of free words: what is said, what is denied, and numbers behind words."""

    def __init__(self, column, text):
        self.said, self.denied, self.number, self.unknown = set(), set(), {}, []
        self.text, self.at, self.denies, self.clause = text, 0, False, set()
        self.places = [match.start() for match in COUNTS.finditer(text)]  # of what counts in phrases
        self.squeezed = "".join(text[place].lower() if text[place].isascii() else text[place] for place in self.places)
        while self.at < len(text):
            word = WORD.match(text, self.at)
            if not word:
                if text[self.at] in ";()":
                    self.denies, self.clause = False, set()
                self.at += 1
                continue
            end, role, meanings = max((self.end_of(phrase, self.at), role, meanings)
                                      for phrase, role, meanings in PHRASES[column])
            self.at = end or word.end()
            if end:
                getattr(self, role + "_")(meanings.split())
            elif not re.fullmatch("[0-9]+", word[0]):  # numbers alone belong to the word before them
                self.unknown.append(word[0])

    def end_of(self, phrase, at):
        """Where a phrase ends that begins at a place, or behind what does not count; 0: it does not, or not with a word."""
        first = bisect.bisect_left(self.places, at)
        if not self.squeezed.startswith(phrase, first):
            return 0
        end = self.places[first + len(phrase) - 1] + 1
        return 0 if WORD.match(self.text, end) else end

    def behind(self, pattern):
        """Moves behind what begins here. @return its groups, or None if it does not"""
        match = re.compile(pattern).match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def value(self):
        """The effect of "=value" or ": value" on the phrase before it: True, False, or None for none.
        Other values are words of their own, and the phrase says nothing."""
        match = re.compile(" *[=:] *").match(self.text, self.at)
        if not match:
            return not self.denies
        for value in YES + NO:
            if end := self.end_of(value, match.end()):
                self.at = end
                return value in YES
        return False if self.text[match.end():match.end() + 1] in ("", ";") else None

    def says(self, meanings, yes):
        for meaning in meanings if yes is not None else ():
            (self.said if yes else self.denied).add(meaning)
            (self.clause.add if yes else self.clause.discard)(meaning)

    def says_(self, meanings):
        number = self.behind(r"[ =]*(\d+)") if NUMBERED & set(meanings) else None
        self.number.update({meaning: int(number[1]) for meaning in meanings} if number else {})
        self.says(meanings, True if number else self.value())

    def rest_(self, meanings):
        self.behind("[ =]*")
        self.number.update({meaning: self.text[self.at:] for meaning in meanings})
        self.says(meanings, True)
        self.behind("[^;]*")

    def before_(self, _):
        self.denies = True

    def behind_(self, _):
        self.said -= self.clause
        self.denied |= self.clause

    def key_(self, _):
        self.behind(r"[ =]*(\d+)")

    def pass_(self, _):
        pass


read_cell = functools.lru_cache(None)(Cell)


class Words:
    """The statements in the cells of a row."""

    def __init__(self, row):
        cells = {column: read_cell(column, getattr(row, column)) for column in WORDS}
        self.said = set().union(*(cell.said for cell in cells.values()))
        self.denied = set().union(*(cell.denied for cell in cells.values()))
        self.number = {meaning: number for cell in cells.values() for meaning, number in cell.number.items()}
        self.unknown = [(column, word) for column, cell in cells.items() for word in cell.unknown]

    def say(self, meaning):
        """What is both stated and denied counts as denied."""
        return meaning in self.said and meaning not in self.denied


# ---- A run -----------------------------------------------------------------------------------------------------------------


def source_of(row):
    """Name of the group, traits of its software, and why its rows are not predicted."""
    models = MIXTURES_ONLY if row.num_experts > 1 else DENSE_ONLY
    for start, part, only, name, does, *reason in SOURCES:
        if row.id.startswith(start) and part in row.id and only in (BOTH, models):
            return name, does, "".join(reason)
    # A source that is not known runs its kind of software as it is set up today.
    if contains(row.hardware, "ascend") or "910" in row.hardware:
        return OTHER, traits("no_message_overlap"), ""
    return OTHER, PYTORCH_TODAY if contains(row.zero_stage_fsdp, "fsdp") else DATA_OVERLAP, ""


def machine_of(row, source):
    for name, only, system, family in MACHINES:
        if contains(row.hardware, name) and only in ("", source):
            return system, family
    return "", ""


def network_of(row):
    """Bandwidth of a processor to other nodes, as printed [bytes/s]: "8x HDR IB 200 Gbps per node", "4 x 100 Gb/s", "400 Gb/s
    per GPU"; 0: no rate is."""
    text = row.inter_node_net
    rate = re.match(r".*?([0-9.]*)\s*Gb/s", text, re.S) or re.match(r".*?([0-9.]*)\s*Gbps", text, re.S)
    gbit = leading_number(rate[1]) if rate else 0
    sharing = 1 if "per GPU" in text else known(row.gpus_per_node, 0)
    links = (leading_number(number) for number in re.findall(r"([0-9.]*)\s*x(?![0-9A-Za-z])", text))
    return next((n for n in links if n > 0), 1) * gbit / sharing * 1e9 / 8 if gbit > 0 and sharing > 0 else 0


class Run:
    """A row, and what is made of it: `fields` of calc, what is `assumed`, the time of a step."""

    def __init__(self, row):
        self.row = row
        self.source, self.traits, self.reason = source_of(row)
        self.system, self.family = machine_of(row, self.source)
        self.words = Words(row)
        self.fields = SimpleNamespace(**dict.fromkeys(FIELDS, 0))  # 0, False and "": as if absent
        self.assumed, self.procs, self.search, self.step_s = [], 0, False, math.nan

    def assume(self, text):
        if text not in self.assumed:
            self.assumed.append(text)

    def does(self, trait, applies=True):
        """Whether the software does something; if so and `applies`, that is an assumption."""
        if trait in self.traits and applies:
            self.assume(TRAITS[trait])
        assert trait in TRAITS
        return trait in self.traits

    def says_or_does(self, word, trait, applies=True):
        """What the words say; where they say nothing, what the software does."""
        said = word in self.words.said or word in self.words.denied
        return self.words.say(word) if said else self.does(trait, applies)

    def argument(self, name):
        """What follows an option of the command line, to its end; None: it is not given."""
        match = re.search(rf"(?:^| )--{re.escape(name)}(?: (.*)|\Z)", self.row.arguments, re.S)
        return (match[1] or "") if match else None

    def given(self, name):
        return self.argument(name) is not None

    def number(self, name, blank=0):
        return leading_whole(self.argument(name)) if self.given(name) else blank

    def argument_starts(self, name, start):
        return (self.argument(name) or "").startswith(start)


# ---- The model: its columns, or known properties of its family where a column is blank --------------------------------------


def is_gated(run):
    """Three matrices with a gate, or two."""
    row = run.row
    if "grok" in row.id:
        return True  # 314 billion parameters only fit a gated layer
    if run.source == "ascend_msllm":
        return "bloom" not in row.id and "gpt3" not in row.id
    if contains(row.model, "nemotron"):
        return False
    gpt = contains(row.model_notes, "gelu") or contains(row.model_notes, "relu") or contains(row.model, "gpt")
    return contains(row.model_notes, "swiglu") or not gpt


def is_latent(run):
    row = run.row
    if run.source == "ascend_msllm" and "deepseek" not in row.id:
        return False
    return row.mla == 1 or any(contains(row.model, name) for name in ("deepseek-v", "deepseekv", "kimi"))


def fill_sizes_of_model(run):
    row, f = run.row, run.fields
    if math.isnan(row.ffn):
        run.assume("feed-forward width not printed: 4 times the hidden width")
    f.hidden, f.seq_size, f.num_blocks = whole(row.hidden), whole(row.seq), whole(row.layers)
    f.feedforward = whole(known(row.ffn, 4 * row.hidden))
    if row.vocab > 0:
        f.vocab_size = whole(row.vocab)
    else:
        run.assume("vocabulary not printed: that of the model's family")
        f.vocab_size = first_contained(VOCABULARIES, row.model, row.id)


def fill_attention(run):
    row, f = run.row, run.fields
    f.attn_heads = whole(row.heads)
    f.attn_size = whole(known(row.head_dim, row.hidden / row.heads))
    f.kv_heads = whole(known(row.kv_heads, row.heads))
    f.causal = True
    f.qk_norm = contains(row.model_notes, "qk-norm")
    if is_latent(run):
        vars(f).update({name: width for name, (width, _) in LATENT.items()})
    f.window_size, f.global_every = first_contained(WINDOWS, row.id) or (0, 0)


def fill_experts(run):
    row, f = run.row, run.fields
    if not row.num_experts > 1:  # a single expert is a dense block
        return
    dense, shared = next((dense, shared) for part, source, dense, shared in MIXTURES
                         if part in row.id and source in ("", run.source))
    f.num_experts = whole(row.num_experts)
    f.experts_per_token = whole(known(row.topk, 0))
    f.expert_feedforward = whole(row.moe_ffn) if row.moe_ffn > 0 else f.feedforward
    f.dense_blocks, f.shared_feedforward = dense, shared * f.expert_feedforward


def choice(yes):
    return "true" if yes else "false"


def fill_structure(run):
    notes, f = run.row.model_notes, run.fields
    gated = is_gated(run)
    f.ffn_type = "swiglu" if gated else "gelu"
    f.norm_type = "rms" if contains(notes, "rmsnorm") else "layer"
    f.position_type = "rope" if gated else "learned"
    f.bias = choice(contains(notes, "biases") or contains(notes, "bias=yes"))
    f.dropout = choice(run.does("dropout"))
    f.tied_embeddings = choice(contains(notes, "tied") and not contains(notes, "untied"))


# ---- What was measured -----------------------------------------------------------------------------------------------------


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


def flop_per_s(row):
    return row.measured_tflops_per_gpu * 1e12 * row.num_gpus


def measure_step(run):
    """The time of a step from the printed quantity: the time itself, tokens per second, or FLOP per second with the FLOP that
    the publication counts."""
    row = run.row
    if row.measured_iteration_s > 0:
        run.step_s = row.measured_iteration_s
    elif row.measured_tokens_per_s_per_gpu > 0:
        run.step_s = row.global_batch * row.seq / (row.measured_tokens_per_s_per_gpu * row.num_gpus)
    elif row.measured_tflops_per_gpu > 0 and run.source in CONVENTIONS:
        flop, assumption = CONVENTIONS[run.source]
        run.step_s = flop(row) / flop_per_s(row)
        run.assume(assumption)


def score_share(f):
    """Mean share of a sequence that a token attends to."""
    seq, window = f.seq_size, f.window_size
    everything = (seq + 1) / (2 * seq)
    if window <= 0 or window >= seq:
        return everything
    part = window / seq * (1 - window / (2 * seq))
    share = f.num_blocks // f.global_every / f.num_blocks if f.global_every > 0 else 0
    return share * everything + (1 - share) * part


def step_flop(f, square):
    """FLOP of a step in matrices and in attention, in its whole square or in the part that tokens see."""
    latent = f.kv_lora_rank > 0
    qk_size = f.qk_nope_size + f.qk_rope_size if latent else f.attn_size
    v_size = f.v_size or f.attn_size
    query, output = f.attn_heads * qk_size, f.attn_heads * v_size
    if latent:
        attention = f.hidden * (f.q_lora_rank + f.kv_lora_rank + f.qk_rope_size) + (f.q_lora_rank or f.hidden) * query \
            + f.kv_lora_rank * f.attn_heads * (f.qk_nope_size + v_size) + output * f.hidden
    else:
        attention = f.hidden * (query + (f.kv_heads or f.attn_heads) * (qk_size + v_size)) + output * f.hidden
    matrices = 3 if f.ffn_type == "swiglu" else 2
    moe = f.num_blocks - f.dense_blocks if f.num_experts > 0 else 0
    experts = matrices * f.hidden * (f.shared_feedforward + f.expert_feedforward * f.experts_per_token) \
        + f.hidden * f.num_experts
    padding = (f.vocab_multiple or 128) * f.tensor_par
    vocab = math.ceil(f.vocab_size / padding) * padding
    used = f.num_blocks * attention + (f.num_blocks - moe) * matrices * f.hidden * f.feedforward + moe * experts \
        + f.hidden * vocab
    share = 1 if square else score_share(f)
    mixing = float(f.num_blocks) * 2 * f.attn_heads * f.seq_size * f.seq_size * (qk_size + v_size) * share
    return f.batch_size * (2.0 * f.seq_size * used + mixing) * 3


def measure_rate(run):
    """The time of a step from a rate of FLOP, as `tflops_counting` says FLOP are counted: "model" counts matrices and the whole
    square of attention ("causal": half of it); "recompute" and "hardware" also count recomputation."""
    row, counting = run.row, run.row.tflops_counting
    again = contains(counting, "recompute") or contains(counting, "hardware")
    if not again and not contains(counting, "model"):
        if math.isnan(row.measured_memory_gib):
            raise Unpredicted("FLOP/s are printed, but not how they are counted")
        return
    causal = contains(counting, "causal")
    full = run.fields.activation_recompute == "full"
    run.step_s = step_flop(run.fields, not causal) * (4.0 / 3 if again and full else 1) / flop_per_s(row)
    run.assume("FLOP of matrices and of half of the square of attention" if causal
               else "FLOP of matrices and of the square of attention")


# ---- The layout ------------------------------------------------------------------------------------------------------------


def fill_sizes(run):
    row, f = run.row, run.fields
    run.procs = whole(row.num_gpus)
    f.tensor_par, f.pipeline_par, f.context_par = size_of(row.tp), size_of(row.pp), size_of(row.cp)
    model = f.tensor_par * f.pipeline_par * f.context_par
    if run.procs % model != 0:
        raise Unpredicted("the parallel sizes do not divide the number of GPUs")
    f.data_par = run.procs // model
    if row.dp > 0 and whole(row.dp) != f.data_par:
        run.assume("data parallelism from the number of GPUs, not as printed")
    f.expert_par = size_of(row.ep)
    if run.does("spread_experts"):
        f.expert_par = min(run.procs, f.num_experts)
    split = math.isnan(row.etp) and run.does("split_experts")
    f.expert_tensor_par = f.tensor_par if split else size_of(row.etp)
    f.rank_order = "tp-cp-ep-dp-pp"


def fill_batch(run):
    row, f = run.row, run.fields
    f.microbatch_size = size_of(row.micro_batch)
    if not row.micro_batch > 0:
        if run.does("microbatch_per_stage"):
            f.microbatch_size = size_of(row.global_batch / (f.data_par * f.pipeline_par))
        else:
            run.search = run.does("microbatch_search")
            if not run.search and not run.does("microbatch_1"):
                raise Unpredicted("micro-batch not published")
    together, batch = f.data_par * f.microbatch_size, whole(row.global_batch)
    if batch < together:
        raise Unpredicted("global batch smaller than data parallelism times micro-batch")
    f.batch_size = -(-batch // together) * together
    if f.batch_size != batch:
        run.assume("batch rounded up to whole micro-batches, measured time with it")
        run.step_s *= f.batch_size / batch


def fill_formats(run):
    f, said = run.fields, run.words.said
    f.datatype = "float16" if "float16" in said else "bfloat16"
    f.matrix_datatype = "float4" if "float4" in said else "float8" if "float8" in said else ""
    narrowed = f.matrix_datatype != ""
    if run.does("wide_inputs", narrowed) and narrowed:
        f.activation_datatype = "bfloat16"
    f.attention_datatype = "float8" if run.words.say("float8_attention") else ""
    block = "block_scales" in said or "MX" in run.row.id
    f.scaling = "block" if block else ""
    # Weights scaled by block are gathered in 16 bits: a transposed copy has scales of its own.
    scaled = f.matrix_datatype == "float8" and not block
    narrow = run.says_or_does("float8_gather", "float8_gather") if scaled else "float8_gather" in said
    f.param_gather_datatype = "float8" if narrow else ""


def fill_recompute(run):
    f, said = run.fields, run.words.said
    f.activation_recompute = "none"
    if run.does("no_recompute"):
        return
    if run.row.recompute == "":
        run.assume("recomputation not printed: none")
    if "full" in said:
        f.activation_recompute = "full"
        blocks = run.words.number.get("blocks", 0)  # of a stage: "full block 70"
        f.recompute_blocks = 0 if blocks * f.pipeline_par >= f.num_blocks else blocks
        return
    f.recompute_modules = said & set(SETS["recompute_modules"])
    f.activation_recompute = "modules" if f.recompute_modules else "none"
    alone = "selective" in said and not f.recompute_modules
    pytorch = alone and run.does("portable_attention")
    if "by_operator" in said or pytorch:
        f.activation_recompute = "selective_op"
    elif alone:
        f.activation_recompute, f.recompute_modules = "modules", {"core_attn"}
        run.assume("selective recomputation, of what is not said: of attention")
    if "offload" in said:
        run.assume("offload of activations not modelled")


def fill_listed_stages(run):
    """Stages of unequal length: the last as listed, the first as near to the list as the others, which are alike, allow."""
    f = run.fields
    listed = re.match(r"(\d+,?)*", run.words.number.get("stage_list", ""))[0]  # "5,6,6"
    blocks = [int(number) for number in re.findall(r"\d+", listed)]
    if len(blocks) != f.pipeline_par or len(blocks) < 2 or f.pipeline_balance:
        return
    between, middle = f.num_blocks - blocks[0] - blocks[-1], len(blocks) - 2
    f.first_stage_blocks = blocks[0] + (between % middle if middle > 0 and between > 0 else 0)
    f.last_stage_blocks = blocks[-1]
    if middle > 0:
        run.assume("stages between the first and the last alike, not as listed")


def fill_pipeline(run):
    row, f = run.row, run.fields
    several, interleaved = f.pipeline_par > 1, "Interleaved" in row.id
    chunks = max(1, leading_whole(row.vpp))
    eight = run.does("chunks_8", several)
    two = run.does("chunks_2", several and interleaved) and interleaved
    f.pipeline_interleaving = 1 if not several else 8 if eight else 2 if two else chunks
    parts = f.pipeline_par * chunks
    even = f.num_blocks % parts == 0
    ends = not even and (f.num_blocks + 2) % parts == 0
    if several and run.does("cost_balanced"):
        f.pipeline_balance = "free"
    elif several and (run.does("balanced_ends") or ends):
        f.pipeline_balance = "ends"
        run.assume(TRAITS["balanced_ends"])
    elif several and not even:
        f.pipeline_balance = "free"
        run.assume("blocks per stage not printed: as equal as can be")
    fill_listed_stages(run)
    if several and run.words.say("deferred_wgrad"):
        f.deferred_head_wgrad = run.words.number.get("deferred_wgrad", 0) or -1
    # Interleaving that is only assumed does not vouch for the overlap that goes with it.
    f.pipeline_par_overlap = several and chunks > 1 and not run.does("no_message_overlap")


def fill_tensor_par(run):
    f = run.fields
    several = f.tensor_par > 1
    scatter = several and run.row.sequence_parallel == 1
    f.tensor_par_comm_type = "rs_ag" if scatter else "p2p_rs_ag"
    f.tensor_par_overlap = "none"
    f.seq_par_ag_redo = scatter and f.activation_recompute not in ("full", "selective_op")
    if not several:
        return
    if "AsyncTP" in run.row.id or run.says_or_does("tensor_overlap", "fused_tensor_overlap"):
        f.tensor_par_overlap = "fused"
    elif not run.does("no_tensor_overlap"):
        f.tensor_par_overlap = "async"
        run.assume("tensor-parallel communication asynchronous in backward")


def sharding(run):
    """Weights sharded (3), gradients and optimizer sharded (2), or neither (0)."""
    if run.fields.pipeline_par > 1:
        # PyTorch's stages reduce gradients with the last micro-batch only, and weights stay gathered until then: a distributed
        # optimizer.
        return 0
    if run.row.id.startswith("mbridge") and "fsdp" in run.row.id:
        return 3
    return 2 if run.words.say("sharded_gradients") else 3 if run.words.say("sharded_weights") else 0


def shard_group(run):
    """Ranks that share one copy of the state; 0: all."""
    group = run.words.number.get("shard_group", 0)
    return group or int("shard_node" in run.words.said and known(run.row.gpus_per_node, 0))


def fill_data_par(run):
    f, ranks = run.fields, run.fields.data_par * run.fields.context_par
    stage, replicas = sharding(run), ranks > 1
    distributed = stage > 0 or any(map(run.words.say, ("sharded_optimizer", "sharded_gradients", "sharded_weights")))
    f.zero_stage = (stage or int(distributed)) if replicas else 0
    f.fsdp_par = group if f.zero_stage > 0 and (group := shard_group(run)) < ranks else 0
    f.optimizer_sharding = f.data_par > 1 and f.zero_stage > 0
    overlaps = run.says_or_does("gradient_overlap", "data_overlap", replicas)
    f.data_par_overlap = replicas and (overlaps or stage > 0)
    if f.zero_stage == 1 and run.does("whole_tensors"):
        f.optimizer_shards = "tensors"
    gather = run.says_or_does("gather_overlap", "data_overlap", replicas)
    f.param_gather_overlap = choice(gather or stage > 0)
    half = run.says_or_does("half_gradients", "half_gradients", replicas)
    half |= run.does("float16_gradients", replicas) and f.datatype == "float16"
    # Gradients are added up in the format they are sent in: Megatron Core allocates their buffer in it, and so does apex's
    # distributed optimizer.
    f.grad_reduce_datatype = f.grad_datatype = f.datatype if half else "float32"
    if f.zero_stage >= 3 and run.does("float32_shards"):
        f.weight_datatype = "float32"


def graphed(words):
    """Share of a block that CUDA graphs launch."""
    if words.say("full_graph") or words.say("graphs"):
        return 1
    return 0 if "engine_graphs" not in words.said else GRAPHED_ATTENTION if "attention_graph" in words.said \
        else GRAPHED_ROUTER


def fill_kernels(run):
    row, f = run.row, run.fields
    f.training = f.fused_activation = True
    f.memory_model = "megatron"
    f.attention_type = "multi_latent" if f.kv_lora_rank > 0 else "grouped_query" if f.kv_heads < f.attn_heads else "multihead"
    unfused = run.does("unfused_attention")
    f.flash_attention = not unfused and row.flash_attention != 0
    if not unfused and math.isnan(row.flash_attention):
        run.assume("attention kernel not printed: flash attention")
    portable = run.does("portable_attention")
    f.attention_kernel = "generic" if portable else ""
    f.eager = run.does("eager") or (not run.words.say("compiled") and run.does("eager_unless_compiled"))
    f.fused_cross_entropy = not (run.does("unfused_loss") or f.eager)
    many = row.num_gpus > 20 * known(row.gpus_per_node, math.inf)
    f.launch_blocking = run.does("launch_blocking", many) and many
    f.cuda_graph = graphed(run.words)
    f.unfused_experts = contains(row.id, "gpt-oss")
    f.framework_mem = set()
    if run.does("engine_buffers", not math.isnan(row.measured_memory_gib)):
        f.framework_mem |= {"te_dummy_wgrad", "gemm_workspace"}
    if portable and not f.fused_cross_entropy:  # portable kernels and PyTorch's own loss go together
        f.framework_mem.add("loss_copies")


def fill_exchanges(run):
    f, words = run.fields, run.words
    f.context_par_type = "ulysses" if run.says_or_does("ulysses", "ulysses", f.context_par > 1) else ""
    printed = words.say("node_limited")
    assumed = run.row.overlap == "" and run.does("node_limited_dispatch")
    f.dispatch_type = "node_limited" if printed or assumed else ""
    f.fused_experts, f.delayed_wgrad = words.say("fused_experts"), words.say("delayed_wgrad")
    f.expert_par_overlap = "batch" if words.say("expert_overlap") else ""


# ---- Options of Megatron-LM: names and defaults of megatron/training/arguments.py -------------------------------------------


def fill_model_by_options(run):
    f = run.fields
    # Dropout is 0.1 where an option does not say otherwise.
    f.dropout = choice(any(leading_number(run.argument(name) or "") if run.given(name) else True
                           for name in ("hidden-dropout", "attention-dropout")))
    f.tied_embeddings = choice("untied=False" in run.row.model_notes)
    f.qk_norm = run.given("qk-layernorm")
    f.vocab_multiple = run.number("make-vocab-size-divisible-by")
    f.mtp_blocks = run.number("mtp-num-layers")
    if f.kv_lora_rank > 0:
        vars(f).update({name: run.number(option, getattr(f, name)) for name, (_, option) in LATENT.items()})
    if f.num_experts > 0:
        dense = re.match(r"\(\[0\]\*(\d+)", run.argument("moe-layer-freq") or "")  # "([0]*3+[1]*12)": dense, then experts
        f.dense_blocks = int(dense[1]) if dense else 0
        f.shared_feedforward = run.number("moe-shared-expert-intermediate-size")


def fill_pipeline_by_options(run):
    f = run.fields
    if f.pipeline_par > 1 and run.given("decoder-first-pipeline-num-layers"):
        f.first_stage_blocks = run.number("decoder-first-pipeline-num-layers")
        f.last_stage_blocks = run.number("decoder-last-pipeline-num-layers")
        f.pipeline_balance = ""
    if run.given("defer-embedding-wgrad-compute"):
        limit = run.number("wgrad-deferral-limit")
        f.deferred_head_wgrad = limit if limit > 0 else -1


def fill_kernels_by_options(run):
    f = run.fields
    fused = run.given("cross-entropy-loss-fusion")
    f.fused_cross_entropy = fused and run.argument_starts("cross-entropy-fusion-impl", "te")
    f.framework_mem.add("gemm_workspace")
    if fused and not f.fused_cross_entropy:
        f.framework_mem.add("loss_copies")
        run.assume("native fusion of the loss: TorchScript that makes copies")
    if f.num_experts == 0:
        f.expert_tensor_par = 1  # given, but of no effect
    muon = run.argument_starts("optimizer", "muon") or run.argument_starts("optimizer", "dist_muon")
    f.optimizer = "muon" if muon else ""
    # The optimizer's state is split among the ranks of one instance of several.
    instances = run.number("num-distributed-optimizer-instances", 1)
    if instances > 1 and f.zero_stage > 0:
        f.fsdp_par = f.data_par * f.context_par // instances


def fill_offload(run):
    """"--offload-modules [core_attn attn_proj]"."""
    if run.given("fine-grained-activation-offloading"):
        value = re.split("(?:^| )--", run.argument("offload-modules") or "")[0]
        run.fields.offload_modules = modules = set(re.findall(r"[^ \[\]]+", value))
        if not modules or not modules <= set(SETS["offload_modules"]):
            raise Unpredicted("offload of a part of a block that is not modelled")


def letters_of(text):
    """Letters and bars of a layout with all multiples written out: "Et*3|(t*4|)*14t*2L" has a letter per embedding, block,
    multi-token prediction and loss, stages between bars (pipeline_parallel_layer_layout.py). "": it is none."""
    letters, at = "", 0
    while at < len(text):
        unit = re.compile(r"(?:\(([^()]*)\)|([Etm|L]))(?:\*(0*[1-9]\d{0,2}))?(?!\*)|,").match(text, at)
        if not unit or unit[1] and not letters_of(unit[1]):
            return ""
        letters += (unit[2] or letters_of(unit[1] or "")) * int(unit[3] or 1)
        at = unit.end()
    return letters


def blocks_of_stages(run, letters):
    """The blocks of each stage and chunk; None if they are not a list of blocks with embedding and loss at its ends."""
    f = run.fields
    middle = letters[1:-1]
    if len(letters) < 2 or letters[0] != "E" or letters[-1] != "L" or re.search("[EL]|m.*t", middle):
        return None
    blocks = [stage.count("t") for stage in middle.split("|")]
    apart = re.search(r"m.*\|", middle)  # predictions are on a stage before the loss
    right = (sum(blocks), middle.count("m")) == (f.num_blocks, f.mtp_blocks) and len(blocks) % f.pipeline_par == 0
    return blocks if right and not apart and 0 not in blocks[1:-1] and len(blocks) <= MOST_PLACES else None


def fill_letters(run):
    f = run.fields
    text = re.match("[^ ]*", run.argument("pipeline-model-parallel-layout") or "")[0].replace("\\", "")  # as the shell leaves it
    if not text:
        return
    blocks = blocks_of_stages(run, letters_of(text))
    runs = [f"{len(list(places))}x{count}" for count, places in itertools.groupby(blocks or [])]
    if not blocks or len(runs) > MOST_RUNS:
        raise Unpredicted("pipeline layout by letters, with parts of the ends as stages")
    f.stages = ",".join(runs)
    f.pipeline_interleaving = len(blocks) // f.pipeline_par
    f.pipeline_balance, f.first_stage_blocks, f.last_stage_blocks = "", 0, 0
    f.pipeline_par_overlap = f.pipeline_interleaving > 1


def apply_options(run):
    if run.row.arguments == "":
        return
    fill_model_by_options(run)
    fill_pipeline_by_options(run)
    fill_kernels_by_options(run)
    if run.given("hybrid-override-pattern") or run.given("hybrid-layer-pattern"):
        raise Unpredicted("hybrid Mamba model")
    if run.argument_starts("optimizer", "muon") and run.given("no-use-layer-wise-param-layout"):
        raise Unpredicted("optimizer by layers without their layout: one rank has the embedding's state")
    fill_offload(run)
    fill_letters(run)


# ---- The whole run ---------------------------------------------------------------------------------------------------------


def check_complete(run):
    row = run.row
    lacks = [
        (run.reason, run.reason),
        (not run.system, "no description of this machine"),
        (not (row.layers > 0 and row.hidden > 0 and row.heads > 0 and row.seq > 0),
         "model shape not published, or a hybrid model"),
        ("nemotron-3" in row.id or "nemotron3_super" in row.id, "hybrid Mamba model"),
        (not row.num_gpus > 0, "number of GPUs not published"),
        (not row.global_batch > 0, "global batch not published"),
    ]
    for lacking, reason in lacks:
        if lacking:
            raise Unpredicted(reason)


def fill(run):
    check_complete(run)
    for part in (fill_sizes_of_model, fill_attention, fill_experts, fill_structure, measure_step):
        part(run)
    only_rate = math.isnan(run.step_s) and run.row.measured_tflops_per_gpu > 0
    if math.isnan(run.step_s) and math.isnan(run.row.measured_memory_gib) and not only_rate:
        raise Unpredicted("no measured time or memory")
    for part in (fill_sizes, fill_batch, fill_formats, fill_recompute, fill_pipeline, fill_tensor_par, fill_data_par,
                 fill_kernels, fill_exchanges, apply_options):
        part(run)
    if only_rate:
        measure_rate(run)


def run_of(row):
    run = Run(row)
    try:
        fill(run)
    except Unpredicted as reason:
        run.reason = str(reason)
    return run


# ---- Tables ----------------------------------------------------------------------------------------------------------------


def number_of(text, column, least, is_whole, where):
    if text.strip(" ") == "":
        return math.nan
    number = leading_number(text) if re.fullmatch(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *", text) else math.nan
    if not least <= number <= MOST or is_whole and number != math.floor(number):
        kind = "a whole number" if is_whole else "a number"
        raise BadTable(f'{where}: {column}: expected {kind} from {least:g} to 1e9, found "{text[:40]}": '
                       "leave it blank if it is not known")
    return number


def row_of(cell, where):
    numbers = [(WHOLE, True), (NUMBERS, False)]
    row = {name: cell[name] for name in TEXTS} | {name: cell.get(name, "") for name in OPTIONAL}
    row |= {name: number_of(cell[name], name, least, is_whole, where) for kind, is_whole in numbers
            for least, names in kind.items() for name in names}
    return SimpleNamespace(**row, where=where)


def read_table(name, text):
    """The rows of a table; a row has `where` it starts."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, titles = [], None
    try:
        for line in itertools.count(1):
            start = reader.line_num + 1
            cells = next(reader)
            if not titles:
                titles = cells
                names = TEXTS + sum([*WHOLE.values(), *NUMBERS.values()], [])
                if missing := [column for column in names if column not in titles]:
                    raise BadTable(f"{name}:{start}: columns are missing: {', '.join(missing)}")
            elif cells:
                if len(cells) != len(titles):
                    raise BadTable(f"{name}:{start}: {len(cells)} cells, where the first row has {len(titles)}")
                rows.append(row_of(dict(zip(titles, cells)), f"{name}:{start}"))
    except StopIteration:
        pass
    except csv.Error as error:
        raise BadTable(f"{name}:{reader.line_num}: {error}") from None
    if not rows:
        raise BadTable(f"{name}: it has no rows")
    return rows


def read_text(name):
    try:
        data = sys.stdin.buffer.read() if name == "-" else open(name, "rb").read()
        return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadTable(f"{name}: it is not UTF-8") from None
    except (OSError, EOFError) as error:
        raise BadTable(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def memory_counting(text):
    """What a peak of memory counts, and that it is that of the last rank, not of the fullest."""
    allocated = "max_memory_allocated" in text or "mem-max-allocated" in text
    kind = "reserved" if "max_reserved" in text else "allocated" if allocated else ""
    return "+".join(filter(None, [kind, "last_rank" if "last-rank" in text else ""]))


def unmodelled(run):
    values = {name: run.argument(name) for name in UNMODELLED if run.given(name)}
    return " ".join(f"--{name}" if not value or value.startswith("--") else f"--{name} {value.split(' ')[0]}"
                    for name, value in values.items())


def cell_of(value):
    return "" if not value else "true" if value is True else value if isinstance(value, str) else number_text(value)


def head_cells(run):
    row, predicted = run.row, run.reason == ""
    publisher = "" if run.source == OTHER else run.source.split("_")[0]
    measured = [("" if math.isnan(number) else number_text(number)) for number in (run.step_s, row.measured_memory_gib)]
    return dict(zip(HEAD, [
        row.id, row.source if run.source == OTHER else run.source, "nvidia" if publisher in NVIDIA else publisher,
        next((month for part, month in DATES.items() if part in row.source), ""), row.source.split("(")[0].rstrip(" "),
        run.system, run.family, row.model, CONFIDENCES.get((run.source, row.confidence), row.confidence), *measured, memory_counting(row.memory_counting), run.reason,
        " | ".join(run.assumed if predicted else []), unmodelled(run), cell_of(run.procs if predicted else 0),
        cell_of(network_of(row) / 1e9 * 8 if predicted else 0)]))


def field_cells(run):
    if run.reason:
        return {}
    fields = vars(run.fields)
    assert fields.keys() == set(FIELDS), fields.keys() - set(FIELDS)
    for name, members in SETS.items():
        fields[name] = "+".join(member for member in members if member in (fields[name] or ()))
    found = {"microbatch_size", "pipeline_interleaving"} if run.search else set()
    return {name: "" if name in found else cell_of(fields[name]) for name in FIELDS}


def write_table(runs, out):
    cells = [field_cells(run) for run in runs]
    fields = [name for name in FIELDS if any(row.get(name) for row in cells)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD + [QUALIFIED.get(name, name) for name in fields])
    for run, row in zip(runs, cells):
        writer.writerow([*head_cells(run).values(), *(row.get(name, "") for name in fields)])


EXAMPLE = """example:
  scripts/make_runs.py tests/measured/published/runs.csv -o tests/measured/runs.csv
  calc validate tests/measured/runs.csv

Words in the columns dtype, zero_stage_fsdp, recompute and overlap that no table knows are named and count as not said.
exit status: 0; 2: the table cannot be read, and one line on standard error says why"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", metavar="TABLE", help='published table, CSV or .gz; "-": standard input')
    parser.add_argument("-o", metavar="OUT.csv", dest="out", help="write here; .gz: compressed (default: standard output)")
    options = parser.parse_args()
    try:
        runs = [run_of(row) for row in read_table(options.table, read_text(options.table))]
    except BadTable as error:
        print(f"make_runs.py: {error}", file=sys.stderr)
        return 2
    for run in runs:
        for column, word in run.words.unknown[:1]:
            print(f'make_runs.py: {run.row.where}: {column}: "{word}" is not known, and not read', file=sys.stderr)
    text = io.StringIO(newline="")
    write_table(runs, text)
    data = text.getvalue().encode()
    if not options.out:
        sys.stdout.buffer.write(data)
        return 0
    with open(options.out, "wb") as out:
        out.write(gzip.compress(data, mtime=0) if options.out.endswith(".gz") else data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
