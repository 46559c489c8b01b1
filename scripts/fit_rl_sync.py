#!/usr/bin/env python3
"""Constants of src/rl/step.c: fixed + a tensors + bytes / rate for each method, fitted to published
times (tests/measured/weight_sync.csv) by least squares of logarithms, none of them negative.

usage: scripts/fit_rl_sync.py [CALC]
"""
import csv
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {"Qwen3-4B": "qwen3-4B", "Qwen3-30B-A3B": "qwen3-30B-A3B",
          "Qwen3-30B-A3B-Base": "qwen3-30B-A3B", "Qwen3-30B": "qwen3-30B-A3B",
          "Qwen3-235B-A22B": "qwen3-235B-A22B", "Qwen3-235B-A22B bf16": "qwen3-235B-A22B",
          "DeepSeek-V3": "deepseek-v3-671B", "DeepSeek-V3.1 fp8": "deepseek-v3-671B",
          "Qwen3.5-397B": "qwen3.5-397B-A17B", "Kimi-K2 fp8": "kimi-k2-1T",
          "GLM-4.5-355B-A32B": "glm-4.6-355B-A32B",
          "Nemotron-3-Ultra-550B": "nemotron-3-ultra-550B-A55B"}
# What a row's method is here: the first pattern that its text has.
METHODS = [("nccl reshard", "shards"), ("nccl xfer|sharded experts", "transfer"), ("H2D, broadcast", "host"),
           ("CUDA IPC|^IPC|flattened buckets, cached|^slime$", "ipc_buckets"),
           ("packed broadcast|checkpoint engine NCCL|full experts|^NCCL broadcast$|flattened",
            "buckets"),
           ("per tensor$", "per_tensor")]
# Rows that are about something else: the reason.
LEFT = {"Qwen2.5-Math-7B": "its source calls it implausible", "HTTP": "every tensor is a request",
        "quadratic": "the loader", "blockwise": "quantizing", "HCCL": "another network",
        "slime, 0.5": "before its loader was repaired"}


def method_of(row):
    for pattern, name in METHODS:
        if re.search(pattern, row["method"]):
            return name
    return None


def solve(matrix, vector):
    """Gauss, for the few unknowns there are; None if singular."""
    n = len(vector)
    rows = [list(m) + [v] for m, v in zip(matrix, vector)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        if abs(rows[pivot][i]) < 1e-30:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i:
                f = rows[k][i] / rows[i][i]
                rows[k] = [a - f * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def predicted(constants, point):
    return sum(c * x for c, x in zip(constants, point[0]))


def weighted(points, terms):
    """Errors over the geometric mean of both times, which is near the logarithm; some rounds of
    it. None if a constant is negative."""
    scale = [p[1] for p in points]
    full = None
    for _ in range(30):
        x = [[p[0][t] / w for t in terms] for p, w in zip(points, scale)]
        y = [p[1] / w for p, w in zip(points, scale)]
        n = range(len(terms))
        s = solve([[sum(r[i] * r[j] for r in x) for j in n] for i in n],
                  [sum(r[i] * v for r, v in zip(x, y)) for i in n])
        if s is None or min(s) < 0:
            return None
        full = [0.0, 0.0, 0.0]
        for t, v in zip(terms, s):
            full[t] = v
        scale = [math.sqrt(p[1] * predicted(full, p)) for p in points]
    return full


def fit(points):
    """The best non-negative (fixed, tensor, byte) of all choices of terms."""
    best = None
    for size in (1, 2, 3):
        for terms in itertools.combinations(range(3), size):
            if size > len(points) - 1 and size > 1:
                continue
            full = weighted(points, terms)
            if full is None:
                continue
            error = sum(math.log(predicted(full, p) / p[1]) ** 2 for p in points)
            if best is None or error < best[0] * 0.95:  # a term more has to help
                best = (error, full)
    return best[1]


def main():
    calc = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/dev/bin/calc")
    sizes, points, names = {}, {}, {}
    for row in csv.DictReader(open(ROOT / "tests/measured/weight_sync.csv")):
        text = row["model"] + " " + row["method"] + " " + row["detail"]
        name, method = MODELS.get(row["model"]), method_of(row)
        if not name or not method or any(k in text for k in LEFT):
            continue
        if name not in sizes:
            out = subprocess.run([calc, "rl", name, "h200", "--procs", "512", "--rollout-procs",
                                  "256", "--set", "prompts=512", "--json", "-"],
                                 capture_output=True, text=True, check=False).stdout
            s = json.loads(out)["statistics"]
            sizes[name] = (s["sync_tensors"], s["sync_bytes"])
        tensors, sent = sizes[name]
        sent *= {"fp8": 0.5, "mxfp8": 0.516}.get(row["format"], 1)
        ranks = re.match(r"TP(\d+)", row["rollout_layout"])
        if method in ("shards", "transfer"):
            sent /= float(ranks[1]) if ranks else 1
        seconds = (float(row["seconds_low"]) + float(row["seconds_high"])) / 2
        points.setdefault(method, []).append(((1, tensors, sent), seconds))
        names.setdefault(method, []).append(row)
    for method, rows in points.items():
        fixed, tensor, byte = fit(rows)
        rate = f"{1e-9 / byte:.3g} GB/s" if byte > 0 else "the wire"
        print(f"{method}: {len(rows)} rows, fixed {fixed:.3g} s, {1e6 * tensor:.3g} us a tensor, "
              f"{rate}")
        for (size, seconds), row in zip(rows, names[method]):
            said = fixed + tensor * size[1] + byte * size[2]
            print(f"    {row['model']:24} {row['chip']:8} {seconds:7.2f} s, {said:7.2f}"
                  f" {100 * (said / seconds - 1):+5.0f} %  {row['method']}")


if __name__ == "__main__":
    main()
