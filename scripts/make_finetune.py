#!/usr/bin/env python3
"""Predict the published fine-tuning runs of tests/measured/finetune.csv and print them beside what was measured, as the tables
of docs/post-training.md. A row becomes one command `calc run MODEL MACHINE --set ...`, from what its columns say and from what
its program does unless it is told otherwise (FRAMEWORKS, RECIPES). Where something is not said and cannot be assumed, the row
is listed with the reason.

  scripts/make_finetune.py [--calc build/dev/bin/calc] [--commands | --docs | --check] [--set FIELD=VALUE]...

--docs writes the summary into docs/post-training.md, --check compares it."""
import argparse
import collections
import contextlib
import csv
import io
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GIB = 2.0 ** 30

# Machines; those without a fit or a fitted family are counted apart. Of "80G" the memory alone is known: time is not compared.
MACHINES = {"A100": "a100_sxm_80g", "A800": "a800", "H100": "h100_sxm", "H200": "h200", "B200": "b200", "H20": "h20",
            "GB200": "gb200_nvl72", "GB300": "gb300_nvl72", "RTX 4090": "rtx_4090", "L40S": "l40s",
            "A100/A800-80G": "a100_sxm_80g", "80G": "a100_sxm_80g", "": "a100_sxm_80g"}
NAMELESS = ("80G", "", "A100/A800-80G")
UNFITTED = ("rtx_4090", "l40s")
# Models with experts say how many of their parameters a token uses.
EXPERTS = re.compile(r"-A\d+B")

BFLOAT16 = {"weight_datatype": "bfloat16", "grad_datatype": "bfloat16", "grad_reduce_datatype": "bfloat16",
            "master_datatype": "bfloat16", "optimizer_moment_datatype": "bfloat16"}
# PEFT's adapters: in float32 beside a base of 16 bits.
FLOAT32 = {"weight_datatype": "float32", "grad_datatype": "float32", "master_datatype": "float32"}

# What is the same in all rows unless a row or its program says otherwise.
COMMON = {"training": "true", "datatype": "bfloat16", "tensor_par": 1, "pipeline_par": 1, "context_par": 1, "expert_par": 1,
          "pipeline_interleaving": 1, "rank_order": "tp-cp-ep-dp-pp", "activation_recompute": "none",
          "optimizer_sharding": "false",
          "tensor_par_comm_type": "ar", "seq_par_ag_redo": "false", "weight_offload": "false", "activations_offload": "false",
          "optimizer_offload": "false", "fused_activation": "true", "cuda_graph": 0, "tensor_par_overlap": "none",
          "data_par_overlap": "auto", "memory_model": "megatron"}

# Program: its software document, what it counts as memory, settings of full training and of adapters beside COMMON.
FRAMEWORKS = {
    "torchtune": ("torchtitan-eager", "allocated", BFLOAT16, BFLOAT16),
    "NeMo Automodel": ("fsdp2", "allocated", dict(BFLOAT16, attention_kernel="vendor", unfused_norm="false"),
                       dict(BFLOAT16, attention_kernel="vendor", unfused_norm="false")),
    "Megatron-Bridge": ("megatron-bridge", "reserved", {"optimizer_sharding": "true"},
                        {"optimizer_sharding": "true", "lora_fused": "true"}),
    "ms-swift": ("deepspeed", "reserved", {"data_par_overlap": "false"}, dict(FLOAT32, data_par_overlap="false")),
    "ms-swift, Megatron": ("megatron-lm", "reserved", {"optimizer_sharding": "true"},
                           {"optimizer_sharding": "true", "lora_fused": "true", "lora_experts": "each"}),
    "prime-rl trainer (FSDP2)": ("torchtitan", "reserved", {"zero_stage": 3},
                                 {"zero_stage": 3, "frozen_datatype": "float32", "lora_experts": "each"}),
    "PEFT": ("fsdp2", "reserved", BFLOAT16, FLOAT32),
}

