#!/usr/bin/env python3
"""Turn a published table of serving runs, in the words of its sources, into the form that your own runs have
(docs/validation-serving.md), which calc validate reads. Only here a publisher, a model or a machine means something
by its name.

  scripts/make_serving_runs.py tests/measured/published/serving_runs.csv.gz -o my_runs.csv"""
import argparse
import csv
import gzip
import io
import math
import pathlib
import re
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ROOT / "tests/measured"
PUBLISHED = MEASURED / "published/serving_runs.csv.gz"

# ---- Names ------------------------------------------------------------------------------------------------

# Models, without the publisher, "Meta-" and endings that are no other shape; the number formats of checkpoints
# that are not in 16 bits. MXFP4 has experts alone in 4 bits, multiplied in 16 (int4 here), and on machines with
# arithmetic in 4 bits in 8, as engines choose there.
BLOCK, MXFP4 = "fp8 (block)", "int4"
MODELS = {
    "llama-7b": "llama-7B", "llama-70b": "llama2-70B", "llama-2-7b": "llama2-7B", "llama-2-13b": "llama2-13B",
    "llama-2-70b": "llama2-70B", "llama-3-8b": "llama3-8B", "llama-3-70b": "llama3-70B", "llama-3.1-8b": "llama3-8B",
    "llama-3.1-70b": "llama3-70B", "llama-3.1-405b": "llama3-405B", "mistral-7b": "mistral-7B",
    "mixtral-8x7b": "mixtral-8x7B", "qwen3-8b": "qwen3-8B", "qwen3-14b": "qwen3-14B", "qwen3-32b": "qwen3-32B",
    "qwen3-30b-a3b": "qwen3-30B-A3B", "qwen3-235b-a22b": "qwen3-235B-A22B", "gpt-oss-20b": "gpt-oss-20B",
    "gpt-oss-120b": "gpt-oss-120B", "deepseek-r1": "deepseek-v3-671B", "minimax-m2.5": "minimax-m2-230B",
    "falcon-180b": "falcon-180B", "gpt-j-6b": "gptj-6B", "decilm-7b": "decilm-7B", "bloom-176b": "bloom-176B",
    "bloom-7b1": "bloom-7.1B", "opt-6.7b": "opt-6.7B"}
# Models that calc described, and tables that came, after its engines were fitted: their runs are judged by the fit, and
# not fitted.
LATER_SOURCES = ("SGLang", "TensorRT-LLM perf-overview", "TensorRT-LLM DeepSeek-R1", "azcluster", "kvcached", "tenstorrent", "BLIS")
LATER = {"qwen3.5-397b-a17b": "qwen3.5-397B-A17B", "qwen3.5-35b-a3b": "qwen3.5-35B-A3B", "deepseek-v3.2": "deepseek-v3.2-671B",
         "glm-4.5-air": "glm-4.5-air-106B-A12B", "glm-4.6": "glm-4.6-355B-A32B", "qwen3-14b-awq": "qwen3-14B",
         "qwen3-32b-awq": "qwen3-32B"}
ENDINGS = ("-fp8", "-instruct", "-hf", "-v0.1", "-2507", "-0528")
CHECKPOINTS = {"gpt-oss-20b": MXFP4, "gpt-oss-120b": MXFP4, "deepseek-r1": BLOCK, "minimax-m2.5": BLOCK}
LATENT = ("deepseek-v3-671B",)

# Machines by how their names start: the first that fits, with what is assumed.
MACHINES = (
    ("A100-SXM (40GB or 80GB", "a100_sxm_40g",
     "40 GB: which A100 is not printed, and one sequence is decoded at the speed of its memory"),
    ("A100-SXM-80GB", "a100_sxm_80g", None), ("H100-SXM", "h100_sxm", None), ("H200-SXM", "h200", None),
    ("H800-SXM", "h800", None), ("GH200", "gh200", None), ("L40S", "l40s", None), ("B200-SXM", "b200", None),
    ("B300-SXM", "b300", None), ("GB200-NVL72", "gb200_nvl72", None), ("GB300-NVL72", "gb300_nvl72", None),
    ("MI250", "mi250", "GPUs are counted as dies, as programs see them"), ("MI300X", "mi300x", None),
    ("MI325X", "mi325x", None), ("MI355X", "mi355x", None), ("Ascend-910B", "ascend_910b", None))

