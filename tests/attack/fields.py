#!/usr/bin/env python3
"""Fields of the three documents at legal extremes, one to three at once, in training and serving, through `calc serve`: every
answer is JSON, none calls itself a bug, statistics are finite and not negative, a layout that is fine has a time, and no
efficiency is above 1. The process never dies.

usage: fields.py CALC [CASE...]   CALC_LONG=1  310,000 requests instead of some thousand"""
import json
import math

import attack

a = attack.Attack()
REQUESTS, SOME, BLOCK = 310_000, 3000, 500
BASES = [attack.RUN, ("deepseek-v3-671B", "h800", "deepseek-v3_2048"), ("llama3-405B", "h100_sxm", "llama3-405B_16384"),
         attack.SERVE, ("qwen3-30B-A3B", "h100_sxm", attack.SERVE[2]), ("deepseek-v3-671B", "h800", "deepseek-v3_serving_128")]
# Explained where the peak is that of a number format in which the matrices are not multiplied, and
# where tokens are dropped, which count as work.
EXPLAINED = (".datatype", "sys.matrix.", "exe.capacity_factor")
SHARES = ("total_efficiency", "compute_efficiency", "system_efficiency", "model_flops_utilization", "hardware_flops_utilization")
NEEDED = ("total_time", "proc_mem_tier1_cap_req")


def fields_of(kind):
    """Path -> type, bounds or words of each field of a document, by its schema."""
    schema = json.loads(a.text("schema", kind))
    found = {}

    def walk(node, path, depth):
        if depth > 12 or node.get("description", "").startswith("another name"):
            return
        if "$ref" in node:
            target = schema
            for word in node["$ref"].split("/")[1:]:
                target = target[word]
            walk(target, path, depth + 1)
        for name, held in node.get("properties", {}).items():
            walk(held, f"{path}.{name}", depth + 1)
        for way in ("allOf", "anyOf", "oneOf"):
            for held in node.get(way, []):
                walk(held, path, depth + 1)
        if isinstance(node.get("items"), dict) and ("$ref" in node["items"] or node["items"].get("type") == "object"):
            for i in (0, 1):
                walk(node["items"], f"{path}[{i}]", depth + 1)
        kind_of = node.get("type")
        low = node.get("minimum", node.get("exclusiveMinimum"))
        if kind_of in ("number", "integer") and low is not None:
            found[(path, kind_of)] = (low, node.get("maximum", 1e18), "exclusiveMinimum" in node)
        elif kind_of == "boolean":
            found[(path, kind_of)] = [False, True]
        elif "enum" in node:
            found[(path, "enum")] = node["enum"]

    walk(schema, kind, 0)
    return [(path, kind_of, bounds) for (path, kind_of), bounds in found.items()]


def extreme(rng, kind_of, bounds):
    if isinstance(bounds, list):
        return rng.choice(bounds)
    low, high, above = bounds
    if kind_of == "integer":
        value = rng.choice([low, high, low, high, 1, 2, 3, 7, 8, 64, high - 1, low + 1, math.isqrt(int(max(1, high)))])
        return int(min(max(value, low), high))
    low = max(low, 5e-324) if above else low
    spread = math.exp(rng.uniform(math.log(max(low, 1e-300)), math.log(max(high, 1e-299))))
    value = rng.choice([low, high, low, high, spread, spread, spread, 1.0, 0.5, low * (1 + 1e-7), high * (1 - 1e-7), 5e-324, 1e-310])
    return float(min(max(value, low), high))


def judge(line, asked):
    """What is wrong with an answer; None: nothing."""
    def constant(word):
        raise ValueError(word)

    try:
        answer = json.loads(line, parse_constant=constant)
    except ValueError as failure:
        return f"no JSON: {failure}", "wrong"
    if answer.get("errors"):
        text = " ".join(error.get("text", "") for error in answer["errors"])
        return ("a bug of its own" if "bug" in text else None), "refused"
    verdict, stats = answer.get("verdict"), answer.get("stats", {})
    for name, value in stats.items():
        if isinstance(value, str):
            return f"{name} is {value}", "wrong"
        if isinstance(value, (int, float)) and (not math.isfinite(value) or value < 0):
            return f"{name} = {value}, {verdict}", "wrong"
        if value is None and verdict == "ok" and name in NEEDED:
            return f"{name} is null", "wrong"
        if name in SHARES and value is not None and value > 1 + 1e-9 and not any(word in asked for word in EXPLAINED):
            return f"{name} = {value}, {verdict}", "wrong"
    return None, "ok" if verdict == "ok" else "of layouts that cannot run"


def main():
    fields = [(f"{path}", *held) for kind in ("app", "sys", "exe") for path, *held in fields_of(kind)]

    def request(k):
        rng = a.rng(k)
        app, machine, layout = rng.choice(BASES)
        change = {}
        for path, kind_of, bounds in rng.sample(fields, rng.choice([1, 1, 1, 1, 2, 2, 3])):
            change[path] = extreme(rng, kind_of, bounds)
        return json.dumps({"app": app, "sys": machine, "exe": layout, "set": change})

    chosen = list(a.numbers or (range(REQUESTS) if a.long else range(SOME)))
    while chosen:
        block = chosen[:BLOCK]
        asked = [request(k) for k in block]
        result = a.run(["serve", "--stdio"], "\n".join(asked).encode() + b"\n", seconds=600)
        lines = result.out.split(b"\n")[:-1]
        for k, line, text in zip(block, lines, asked):
            wrong, what = judge(line, text)
            a.seen[f"answers {what}"] += 1
            if wrong:
                a.fail(k, ["serve", "--stdio"], f"{wrong}: {text}")
        chosen = chosen[len(lines) + (len(lines) < len(block)):]
        if len(lines) < len(block) or result.code != 0:
            last = min(len(lines), len(block) - 1)
            a.fail(block[last], ["serve", "--stdio"], f"ended: {asked[last]}", result)
    print(f"{len(fields)} fields")
    a.end()


main()