TORCHTUNE = "q_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"
# Norms, rotary embedding and gated activation are a kernel each, as in compiled blocks.
LIGER = {"eager": "false"}
# What recipes say that tables do not print: program, model, method (beginnings) -> fields. torchtune, recipes/configs:
# 8B_lora_single_device, 3B_lora_single_device, 70B_lora, 405B_qlora; Megatron-Bridge, llama3_70b_peft_*: linear_qkv alone;
# Automodel, examples/llm_benchmark, *_peft_benchmark*: *_proj; blocks are compiled and recomputed on two tensor-parallel ranks, and
# Llama's have asynchronous tensor parallelism; one processor runs Liger's kernels (_transformers/auto_model.py) and Triton's adapters.
RECIPES = (
    ("torchtune", "Llama-3.1-8B", "LoRA", {"lora_rank": 8, "lora_modules": TORCHTUNE}),
    ("torchtune", "Llama-3.1-8B", "QLoRA", {"lora_rank": 8, "lora_modules": TORCHTUNE}),
    ("torchtune", "Llama-3.2-3B", "LoRA", {"lora_rank": 64, "lora_modules": TORCHTUNE}),
    ("torchtune", "Llama-3.2-3B", "QLoRA", {"lora_rank": 64, "lora_modules": TORCHTUNE}),
    ("torchtune", "Llama-3.1-", "LoRA", {"lora_rank": 16, "lora_modules": TORCHTUNE}),
    ("torchtune", "Llama-3.1-", "QLoRA", {"lora_rank": 16, "lora_modules": TORCHTUNE}),
    ("Megatron-Bridge", "", "LoRA", {"lora_rank": 16, "lora_modules": "q_proj,k_proj,v_proj"}),
    ("NeMo Automodel", "Llama3-70B", "LoRA", {"lora_rank": 16, "activation_recompute": "full", "software": "torchtitan",
                                              "tensor_par_comm_type": "rs_ag", "tensor_par_overlap": "ring"}),
    ("NeMo Automodel", "Qwen2.5-32B", "LoRA", {"lora_rank": 16, "activation_recompute": "full", "software": "torchtitan"}),
    ("NeMo Automodel", "Llama3-8B", "LoRA", {"lora_rank": 16, "lora_dropout": "true", **LIGER}),
    ("NeMo Automodel", "Qwen2.5-7B", "LoRA", {"lora_rank": 16, **LIGER}),
)
# Loss of torchtune: 8 parts. Those of others that run head and loss together: parts of so many tokens.
TORCHTUNE_CHUNKS, CHUNK_TOKENS = 8, 2048
# Padded batches of PEFT's comparison: the longest of 4 sequences of questions over their mean.
PADDING = 1.5


class Unsaid(Exception):
    """Why a row, or its time, cannot be predicted."""


def model_of(name):
    name = re.sub(r" \(.*|-Instruct|-Base|-2507", "", name).lower()
    name = re.sub(r"^llama-?3(\.1)?-", "llama3-", re.sub(r"^llama-3\.2", "llama3.2", name))
    for path in (ROOT / "models").glob("*.json"):
        if path.stem.lower() == name:
            return path.stem
    raise Unsaid("models/ does not have it")


def number_after(word, text):
    found = re.search(rf"\b{word}(\d+)\b", text)
    return int(found[1]) if found else 1


def sharding_of(layout):
    """ZeRO stage and ranks: FSDP and FSDP2 mean all ranks, FSDP8 means 8."""
    found = re.search(r"ZeRO-?(\d)", layout)
    if found:
        return int(found[1])
    return 3 if "FSDP" in layout else 0


def adapters(row, fields):
    """The method: what is trained, and in which format the rest is kept."""
    method = row["method"]
    kind = re.sub(r"^RL ", "", method)
    if "DPO" in method:
        raise Unsaid("a second model runs forward beside the one that is trained")
    if row["framework"] == "PEFT":
        found = re.fullmatch(r"lora-rank(\d+)(-target-mlp|-dora)?", method)
        if found:
            targets = re.search(r"targets \[(.*?)\]", row["options"])[1].replace("'", "").replace(" ", "")
            return fields.update(trained="adapters", lora_rank=found[1], lora_modules=targets,
                                 dora=str("dora" in method).lower())
        if not method.startswith("full"):
            raise Unsaid(f"not said: {method}")
        return None
    if "LoRA" not in kind:
        return None
    fields["trained"] = "adapters"
    if "QLoRA" in kind:
        fields["frozen_datatype"] = "nf4_double"
    rank = re.search(r"\br(\d+)\b", kind)
    if rank:
        fields["lora_rank"] = rank[1]
        return None
    for program, model, name, said in RECIPES:
        if program == row["framework"] and row["model"].startswith(model) and kind.startswith(name):
            return fields.update(said)
    raise Unsaid("its rank is not printed")