# Who measured, where a source passes on another's runs.
HANDED_ON = ("InferenceX",)

# Engines from a version and, where that is not printed, a month on; the newest first.
ENGINES = (
    ("vllm", (0, 11, 0), 202510, "vllm-0.11"), ("vllm", (0, 8, 0), 202503, "vllm-0.8"),
    ("vllm", (0, 6, 0), 202409, "vllm-0.6"), ("vllm", (0, 5, 0), 202406, "vllm-0.5"),
    ("vllm", (0, 2, 0), 202309, "vllm-0.2"), ("vllm-rocm", (6, 0, 0), 202501, "vllm_rocm-0.6"),
    ("sglang", (0, 5, 0), 202508, "sglang-0.5"), ("sglang-rocm", (0, 5, 5), 202601, "sglang_rocm-0.5.5"),
    ("sglang-rocm", (0, 5, 0), 202509, "sglang_rocm-0.5"), ("tensorrt-llm", (1, 2, 0), 202601, "tensorrt_llm-1.2"),
    ("tensorrt-llm", (1, 1, 0), 202511, "tensorrt_llm-1.1"), ("tensorrt-llm", (1, 0, 0), 202506, "tensorrt_llm-1.0"),
    ("tensorrt-llm", (0, 7, 0), 202401, "tensorrt_llm-0.9"), ("tensorrt-llm", (0, 5, 0), 202310, "tensorrt_llm-0.5"),
    ("dynamo-trt", (0, 0, 0), 202510, "tensorrt_llm-1.2"), ("atom", (0, 1, 0), 202601, "atom-0.1"),
    ("gpt-fast", (0, 0, 0), 202311, "gpt-fast-2023"))
# Words that mean an engine; longer ones that contain others first. Dynamo and Mori run others'. " rocm " is the
# version of ROCm in AMD's builds of vLLM.
WORDS = (("sglang", "sglang"), ("dynamo-trt", "dynamo-trt"), (" rocm ", "vllm-rocm"), ("vllm", "vllm"),
         ("tensorrt-llm", "tensorrt-llm"), ("tensorrt_llm", "tensorrt-llm"), ("trtllm", "tensorrt-llm"),
         ("trt", "tensorrt-llm"), ("atom", "atom"), ("gpt-fast", "gpt-fast"))

# ---- Recipes ----------------------------------------------------------------------------------------------

# Options that a publisher gave the engine and does not print in its rows. Source (contained), program, machine
# (start), model (contained), weights (start), before that day; format of the cache, tokens of prompts in a step
# or None, prompts of which as many tokens instead, where that is from. The first that fits counts.
# InferenceX: benchmarks/dsr1_*, 70b_*, gptoss_*, minimaxm2.5_*; TensorRT-LLM had room for one prompt there and a
# token of each sequence, until the commit of 2026-01-21.
INFERENCEX = ("cache format and tokens per step from the recipes of InferenceX (benchmarks/, 2025-10 to 2026-01)")
GAP = ("one prompt per step, as aiconfigurator sets up its benchmarks (room for one and 1,500 tokens more), and its "
       "cache format")
