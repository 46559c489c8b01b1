"""Strategies that `calc as aiak` wrote, and their traces.
usage: check_aiak.py LAYERS TOKENS TEXT JSON CACHE"""
import ast
import collections
import glob
import json
import math
import sys

KEYS = ["sim_throughput", "sim_total_time_s", "chip-order", "max-use-mem-size", "strategy"]
SIZES = ["pipeline-model-parallel-size", "tensor-model-parallel-size", "micro-batch-size"]
SWITCHES = ["use-flash-attn", "sequence-parallel", "use-distributed-optimizer", "fused-rmsnorm",
            "apply-rotary-positional-embedding-kernel"]
RECOMPUTE = ["recompute-granularity", "recompute-method", "recompute-num-layers"]


def check_strategy(line, layers, tokens):
    assert list(line) == KEYS, list(line)
    strategy = line["strategy"]
    several = "pipeline-stage-layers" in strategy
    known = SIZES + SWITCHES + ["pipeline-stage-chips"] + several * ["pipeline-stage-layers"] + RECOMPUTE
    assert list(strategy) == [key for key in known if key in strategy], list(strategy)
    assert all(key in strategy for key in SIZES + RECOMPUTE)
    assert all(strategy.get(key, "") == "" for key in SWITCHES)
    stages = strategy["pipeline-model-parallel-size"]
    chips = strategy["pipeline-stage-chips"]
    kinds = list(dict.fromkeys(chips))
    assert len(chips) == (stages if several else 1)
    assert several == (len(kinds) > 1)
    if several:
        assert len(strategy["pipeline-stage-layers"]) == stages
        assert sum(strategy["pipeline-stage-layers"]) == layers
        assert [k for i, k in enumerate(chips) if i == 0 or chips[i - 1] != k] == kinds, "kinds in turns"
    for key in RECOMPUTE:
        assert len(strategy[key]) == len(kinds), key
    assert len(line["max-use-mem-size"]) == len(kinds)
    for how, method, count in zip(*(strategy[key] for key in RECOMPUTE)):
        assert (method in ("block", "uniform") and count >= 1) if how == "full" else method is count is None
    assert line["sim_throughput"] == math.ceil(tokens / line["sim_total_time_s"])


def check_trace(file, line):
    trace = json.load(open(file))
    # As calc run has it: layers beside recomputed ones keep their gathered inputs, the planner's gather them again.
    some = line["strategy"]["tensor-model-parallel-size"] > 1 and "block" in line["strategy"]["recompute-method"]
    step = trace["otherData"]["total_time"]
    assert math.isclose(step, line["sim_total_time_s"], rel_tol=1e-3 if some else 1e-9), trace["otherData"]
    end = 0
    passes = collections.defaultdict(list)
    memory = collections.defaultdict(float)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            end = max(end, (event["ts"] + event["dur"]) / 1e6)
            if event["name"].startswith(("F ", "B ")): # the others are in a pass, or behind all
                passes[event["pid"]].append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "C":
            memory[event["pid"]] = max(memory[event["pid"]], event["args"]["GiB"])
    assert abs(end / step - 1) <= 1e-6, end
    for slices in map(sorted, passes.values()):
        assert all(a[1] <= b[0] + 1e-3 for a, b in zip(slices, slices[1:])), "slices overlap"
    chips = line["strategy"]["pipeline-stage-chips"]
    stages = line["strategy"]["pipeline-model-parallel-size"]
    assert len(passes) == stages
    chips = chips if len(chips) > 1 else chips * stages
    for kind, most in zip(dict.fromkeys(chips), line["max-use-mem-size"]):
        held = max(memory[i + 1] for i in range(stages) if chips[i] == kind)
        assert abs(held / most - 1) <= 1e-9, (kind, held, most)


def main(layers, tokens, text, as_json, cache):
    lines = [ast.literal_eval(line) for line in open(text)]
    assert lines and lines == json.load(open(as_json))
    rates = [line["sim_throughput"] for line in lines]
    assert rates == sorted(rates, reverse=True)
    assert len(set(map(str, lines))) == len(lines)
    files = glob.glob(cache + "/*.json")
    assert len(files) == len(lines), files
    for i, line in enumerate(lines):
        check_strategy(line, int(layers), int(tokens))
        check_trace(next(f for f in files if f.endswith(f"_rank{i + 1}.json")), line)


main(*sys.argv[1:])