def torchtune(row, fields, notes):
    options = row["options"]
    steps = ["packed", "compile", "chunked CE", "activation checkpointing", "optimizer in backward", "activation offload",
             "8-bit AdamW"]
    on = set()
    if "each on top" in options:
        if options.startswith("none"):
            raise Unsaid("sequences are not packed, and their lengths are not printed")
        words = [i for i, step in enumerate(steps) if options.startswith("+" + step)]
        on = set(steps[:words[0] + 1]) if words else set(steps[:4]) | {steps[5]}
    else:
        on = set(steps[:4])
    full_alone = row["method"] == "full" and row["chips"] == "1"
    if "optimizer in backward" in on or (full_alone and "recipe" in options):
        notes.append("memory: gradients that the optimizer takes during the backward pass cannot be said")
    if "8-bit AdamW" in on or (full_alone and "recipe" in options):
        fields["optimizer_moment_datatype"] = "float8"
    if "compile" in on:
        fields["software"] = "torchtitan"
    if "chunked CE" in on:
        fields["loss_chunks"] = TORCHTUNE_CHUNKS
    if "activation checkpointing" in on:
        fields["activation_recompute"] = "full"
    fields["activations_offload"] = str("activation offload" in on).lower()
    if "CPU offload" in row["method"]:
        fields.update(optimizer_offload="true", weight_offload="true", grad_offload="true")


def swift(row, fields, notes):
    options = row["options"]
    if "packing" not in options:
        notes.append("time and memory: sequences are not packed, and their lengths are not printed")
    core = fields["software"] == "megatron-lm"
    if "selective recompute" in options:
        fields.update(activation_recompute="modules", recompute_modules="core_attn")
    elif "full recompute" in options or (not core and "no checkpointing" not in options):
        fields["activation_recompute"] = "full"
    if not core and EXPERTS.search(row["model"]):  # Transformers before 5
        fields["looped_experts"] = "true"
    if "fused CE" in options:
        fields["fused_cross_entropy"] = "true"
    if "Liger" in options:
        fields.update(loss_chunks=chunks(row), unfused_norm="false", **LIGER)
    if "optimizer on the host" in options:
        fields["optimizer_offload"] = "true"
    if "bf16 moments" in options:
        fields["optimizer_moment_datatype"] = "bfloat16"
    if "FP8" in row["method"]:
        fields.update(matrix_datatype="float8", scaling="block")
    if "last" in row["layout"]:
        fields["last_stage_blocks"] = number_after("last ", row["layout"])


def prime(row, fields, notes):
    """benchmarks/scripts and src/prime_rl/trainer as of January 2026. Supervised: the loop holds the output of the model, float32
    logits. RL: head, log-probabilities and entropy run for 2,048 columns of the vocabulary at a time, by kernels of their own. Results of experts are weighed in float32. Adapters: four runs share a trainer, each with
    adapters of its own, of which a sequence uses one; every matrix with adapters breaks the compiled graph. Experts with adapters
    run one after the other but on Hopper."""
    del notes
    fields["attention_kernel"] = "vendor" if "FA3" in row["options"] else "generic"
    if "offload" in row["options"].split(",")[0]:
        fields["activations_offload"] = "true"
    fields["activation_recompute"] = "full"
    fields["fused_cross_entropy"] = "false"
    if row["method"].startswith("RL"):
        fields.update(loss_chunks=round(151936 / 2048), framework_mem="logprobs+wide_scores")
    else:
        fields["framework_mem"] = "loss_copies+logits_held+wide_scores"
    if "LoRA" in row["method"]:
        fields["eager"] = "true"
        if row["chip"] not in ("H100", "H200") and EXPERTS.search(row["model"]):
            fields["looped_experts"] = "true"


def bridge(row, fields, notes):
    del notes
    fields.update(matrix_datatype="float8", scaling="block" if row["options"] == "MXFP8" else "tensor")


def automodel(row, fields, notes):
    del notes
    if "checkpointing" in row["options"] or "linear-cut" in row["options"] or re.search(r"\bAC\b", row["method"]):
        fields["activation_recompute"] = "full"
    if "linear-cut" in row["options"]:
        fields["loss_chunks"] = chunks(row)
    if "DeepEP" in row["options"]:
        fields["dispatch_type"] = "node_limited"


def peft(row, fields, notes):
    notes.append("time: padded batches, the longest of 4 sequences taken as %g of the mean" % PADDING)
    del fields, row


READERS = {"torchtune": torchtune, "ms-swift": swift, "prime-rl trainer (FSDP2)": prime, "Megatron-Bridge": bridge,
           "NeMo Automodel": automodel, "PEFT": peft}