EARLY = "cache in 8 bits beside weights in 8 bits: published batches do not fit with another"
RECIPES = (
    ("InferenceX (", "tensorrt_llm", "", "", "", "2026-01-21", "fp8", None, 1, INFERENCEX),
    ("InferenceX (", "tensorrt_llm", "", "", "", "", "fp8", 8192, 0, INFERENCEX),
    ("InferenceX", "tensorrt_llm", "", "", "", "", "fp8", 16384, 0, INFERENCEX),
    ("InferenceX", "vllm", "b", "MiniMax", "fp8", "2026-04-03", "", 8192, 0, INFERENCEX),
    ("InferenceX", "vllm", "b", "MiniMax", "", "", "fp8", None, 2, INFERENCEX),
    ("InferenceX", "vllm", "h100", "MiniMax", "", "", "", 8192, 0, INFERENCEX),
    ("InferenceX", "vllm", "h200", "MiniMax", "", "2026-05-26", "", 8192, 0, INFERENCEX),
    ("InferenceX", "vllm", "h200", "MiniMax", "", "", "fp8", 32768, 0, INFERENCEX),
    ("InferenceX", "vllm", "", "", "", "", "fp8", 8192, 0, INFERENCEX),
    ("InferenceX", "atom", "", "", "", "", "fp8", 16384, 0, INFERENCEX),
    ("InferenceX", "sglang", "b", "Qwen3.5", "bf16", "", "", 32768, 0, INFERENCEX),
    ("InferenceX", "sglang", "b300", "Qwen3.5", "fp8", "", "fp8", 16384, 0, INFERENCEX),
    ("InferenceX", "sglang", "b", "Qwen3.5", "", "", "fp8", 32768, 0, INFERENCEX),
    ("InferenceX", "sglang", "h", "Qwen3.5", "", "", "fp8", 16384, 0, INFERENCEX),
    ("InferenceX", "sglang", "h", "", "", "", "", 32768, 0, INFERENCEX),
    ("InferenceX", "sglang", "mi3", "", "", "", "", 196608, 0, INFERENCEX),
    ("InferenceX", "sglang", "", "", "fp4", "", "fp8", 16384, 0, INFERENCEX),
    ("InferenceX", "sglang", "", "", "", "", "fp8", 32768, 0, INFERENCEX),
    ("gap analysis", "tensorrt_llm", "", "", "fp8", "", "fp8", None, 1, GAP),
    ("gap analysis", "tensorrt_llm", "", "", "", "", "", None, 1, GAP),
    ("gap analysis", "vllm", "", "", "", "", "", None, 1, GAP),
    ("TensorRT-LLM", "tensorrt_llm", "", "", "fp8", "", "fp8", 8192, 0, EARLY))

# SGLang's --scheduler-recv-interval in InferenceX's recipes of one server (benchmarks/single_node/{dsr1,qwen3.5}_*.sh): model,
# machine and weights (beginnings, "": any), tensor-parallel ranks (0: any), steps for fewer than 16 requests and for more.
HOLDS = (
    ("Qwen3.5", "b200", "fp4", 0, 30, 30),
    ("Qwen3.5", "b300", "fp8", 0, 10, 10),
    ("DeepSeek", "b", "fp8", 4, 10, 10),
    ("", "b", "", 0, 10, 30))

# TensorRT-LLM's batch_wait_timeout_iters: model, machine and weights, since, most tensor-parallel ranks, fewest requests, steps.
WAITS = (
    ("Llama-3.1-70B", "", "fp", "2025-09-18", 4, 1, 20),
    ("DeepSeek-R1", "b200", "fp8", "2026-01-29", 8, 64, 40))

# What is assumed beside.
DRAFTS = "drafts as the recipes of InferenceX have them, of which 70 % are accepted each"
FORMAT = "number format not printed: the checkpoint's"
TWICE = "GPUs are tp: the published count and rate have them ep times"
SPREAD = "experts over all ranks, which the recipe asked for whatever ep was"
SQUARED = "GPUs and ranks of experts are tp, as the recipe has them"

# ---- The cleaned table ------------------------------------------------------------------------------------

SAME = ("pp", "disagg_prefill_gpus", "disagg_decode_gpus", "prefill_layout", "decode_layout", "osl",
        "concurrency_or_batch", "output_tokens_per_s_total", "ttft_ms", "ttft_mean_ms", "tpot_or_itl_ms",
        "tpot_mean_ms", "e2e_latency_ms", "confidence", "num_gpus", "tp", "ep", "dp", "dp_attention", "isl",
        "prefill_tokens", "max_sequences", "software", "id", "source")
MORE = ("num_prompts", "request_rate", "inference.prefix_hit")  # where the table has them
COLUMNS = (
    "id", "source", "publisher", "published", "confidence", "app", "sys", "software", "inference.engine", "weight_dtype",
    "matrix_datatype", "scaling", "kv_dtype", "num_gpus", "tp", "pp", "ep", "dp", "dp_attention", "disagg_prefill_gpus", "disagg_decode_gpus",
    "prefill_layout", "decode_layout", "inference.wide_attention", "drafts", "inference.speculative_accept",
    "max_sequences", "prefill_tokens", "inference.prefill_batch", "inference.hold_steps", "isl", "osl",
    "inference.prompt_spread", "inference.generate_spread", "metric_kind", "concurrency_or_batch",
    "output_tokens_per_s_total", "ttft_ms", "ttft_stat", "ttft_mean_ms", "tpot_or_itl_ms", "tpot_mean_ms",
    "e2e_latency_ms", "half", "assumed", "unpredicted")


