#!/usr/bin/env python3
"""Random sweeps of every kind (dense, experts, serving, offload, conditions, groups, machine fields, schedules): the same bytes
with any number of threads, at every CPU level, without pruning and merged of shards, and `calc run` of a row gives every
statistic of the row to the last digit.

usage: same_bytes.py CALC [CASE...]   CALC_LONG=1  160 sweeps instead of 8, and more rows of each"""
import json
import os
import pathlib

import attack

a = attack.Attack()
KINDS = ("dense", "experts", "serving", "offload", "condition", "groups", "schedule", "machine")
DENSE = ["llama2-7B", "llama3-8B", "gpt3-13B", "gpt3-175B", "llama2-70B", "llama3-70B"]
EXPERTS = ["qwen3-30B-A3B", "mixtral-8x7B", "qwen3-235B-A22B", "deepseek-v2-236B"]
MACHINES = ["a100_80g", "h100_sxm", "h200", "h800", "a800", "b200"]


def space(kind, rng):
    """Words of a sweep, without what it writes."""
    known = set(a.text("names", "app").split()), set(a.text("names", "sys").split())
    models = EXPERTS if kind == "experts" else DENSE[:3] if kind in ("serving", "groups") else DENSE
    model = rng.choice([m for m in models if m in known[0]])
    machine = rng.choice([m for m in MACHINES if m in known[1]])
    words = ["sweep", model, machine, "--progress", "none", "--top", rng.choice([1, 3, 10, 50])]
    if kind == "serving":
        words += ["--procs", rng.choice([4, 8])]
        words += ["--set", "inference.phase=serve", "--set", f"inference.prompt_size={rng.choice([128, 1000, 4096])}",
                  "--set", f"inference.generate_size={rng.choice([64, 500])}"]
        return words + rng.choice([[], ["--where", "ttft <= 2"]]) + rng.choice([[], ["--set", "inference.engine=vllm-0.11"]])
    procs, batch = rng.choice([8, 16, 32]), rng.choice([16, 32, 48, 64, 96])
    words += ["--procs", f"8:{procs}:8" if kind == "groups" else procs, "--batch", batch]
    if kind == "experts":  # enough memory that some layouts can run
        words += ["--set", "mem1.GiB=2000"] + rng.choice([[], ["--where", "tensor_par <= 4"]])
    if kind == "offload":
        words += ["--axis", "weight_offload=false,true", "--axis", "optimizer_offload=false,true", "--set", "mem2.GiB=512",
                  "--axis", "activation_recompute=none,full,attn_only"]
    if kind == "condition":
        words += ["--where", rng.choice(["mem1 <= 40GiB", "tensor_par != 2", "pipeline_par >= 2", "bubble_time <= 1"]),
                  "--objectives", rng.choice(["sample_rate,mem1", "total_time,mem1", "sample_rate:up,mem1:down"])]
    if kind == "groups":
        words += ["--per", rng.choice(["num_procs", "design", "num_procs,design"])]
    if kind == "schedule":
        words += ["--axis", "zero_stage=0,1,2,3", "--axis", "microbatch_size=1,2,4", "--axis", "pipeline_schedule=1f1b,zb_h1"]
    if kind == "machine":
        words += ["--axis", "sys.mem1.GiB=40,80", "--axis", "sys.networks[0].size=4,8", "--per", "design"]
    return words


def rows_of(value):
    if isinstance(value, dict):
        if "execution" in value and "stats" in value:
            yield value
        for held in value.values():
            yield from rows_of(held)
    elif isinstance(value, list):
        for held in value:
            yield from rows_of(held)


def one(k):
    kind, rng = KINDS[k % len(KINDS)], a.rng(k)
    words = list(map(str, space(kind, rng)))

    def attempt(more, name="o.json"):
        result = a.run([*words, "--out", name, *more])
        if result.code not in (0, 1):
            a.fail(k, [*words, *more], "no sweep", result)
        return result.code, pathlib.Path(name).read_bytes() if os.path.exists(name) else None

    whole = attempt(["--threads", "2"])
    ways = [["--threads", "1"], ["--threads", "5"], ["--cpu", "generic"], ["--cpu", "x86-64-v3"], ["--no-prune"],
            ["--no-prune", "--threads", "3", "--cpu", "generic"]]
    for way in ways if a.long or a.numbers else rng.sample(ways, 2):
        a.seen["comparisons"] += 1
        if attempt(way) != whole:
            a.fail(k, [*words, *way], f"{kind}: other bytes than with --threads 2")
    shards = rng.choice([2, 3, 7])
    for i in range(1, shards + 1):
        attempt(["--shard", f"{i}/{shards}"], f"part{i}")
    merged = a.run(["sweep", "--merge", *(f"part{i}" for i in range(1, shards + 1)), "--out", "m.json"])
    a.seen["comparisons"] += 1
    if whole[1] is None or not os.path.exists("m.json") or pathlib.Path("m.json").read_bytes() != whole[1]:
        a.fail(k, words, f"{kind}: other bytes merged of {shards} shards", merged)
    rows = list(rows_of(json.loads(whole[1] or b"{}")))
    a.seen[f"sweeps with{'' if rows else 'out'} a layout"] += 1
    fixed = [word for i in range(len(words)) if words[i] == "--set" for word in words[i:i + 2]]
    for row in rng.sample(rows, min(len(rows), 20 if a.long else 2)):
        pathlib.Path("row.json").write_text(json.dumps(row["execution"]))
        swept = [word for name, value in row.get("design", {}).items() if "." in name for word in ("--set", f"{name}={value}")]
        asked = ["run", *words[1:3], "./row.json", *fixed, *swept, "--json", "-"]
        result = a.run(asked)
        stats = json.loads(result.out or b"{}").get("stats", {})
        different = [name for name, value in row["stats"].items() if repr(value) != repr(stats.get(name))]
        a.seen["rows"] += 1
        a.seen["statistics of rows"] += len(row["stats"])
        if different:
            a.fail(k, asked, f"{kind}: {len(different)} statistics differ from the row's, {different[:4]}", result)
    for name in os.listdir("."):
        os.unlink(name)


for case in a.pick(160, 8) if a.long or a.numbers else range(8):
    one(case)
a.end()