def chunks(row):
    return max(1, int(row["seq_len"].strip("<=")) * int(row["micro_batch"]) // CHUNK_TOKENS)


def fields_of(row):
    """Settings of a row, how its memory is counted, and what of it cannot be compared."""
    notes = []
    if row["chip"] not in MACHINES:
        raise Unsaid("systems/ does not have its chip")
    if row["framework"] not in READERS:
        raise Unsaid("how its program trains is not known here")
    layout, chips = row["layout"], int(row["chips"])
    if not row["micro_batch"]:
        raise Unsaid("its micro-batch is not printed")
    key = row["framework"]
    if key == "ms-swift" and not re.search(r"ZeRO|FSDP|^1$", layout):
        key = "ms-swift, Megatron"
    software, counting, full, adapted = FRAMEWORKS[key]
    fields = dict(COMMON, software=software)
    adapters(row, fields)
    fields.update(adapted if "trained" in fields else full)
    if key == "ms-swift" and not layout.startswith("ZeRO"):
        fields["software"] = "fsdp2"
    tensor, stages = number_after("TP", layout), number_after("PP", layout)
    context = number_after("CP", layout)
    fields.update(num_procs=chips, tensor_par=tensor, pipeline_par=stages, context_par=context,
                  data_par=chips // (tensor * stages * context), expert_par=number_after("EP", layout),
                  pipeline_interleaving=number_after("VP", layout))
    stage = sharding_of(layout)
    if stage and fields["data_par"] > 1:
        fields["zero_stage"] = stage
    if fields["data_par"] == 1:
        fields.pop("zero_stage", None)
        fields["optimizer_sharding"] = "false"
    if " SP" in layout or (key.endswith("Megatron") and tensor > 1) or (key == "Megatron-Bridge" and tensor > 1):
        fields.update(tensor_par_comm_type="rs_ag", seq_par_ag_redo="auto")
    if key in ("Megatron-Bridge", "ms-swift, Megatron"):
        for name in ("tensor_par_overlap", "data_par_overlap"):
            fields.pop(name)
    micro = int(row["micro_batch"])
    batch = int(row["global_batch"] or micro * fields["data_par"])
    fields.update(microbatch_size=micro, batch_size=batch, seq_size=int(row["seq_len"].strip("<=")))
    READERS[row["framework"]](row, fields, notes)
    return fields, counting, notes


def command_of(row, fields, calc):
    settings = [f"exe.{name}={value}" for name, value in fields.items()]
    return [calc, "run", model_of(row["model"]), MACHINES[row["chip"]],
            *(word for setting in settings for word in ("--set", setting))]


def run(command, more):
    extra = [word for setting in more for word in ("--set", setting)]
    said = {f"exe.{setting.split('=')[0].removeprefix('exe.')}" for setting in more}
    command = [word for i, word in enumerate(command) if not (
        word == "--set" and command[i + 1].split("=")[0] in said or command[i - 1] == "--set" and word.split("=")[0] in said)]
    done = subprocess.run(command + extra + ["--json", "-"], capture_output=True, text=True, check=False)
    if not done.stdout:
        raise Unsaid("calc: " + done.stderr.strip().splitlines()[0])
    return json.loads(done.stdout)


def measured_step(row, tokens):
    """Seconds of a step, and tokens per second and processor, as printed or from one another."""
    speed = float(row["tok_s_chip"] or "nan")
    whole = re.search(r"not per chip\) for \d+ chips: (\d+) tok/s", row["quality"])
    if whole:
        speed = float(whole[1]) / int(row["chips"])
    if row["step_s"] and row["quality"] != "step derived":
        return float(row["step_s"])
    return tokens / (speed * int(row["chips"]))


def predict(row, calc, more):
    fields, counting, notes = fields_of(row)
    mean_length = None
    found = re.search(r"(\d+) real tokens in (\d+) steps", row["quality"])
    if found:
        mean_length = int(found[1]) / int(found[2]) / int(row["global_batch"])
    command = command_of(row, fields, calc)
    answer = run(command, more)
    stats = answer["stats"]
    memory = stats["mem_allocated"]
    if counting == "reserved":
        memory += stats["mem_overhead"] - answer["system"]["mem_reserved_GiB"] * GIB
    step = stats["total_time"]
    if mean_length:
        padded = dict(fields, seq_size=round(mean_length * PADDING))
        step = run(command_of(row, padded, calc), more)["stats"]["total_time"]
    tokens = fields["batch_size"] * fields["seq_size"]
    measured = measured_step(row, tokens) if row["tok_s_chip"] or row["step_s"] or "tok/s" in row["quality"] else math.nan
    if row["chip"] in NAMELESS and not math.isnan(measured):
        notes.append("time: the chip is not named")
    memory_gib = float(row["mem_gib_per_chip"]) if row["mem_gib_per_chip"] else math.nan
    barred = " ".join(notes)
    return {"row": row, "command": command, "notes": notes, "answer": answer,
            "memory": (memory_gib, memory / GIB, "memory:" in barred or "memory" in barred.split(":")[0]),
            "step": (measured, step, "time: the" in barred or "time and" in barred),
            "unfitted": MACHINES[row["chip"]] in UNFITTED}


def error(pair):
    measured, predicted, barred = pair
    return None if barred or math.isnan(measured) else predicted / measured - 1


def kind_of(row):
    method = row["method"].lower()
    return ("QLoRA" if "qlora" in method else "DoRA" if "dora" in method else
            "LoRA" if "lora" in method else "full")


def mean(errors):
    errors = [e for e in errors if e is not None]
    if not errors:
        return "|  |  |  |"
    absolute = sum(map(abs, errors)) / len(errors)
    return f"| {len(errors)} | {100 * sum(errors) / len(errors):+.0f} | {100 * absolute:.0f} |"


def number(value, digits):
    return "" if math.isnan(value) else f"{value:.{digits}f}" if value < 1000 else f"{value:.0f}"


def percent(value):
    return "" if value is None else f"{100 * value:+.0f}"


def print_summary(done):
    print("| rows | memory: runs | bias | mean | time: runs | bias | mean |\n|---|--:|--:|--:|--:|--:|--:|")
    groups = collections.OrderedDict()
    fitted = [d for d in done if not d["unfitted"]]
    groups["**fitted machines and families**"] = fitted
    for d in fitted:
        groups.setdefault(d["row"]["framework"], []).append(d)
    for kind in ("full", "LoRA", "QLoRA"):
        groups[kind] = [d for d in fitted if kind_of(d["row"]) == kind]
    groups["other machines"] = [d for d in done if d["unfitted"]]
    for name, rows in groups.items():
        print(f"| {name} {mean([error(d['memory']) for d in rows])[:-1]}{mean([error(d['step']) for d in rows])}")


def print_rows(done):
    print("| model | chips | program, method, layout | S, micro, global; options | GiB | calc | error % | s | calc | error % |")
    print("|---|---|---|---|--:|--:|--:|--:|--:|--:|")
    for d in done:
        row, (mem, mem_calc, _), (step, step_calc, _) = d["row"], d["memory"], d["step"]
        options = re.sub(r" \(each on top.*\)|;? ?RL uses a chunked.*|; trainable.*", "", row["options"])
        print(f"| {row['model']} | {row['chips']} {row['chip'] or '?'} | {row['framework'].split(' (')[0]}, {row['method']}, "
              f"{row['layout']} | {row['seq_len']}, {row['micro_batch']}, {row['global_batch']}; {options} | {number(mem, 1)} | "
              f"{number(mem_calc, 1)} | {percent(error(d['memory']))} | {number(step, 2)} | {number(step_calc, 2)} | "
              f"{percent(error(d['step']))} |")


def print_unsaid(unsaid, done):
    print("| not compared, because | rows |\n|---|---|")
    reasons = collections.OrderedDict()
    for row, reason in [*unsaid, *((d["row"], note) for d in done for note in d["notes"])]:
        name = f"{row['model']}, {row['framework'].split(' (')[0]} {row['method']}"
        reasons.setdefault(reason, collections.Counter())[name] += 1
    for reason, rows in reasons.items():
        print(f"| {reason} | {'; '.join(name + (f' ({n})' if n > 1 else '') for name, n in rows.items())} |")


def put(done, check):
    page = ROOT / "docs/post-training.md"
    made = io.StringIO()
    with contextlib.redirect_stdout(made):
        print_summary(done)
    text = page.read_text(encoding="utf-8")
    new = re.sub(r"(?<=<!-- now -->\n).*?(?=<!-- /now -->)", lambda _: made.getvalue(), text, flags=re.DOTALL)
    if check and new != text:
        print(f"{page} is not what {pathlib.Path(__file__).name} --docs writes")
    if not check:
        page.write_text(new, encoding="utf-8")
    return 1 if check and new != text else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=str(ROOT / "tests/measured/finetune.csv"))
    parser.add_argument("--calc", default=str(ROOT / "build/dev/bin/calc"))
    parser.add_argument("--commands", action="store_true", help="print the commands as well")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="for all rows, to see what it changes")
    options = parser.parse_args()
    done, unsaid = [], []
    with open(options.table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                done.append(predict(row, options.calc, options.set))
            except Unsaid as reason:
                unsaid.append((row, str(reason)))
    if options.docs or options.check:
        return put(done, options.check)
    print_summary(done)
    print()
    print_rows(done)
    print()
    print_unsaid(unsaid, done)
    if options.commands:
        for d in done:
            print(" ".join(["calc", *d["command"][1:]]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