def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def number(row, column):
    """Blank is NaN: no comparison with it holds."""
    try:
        return float(row[column]) if row[column].strip() else math.nan
    except ValueError:
        refuse(f"line {row['line']}: {column}: expected a number, found \"{row[column]}\"")


def size(value):
    """A parallel size: blank and 0 are 1."""
    return int(value + 0.5) if value > 1 else 1


# ---- Model, machine, engine -------------------------------------------------------------------------------


def plain(printed):
    """"meta-llama/Meta-Llama-3-8B" is llama-3-8b; and whether its weights have 8 bits."""
    name = printed.rsplit("/", 1)[-1].removeprefix("Meta-").lower().replace(" ", "-").replace("_", "-")
    float8 = False
    while ending := next((e for e in ENDINGS if name.endswith(e) and name != e), None):
        name = name.removesuffix(ending)
        float8 = float8 or ending == "-fp8"
    return name, float8


def model_of(row):
    """Its file, or the published name; the format of the checkpoint."""
    name, float8 = plain(row["model"])
    if float8 and name not in CHECKPOINTS:  # Qwen publishes theirs with a scale per block of 128 x 128
        return (MODELS | LATER).get(name, row["model"]), BLOCK if name.startswith("qwen") else "fp8"
    return (MODELS | LATER).get(name, row["model"]), CHECKPOINTS.get(name, "bf16")


def machine_of(row):
    return next(((system, assumed) for start, system, assumed in MACHINES if row["gpu"].startswith(start)),
                (row["gpu"], None))


def month_of(date):
    """The first month in a text; a year alone is its middle; 0: neither."""
    found = re.match(r"(20\d\d)(?:-(\d+))?", date)
    month = int(found[2] or 7) if found else 0
    return 100 * int(found[1]) + month if 1 <= month <= 12 else 0


def version_behind(software, word):
    """The version a.b.c behind one of the places of a word. The version of an image of Dynamo is Dynamo's own, also
    where it is printed as the engine's."""
    image = software.partition("-runtime:")[2]
    for at in re.finditer(re.escape(word), software):
        found = re.match(r"[ :-]?v?((\d{1,2})\.(\d{1,3})(?:\.(\d{1,3}))?[^ );]*)", software[at.end():])
        if found and not image.startswith(found[1]):
            return int(found[2]), int(found[3]), int(found[4] or 0)
    return None


def engine_of(row, system):
    """Its name in calc, and why there is none."""
    software, month = row["software"].lower(), month_of(row["date"])
    word, engine = next(((word, engine) for word, engine in WORDS if word in software), (None, None))
    if not word:
        return None, "the serving engine is not described, or not named"
    if engine == "sglang" and system.startswith("mi"):  # AMD's builds have kernels of their own
        engine = "sglang-rocm"
    version = version_behind(software, word) or version_behind(software, "/release")
    for name, first, since, found in ENGINES:
        if name == engine and (version >= first if version else month >= since):
            return found, None
    return None, "this version of the engine is not described" if version or month else \
        "neither version nor date of the engine"


# ---- Parts of a row ---------------------------------------------------------------------------------------


def kind_of(row):
    """How requests come, in calc's words; why that is not known."""
    kind = row["metric_kind"]
    if kind.startswith(("static batch", "single stream")):
        return "static batch", None
    if kind.startswith("all requests"):
        return "all requests at once", None
    if not kind or kind.startswith("fixed concurrency"):
        return "", None
    return "", "how requests come is not understood" if number(row, "isl") >= 1 else \
        "as many requests as can be served: lengths of prompts and layouts are not in the log"


def weights_of(row, checkpoint):
    words = row["weight_dtype"]
    if not words or words.startswith("checkpoint") or checkpoint == MXFP4:
        return checkpoint
    if words.startswith("fp8"):
        return BLOCK if checkpoint == BLOCK or "block" in words else "fp8"
    for start, word in (("fp4", "fp4"), ("int8", "int8"), ("float16", "fp16"), ("fp16", "fp16"), ("bf16", "bf16"),
                        ("bfloat16", "bf16")):
        if words.startswith(start):
            return word
    if "int4" in words:
        return "int4"
    refuse(f"line {row['line']}: weight_dtype: \"{words}\" is not understood")


def recipe_of(row, program, system):
    """Format of the cache, tokens of prompts in a step, where that is from; None: none is known."""
    for source, of, machine, model, weights, before, cache, tokens, prompts, assumed in RECIPES:
        if source in row["source"] and of == program and system.startswith(machine) and model in row["model"] and \
                row["weight_dtype"].startswith(weights) and (not before or row["date"] < before):
            return cache, tokens or prompts * int(number(row, "isl")), assumed
    return "", None, None


def hold_of(row, program, system):
    """InferenceX: SGLang's --scheduler-recv-interval on one server; TensorRT-LLM's attention_dp_config.timeout_iters, or
    batch_wait_timeout_iters, for 1,024 tokens and as many generated (70b_*_trt_*.sh, dsr1_fp8_b200_trt.sh)."""
    own = row["source"].startswith("InferenceX ")
    if own and program == "tensorrt_llm" and row["dp_attention"] == "True":
        return "60"
    if "InferenceX" not in row["source"] or row["disagg_decode_gpus"] and not own:
        return ""
    if program == "tensorrt_llm" and row["dp_attention"] != "True" and number(row, "isl") == number(row, "osl") == 1024:
        for model, machine, weights, since, most, least, steps in WAITS:
            if model in row["model"] and system.startswith(machine) and row["weight_dtype"].startswith(weights) and \
                    row["date"] >= since and number(row, "tp") <= most and number(row, "concurrency_or_batch") >= least:
                return str(steps)
    if program != "sglang":
        return ""
    for model, machine, weights, tensor, few, many in HOLDS:
        if model in row["model"] and system.startswith(machine) and row["weight_dtype"].startswith(weights) and \
                (not tensor or number(row, "tp") == tensor):
            return str(many if number(row, "concurrency_or_batch") >= 16 else few)
    return ""


def drafts_of(row, program):
    """InferenceX on one node (dsr1_*_mtp.sh): TensorRT-LLM's num_nextn_predict_layers, SGLang's
    --speculative-num-steps."""
    if row["drafts"]:
        return row["drafts"]
    if not row["source"].startswith("InferenceX ") or row["spec_decode"] != "mtp" or row["disagg_decode_gpus"]:
        return ""
    if program == "tensorrt_llm":
        return "1" if row["dp_attention"] == "True" else "3"
    return "2" if program == "sglang" else ""


def slots_of(each):
    """NVIDIA's pools have 1, 2, 4, ... sequences or half as many more for as many requests, or a few more."""
    slots = 2 ** int(math.log2(each)) if each >= 1 else 1
    return slots * 3 // 2 if slots > 1 and 1.5 * slots <= each else slots


def pool_replicas(row):
    """Of a pool that decodes: copies times the ranks that split its requests."""
    words = dict(pair.split("=", 1) for pair in row["decode_layout"].split() if "=" in pair)
    tensor = size(float(words.get("tp", 1)))
    expert = size(float(words.get("moe_ep", words.get("ep", 1))))
    gpus = size(number(row, "disagg_decode_gpus"))
    world = gpus // size(float(words.get("workers", 1)))
    alone = words.get("dp_attention") == "True" and world in (tensor, expert)
    return gpus if alone else gpus // tensor


def layout_of(row, out):
    """The sizes of one pool as GPUs have them, in `out`; what was assumed, and why they cannot be."""
    inferencex = row["source"].startswith("InferenceX ")
    gpus, tensor, stages = size(number(row, "num_gpus")), size(number(row, "tp")), size(number(row, "pp"))
    expert, requests = size(number(row, "ep")), size(number(row, "dp"))
    alone, assumed, changed = row["dp_attention"] == "True", [], False
    if not (number(row, "num_gpus") > 0 and number(row, "tp") > 0):
        return [], None
    if inferencex and expert > 1:  # its sizes are of the whole model: attention for itself is within tp
        if gpus == tensor * stages * expert:
            gpus = tensor * stages
            assumed.append(TWICE)
            if number(row, "output_tokens_per_s_total") > 0:
                out["output_tokens_per_s_total"] = repr(number(row, "output_tokens_per_s_total") / expert)
        tensor = tensor // requests if alone and tensor % requests == 0 else tensor
        changed = True
    # A copy of InferenceX's rows prints tp squared ranks of experts on as many GPUs where its recipes
    # (benchmarks/minimaxm2.5_*) have tp GPUs, and experts over all of them. Those recipes give every GPU attention
    # for itself in 4 bits only, where many requests run.
    if row["source"].startswith("aiconfigurator silicon_sample: InferenceX") and tensor > 1 and \
            requests == tensor and gpus == expert == tensor * requests:
        many = number(row, "concurrency_or_batch") >= 256
        alone = row["weight_dtype"].startswith("fp4") and many and \
            (row["gpu"].startswith("B300") or number(row, "isl") <= 1024)
        gpus = expert = tensor
        requests, tensor = (gpus, 1) if alone else (1, tensor)
        assumed.append(SQUARED)
        changed = True
    # Of MiniMax-M2.5 they asked for --enable-expert-parallel where EP_SIZE was 1, too, from 11 (B200) or 13 (H200) March
    # to 3 April 2026; the first runs on H200, of 1 March, did not.
    if "InferenceX" in row["source"] and "MiniMax" in row["model"] and row["software"].startswith("vllm") and \
            "2026-03-11" <= row["date"] < "2026-04-03" and expert == 1 < tensor:
        expert = tensor
        assumed.append(SPREAD)
        changed = True
    if changed:
        out.update(num_gpus=gpus, tp=tensor, ep=expert, dp=requests, dp_attention=str(alone))
    world = gpus if alone else tensor * stages
    whole = tensor * stages * requests == gpus and world % (stages * expert) == 0
    if whole and tensor > 16:  # no engine splits a layer over more
        return assumed, "pools of a disaggregated run, published as one that splits its layers over all"
    return assumed, None


def half_of(row):
    """Which half of the layouts and workloads it is in: by chance, and all loads of one together."""
    sizes = "|".join(f"{number(row, c):g}" for c in ("isl", "osl", "tp", "ep", "num_gpus"))
    text = f"{row['source'][:80]}|{row['gpu'][:40]}|{row['model'][:80]}|{row['weight_dtype'][:20]}|{sizes}|" \
           f"{row['dp_attention'][:40]}|{row['prefill_layout'][:60]}|{row['decode_layout'][:60]}"
    return zlib.crc32(text.encode()[:511]) % 2


# ---- A row ------------------------------------------------------------------------------------------------


def serve(row, out, system, model, checkpoint):
    """Engine, options, layout and formats. @return what is assumed, why the row cannot be predicted"""
    engine, reason = engine_of(row, system)
    if reason:
        return [], reason
    program = re.match("sglang|vllm|tensorrt_llm|atom|", engine)[0]
    pools = number(row, "disagg_decode_gpus") > 0
    loop = out["metric_kind"] != "static batch" and not pools
    cache, tokens, assumed = recipe_of(row, program, system)
    told = not row["kv_dtype"] or row["kv_dtype"].startswith("auto")
    out["inference.engine"] = engine
    out["kv_dtype"] = cache if told else "fp8" if "fp8" in row["kv_dtype"] else ""
    if loop:
        out["inference.hold_steps"] = hold_of(row, program, system)
        out["prefill_tokens"] = tokens or ""
    texts = [assumed] if assumed and (loop or (told and cache)) else []
    if row["spec_decode"]:
        out["drafts"] = drafts_of(row, program)
        if not out["drafts"]:
            return texts, "speculative decoding: how many drafts there are is not published"
        out["inference.speculative_accept"] = "0.7"
        texts.append(DRAFTS)
    if not (pools or row["decode_layout"] or row["prefill_layout"]):
        more, reason = layout_of(row, out)
        texts += more
        if reason:
            return texts, reason
    elif pools and not row["max_sequences"] and program == "tensorrt_llm" and row["source"].startswith("InferenceX "):
        out["max_sequences"] = slots_of(int(number(row, "concurrency_or_batch") + 0.5) / pool_replicas(row))
    if not row["weight_dtype"]:
        texts.append(FORMAT)
    if checkpoint == MXFP4 and system.startswith(("b2", "b3", "gb", "mi355")):
        out["matrix_datatype"], out["scaling"] = "float8", "block"
    # AMD's checkpoint of DeepSeek-R1 in 4 bits keeps all of attention in 16.
    if out["weight_dtype"] == "fp4" and model in LATENT and system.startswith("mi"):
        out["inference.wide_attention"] = "all"
    # Lengths are drawn around a mean; the recipes count prompts of the stated length.
    mean = 0.9 if "mean 0.9" in row["length_note"] else 1
    around = re.match(r"random within (\d+) %", row["length_note"])
    if around and out["metric_kind"] != "static batch":
        out["inference.prompt_spread"] = out["inference.generate_spread"] = repr(int(around[1]) / 100)
    if mean < 1:
        out["isl"], out["osl"] = (repr(number(row, c) * mean) for c in ("isl", "osl"))
        if out["metric_kind"] != "static batch":
            out["inference.prompt_spread"] = out["inference.generate_spread"] = repr(1 / mean - 1)
        if loop and program == "sglang" and tokens:
            out["inference.prefill_batch"] = max(1, int(tokens / number(row, "isl")))
    later = plain(row["model"])[0] in LATER or row["source"].startswith(LATER_SOURCES)
    out["half"] = 1 if later else half_of(row)
    return texts, None


def cleaned(row):
    model, checkpoint = model_of(row)
    system, assumed = machine_of(row)
    kind, reason = kind_of(row)
    out = {name: row[name] for name in SAME}
    out.update(app=model, sys=system, weight_dtype=weights_of(row, checkpoint), metric_kind=kind, published=row["date"].partition(" (")[0].replace("..", "/"),
               publisher=next((name for name in HANDED_ON if name in row["source"]), ""),
               ttft_stat=next((word for word in ("median", "mean") if row["ttft_stat"].startswith(word)), ""))
    texts = [assumed] if assumed else []
    load = kind == "all requests at once" or number(row, "concurrency_or_batch") >= 1 or \
        number({"request_rate": "", **row}, "request_rate") > 0
    if not reason and load and number(row, "isl") >= 1 and number(row, "osl") >= 1:
        more, reason = serve(row, out, system, model, checkpoint)
        texts += more
    return out | {"assumed": " | ".join(texts), "unpredicted": reason or ""}


# ---- Files ------------------------------------------------------------------------------------------------


def opened(path):
    if path == "-":
        return sys.stdin.buffer.read()
    data = pathlib.Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def table(path):
    try:
        reader = csv.DictReader(io.StringIO(opened(path).decode()), restval="")
        rows = list(reader)
    except (UnicodeDecodeError, EOFError, csv.Error, gzip.BadGzipFile) as error:
        refuse(f"{path}: {error}")
    missing = {*SAME, "model", "gpu", "weight_dtype", "kv_dtype", "length_note", "metric_kind", "spec_decode", "drafts",
               "date", "ttft_stat"} - set(reader.fieldnames or ())
    if missing:
        refuse(f"{path}: column \"{min(missing)}\" is missing")
    more = [name for name in MORE if name in reader.fieldnames]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *more], restval="", lineterminator="\n")
    writer.writeheader()
    for line, row in enumerate(rows, 2):
        writer.writerow(cleaned(row | {"line": line}) | {name: row[name] for name in more})
    return text.getvalue().encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=str(PUBLISHED), metavar="TABLE",
                        help="in the words of its sources; .gz, or \"-\" for standard input (default: the shipped one)")
    parser.add_argument("-o", metavar="OUT", help="file to write, .gz too; else standard output")
    parser.add_argument("--check", metavar="FILE", help="fail if FILE has other rows; write nothing")
    words = parser.parse_args()
    made = table(words.table)
    if words.check:
        before, after = opened(words.check).splitlines(), made.splitlines()
        wrong = next((i for i, (a, b) in enumerate(zip(before, after), 1) if a != b), min(len(before), len(after)) + 1)
        if before != after:
            refuse(f"{words.check}:{wrong}: not what scripts/make_serving_runs.py makes of the published table")
    elif words.o:
        pathlib.Path(words.o).write_bytes(gzip.compress(made, 9, mtime=0) if words.o.endswith(".gz") else made)
    else:
        sys.stdout.buffer.write(made)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        refuse(f"{error.filename}: {error.strerror}")
