#!/usr/bin/env python3
"""Fit the rates of serving kernels (serving of a system file) to measured kernels of serving engines.
usage: scripts/make_serving_rates.py OPERATORS.csv.gz [--write]

The table is aiconfigurator's database of kernels (github.com/ai-dynamo/aiconfigurator, Apache-2.0), thinned; its columns
are those of tests/measured/serving_kernels.csv. Constants are fitted to two thirds of the shapes by robust least squares of
log(predicted / measured), errors are those of the third that is held out. With --write the system files that were measured
get the constants and tests/measured/serving_kernels.csv some of the rows that were held out."""
import csv
import gzip
import json
import math
import pathlib
import re
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCERPT = ROOT / "tests/measured/serving_kernels.csv"
# Groups of machines that share constants: of the table, with its file here and its second-level cache [bytes].
GROUPS = {"Ampere": {"a100_sxm": ("a100_sxm_80g", 40e6)},
          "Hopper": {"h100_sxm": ("h100_sxm", 50e6)},
          "Blackwell": {"b200_sxm": ("b200", 126e6), "gb200": ("gb200_nvl72", 126e6)},
          "Ada": {"l40s": ("l40s", 96e6)}}
# Machines that get a group's constants at their own peaks.
ALIKE = {"Ampere": ["a100_sxm_40g", "a800"], "Hopper": ["h100_sxm_500w", "h800", "h200", "h20", "gh200"],
         "Blackwell": ["b200_180g", "b300", "gb300_nvl72"], "Ada": ["rtx_pro_6000"]}
# What was not measured: A100's mixtures have no rows of equal loads.
ASSUMED = {"Ampere": {"grouped": {"memory_efficiency": 0.765, "fixed": 13.5, "efficiency": 0.7}}}
BYTES = {"bfloat16": 2, "fp8": 1, "fp8_block": 1, "nvfp4": 0.5}
STORED = {"int4_wo": 0.5 + 2 / 128, "w4a16_mxfp4": 0.5 + 1 / 32}  # weights of products in 16 bits, with their scales
SCALED = {0.5: 1.125}  # bytes of 4-bit numbers with their block scales, one of 8 bits for 16, over those without
QUANTIZE = 4  # bytes of traffic per converted input: quantize_bytes of the system files
VECTOR = {"memory_efficiency": 0.85, "fixed": 1e-6}  # assumed
# States of linear mixers: fitted to kernels of vLLM and SGLang on H100 and H200, on B200, on all three; docs/models.md.
STATE = {"Hopper": {"memory_efficiency": .878, "fixed": 5.63}, "Blackwell": {"memory_efficiency": .76, "fixed": 6}}
STATES = {"memory_efficiency": .844, "fixed": 5.82}
OUTLIER = 0.1  # log(predicted / measured) from which on a row counts linearly
LATENT = 0.7  # of arithmetic when decoding, where only latent attention is bound by it and was not measured: assumed
HIGHEST = {"softmax_size": 1000}  # beyond, exponentials alone set the time
LEAST = {"fixed": 2}  # microseconds: a kernel takes as long, which rows that take much longer do not show
LOWEST = 1e-3  # of other constants; below, one has no part in the law


class Machine:
    """Peaks of a system file, per microsecond."""

    def __init__(self, file, cache_bytes):
        data = json.loads((ROOT / f"systems/{file}.json").read_text())
        self.file, self.cache = file, cache_bytes
        self.flop = {BYTES[k]: data["matrix"][n]["tflops"] * 1e6
                     for k, n in (("bfloat16", "bfloat16"), ("fp8", "float8"), ("nvfp4", "float4"))
                     if n in data["matrix"]}
        self.memory = data["mem1"]["GBps"] * 1e3
        self.link = data["networks"][0]["bandwidth"] * 1e3


def number(row, name):
    return float(row[name] or 0)


def smooth(x, y):
    return (x ** 3 + y ** 3) ** (1 / 3)


# ---- Families: which rows, and a law of them. A law takes constants and a row and gives microseconds. -------------------

def gemm_rows(m, r):
    """Weights below a fifth of the second-level cache were measured warm; TensorRT-LLM's dynamic tensor scales take
    kernels that engines do not run, SGLang's block scales on Blackwell fall far behind; what was not captured is bound by
    the host."""
    if (r["op"] != "gemm" or r["graph"] != "graph" or BYTES.get(r["dtype"], 9) not in m.flop or
            (r["dtype"] == "fp8" and r["framework"] == "trtllm") or
            r["dtype"] == "fp8_block" and r["framework"] == "sglang" and 0.5 in m.flop):
        return None
    rows, columns, inner = (number(r, c) for c in "mnk")
    e = BYTES[r["dtype"]]
    if e * columns * inner < m.cache / 5:
        return None
    converted = QUANTIZE * rows * inner if e < 2 else 0
    return (e, 2 * rows * columns * inner / m.flop[e],
            (e * SCALED.get(e, 1) * (rows * inner + columns * inner) + 2 * rows * columns) / m.memory,
            converted / m.memory, inner)


def gemm_law(x, r):
    e, flop, traffic, converted, inner = r
    share = x["efficiency"] if e == 2 else x["efficiency_8bit"] if e == 1 else x["efficiency_4bit"]
    return (x["fixed"] + (x["quantize"] if e < 2 else 0) + x.get("inner", 0) * 1e-3 * inner + converted / x["memory_efficiency"] +
            smooth(flop / share, traffic / x["memory_efficiency"]))


def decode_rows(m, r):
    """Caches near the size of the second-level cache were measured warm; kernels for many query heads per key head, and
    TensorRT-LLM 1.0 on A100, are not those of engines."""
    latent = r["op"] == "mla_decode"
    if not latent and r["op"] != "attention_decode" or number(r, "window") or latent and m.file.startswith("a100"):
        return None
    heads, batch, length = number(r, "heads"), number(r, "batch"), number(r, "kv_len")
    keys, size = (1, 0) if latent else (number(r, "kv_heads"), number(r, "head_dim"))
    if r["framework"] == "trtllm" and (
            m.file.startswith("a100") or not latent and (heads > 8 * keys or size < 128 and heads > keys)):
        return None
    e = 1 if r["kv_dtype"] == "fp8" else 2
    token, width = (576, 1088) if latent else (2 * keys * size, 2 * size)
    cache = batch * length * token * e
    if m.cache / 10 < cache < 1.3 * m.cache:
        return None
    ends = (2 if latent else 1) * batch * heads * width * 2
    return (2 * batch * heads * length * width / m.flop[2], (cache + batch * token * e + ends) / m.memory, length)


def decode_law(x, r):
    flop, traffic, length = r
    return (x["fixed"] + x["growth"] * length / (length + 1000) +
            smooth(flop / x.get("efficiency", LATENT), traffic / x["memory_efficiency"]))


def prefill_rows(m, r):
    latent = r["op"] == "mla_prefill"
    if (not latent and r["op"] != "attention_prefill" or number(r, "window") or
            r["framework"] == "sglang" and 0.5 in m.flop or latent and m.file.startswith("a100")):
        return None
    batch, length, heads = (number(r, c) for c in ("batch", "q_len", "heads"))
    e = 1 if r["kv_dtype"] == "fp8" else 2
    if latent:
        width, moved = 320, heads * 320 * 2 * 2
    else:
        width, keys = 2 * number(r, "head_dim"), number(r, "kv_heads")
        moved = heads * width * 2 + keys * width * (2 + e)
    return (2 * batch * heads * length * (length + 1) / 2 * width / m.flop[2], batch * length * moved / m.memory, width)


def prefill_law(x, r):
    flop, traffic, width = r
    softmax = (1 + x["softmax_size"] / width) / (1 + x["softmax_size"] / 256)
    return x["fixed"] + flop * softmax / x["efficiency"] + traffic / x["memory_efficiency"]


def narrow_rows(m, r):
    """Latent attention of prompts in the 8 bits of its cache: TensorRT-LLM's on Blackwell."""
    if r["op"] != "mla_prefill" or r["kv_dtype"] != "fp8" or r["framework"] != "trtllm" or 0.5 not in m.flop:
        return None
    flop, traffic, width = prefill_rows(m, r)
    return flop * m.flop[2] / m.flop[1], traffic, width


def grouped_rows(m, r):
    """Mixtures with equal loads, by the kernels that engines choose: on Blackwell not Triton's, on others not those that
    fall far behind (README of the table)."""
    if (r["op"] != "moe" or r["distribution"].startswith("power_law") or BYTES.get(r["dtype"], 9) not in m.flop or
            re.search("marlin|cutedsl|flashinfer_cutlass", r["kernel"])):
        return None
    blackwell = 0.5 in m.flop
    if (blackwell and (re.search("triton|vllm_fused_moe$", r["kernel"]) or
                       r["dtype"] == "nvfp4" and r["kernel"].endswith("cutlass")) or
            m.file == "h100_sxm" and "tritonexperts" in r["kernel"]):
        return None
    row = grouped_row(m, r, BYTES[r["dtype"]], BYTES[r["dtype"]] * SCALED.get(BYTES[r["dtype"]], 1))
    return row and ("block_scaled" if r["dtype"] == "fp8_block" else row[0], *row[1:])


def unpacked_rows(m, r):
    """Mixtures whose 4-bit weights are unpacked to 16 bits as they are multiplied, with equal loads. Of TensorRT-LLM's, and
    of vLLM's before 0.24, all take two to three times as long."""
    if (r["op"] != "moe" or r["distribution"].startswith("power_law") or r["dtype"] not in STORED or
            re.search("moe_torch_flow|vllm_marlin|vllm_mxfp4", r["kernel"])):
        return None
    return grouped_row(m, r, 2, STORED[r["dtype"]])


def grouped_row(m, r, e, b):
    """Of inputs of `e` bytes and weights of `b`."""
    tokens, hidden, inter, chosen, experts, tp, ep = (
        number(r, c) for c in ("tokens", "hidden", "inter", "topk", "experts", "tp", "ep"))
    width, rows = inter / tp, tokens * chosen / ep
    touched = min(experts / ep, rows)
    if rows < 1:
        return None
    up, down = 2 * hidden * width, hidden * width
    inputs = b if e < 2 else 2  # narrow ones have scales as weights have
    converted = QUANTIZE * rows * (hidden + width) if e < 2 else 0
    sorting = 2 * (tokens / ep / 2 + 3.5 * rows) * hidden * 2
    return (e, 2 * rows * up / m.flop[e], (b * touched * up + inputs * rows * hidden + 4 * rows * width) / m.memory,
            2 * rows * down / m.flop[e], (b * touched * down + inputs * rows * width + 2 * rows * hidden) / m.memory,
            (converted + sorting) / m.memory, 3 * rows * width * 2 / m.memory)


def grouped_law(x, r):
    e, up, up_traffic, down, down_traffic, moved, activation = r
    share = x[{2: "efficiency", 1: "efficiency_8bit", "block_scaled": "block_scaled_efficiency"}.get(e, "efficiency_4bit")]
    memory = x["memory_efficiency"]
    return (2 * x["fixed"] + smooth(up / share, up_traffic / memory) + smooth(down / share, down_traffic / memory) +
            moved / memory + activation / VECTOR["memory_efficiency"] + VECTOR["fixed"] * 1e6)


def all_reduce_rows(m, r):
    """The engines' own, captured, up to the size at which they turn to the collective library."""
    if r["op"] != "all_reduce" or r["graph"] != "graph" or number(r, "bytes") > 4 << 20:
        return None
    return number(r, "ranks"), number(r, "bytes") / m.link


def all_reduce_law(x, r):
    n, sent = r
    return (x["fixed"] + x.get("doubling", 0) * math.log2(n) +
            min((n - 1) * sent / x["one_shot_efficiency"],
                x["two_shot"] + 2 * (n - 1) / n * sent / x["two_shot_efficiency"]))


def collective_rows(m, r):
    if r["framework"] != "nccl" or number(r, "bytes") > 64 << 10:
        return None
    return (number(r, "ranks"),)


def exchange_rows(m, r):
    """DeepEP's kernels for few tokens, or the collective library's all-to-all."""
    if r["op"].startswith("deepep_ll") and number(r, "tokens") <= 8:
        return (number(r, "ranks"),)
    other = r["framework"] == "nccl" and r["op"] == "all_to_all" and m.file == "a100_sxm_80g"
    return (number(r, "ranks"),) if other and number(r, "bytes") <= 64 << 10 else None


def latency_law(x, r):
    return x["fixed"] + x["doubling"] * math.log2(r[0])


SECONDS = {"fixed": 1e-6, "growth": 1e-6, "doubling": 1e-6, "two_shot": 1e-6, "quantize": 1e-6, "inner": 1e-9}
FAMILIES = {
    "matrix": (gemm_rows, gemm_law, {"memory_efficiency": .8, "fixed": 3, "inner": .3, "quantize": 2, "efficiency": .7,
                                     "efficiency_8bit": .6, "efficiency_4bit": .5}),
    "grouped": (grouped_rows, grouped_law, {"memory_efficiency": .8, "fixed": 12, "efficiency": .6, "efficiency_8bit": .5,
                                            "block_scaled_efficiency": .4, "efficiency_4bit": .4}),
    "decode": (decode_rows, decode_law, {"memory_efficiency": .8, "fixed": 8, "growth": 3, "efficiency": .5}),
    "prefill": (prefill_rows, prefill_law, {"memory_efficiency": .5, "fixed": 10, "efficiency": .6, "softmax_size": 100}),
    "all_reduce": (all_reduce_rows, all_reduce_law, {"one_shot_efficiency": .6, "fixed": 3, "doubling": .5,
                                                     "two_shot_efficiency": .5, "two_shot": 4}),
    "collective": (collective_rows, latency_law, {"fixed": 3, "doubling": 3}),
    "exchange": (exchange_rows, latency_law, {"fixed": 5, "doubling": 3}),
}

# ---- Least squares ------------------------------------------------------------------------------------------------------


def solve(a, b):
    """a x = b by elimination; a is symmetric and positive."""
    n, m = len(b), [row[:] + [y] for row, y in zip(a, b)]
    for i in range(n):
        for j in range(i + 1, n):
            f = m[j][i] / m[i][i]
            m[j] = [v - f * w for v, w in zip(m[j], m[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


def fit(law, rows, start):
    """Levenberg and Marquardt's method on the logarithms of the constants; rows beyond OUTLIER weigh less."""
    names, z, damping = list(start), [math.log(v) for v in start.values()], 1e-2

    def residuals(z):
        x = dict(zip(names, map(math.exp, z)))
        return [math.log(law(x, r) / t) for r, t in rows]

    def cost(e):
        return sum(math.sqrt(1 + (v / OUTLIER) ** 2) - 1 for v in e)

    e = residuals(z)
    for _ in range(60):
        columns = []
        for i in range(len(z)):
            moved = residuals([v + 1e-4 * (i == j) for j, v in enumerate(z)])
            columns.append([(a - b) / 1e-4 for a, b in zip(moved, e)])
        weight = [1 / math.sqrt(1 + (v / OUTLIER) ** 2) for v in e]
        a = [[sum(map(lambda w, p, q: w * p * q, weight, p, q)) for q in columns] for p in columns]
        g = [-sum(map(lambda w, p, v: w * p * v, weight, p, e)) for p in columns]
        while damping < 1e6:
            damped = [[v * (1 + damping) + 1e-9 if i == j else v for j, v in enumerate(row)] for i, row in enumerate(a)]
            step = [max(-0.7, min(0.7, v)) for v in solve(damped, g)]
            tried = [max(math.log(LEAST.get(n, 1e-9)), min(v + d, math.log(HIGHEST.get(n, 1e9))))
                     for n, v, d in zip(names, z, step)]
            moved = residuals(tried)
            if cost(moved) < cost(e):
                break
            damping *= 4
        else:
            break
        done = cost(e) - cost(moved) < 1e-6 * cost(e)
        z, e, damping = tried, moved, damping / 8
        if done:
            break
    x = {n: float(f"{math.exp(v):.3g}") for n, v in zip(names, z) if math.exp(v) > LOWEST}
    return x if len(x) == len(z) else fit(law, rows, x)


# ---- What is written ----------------------------------------------------------------------------------------------------


def held_out(r):
    """A third of the shapes, whatever the machine, engine and format."""
    shape = "m n k batch q_len kv_len heads kv_heads head_dim tokens hidden inter experts tp ep bytes ranks".split()
    return zlib.crc32(" ".join(f"{number(r, c):g}" for c in shape).encode()) % 3 == 0


def errors(law, x, rows):
    e = sorted(abs(law(x, r) / t - 1) for r, t in rows)
    ratio = sorted(law(x, r) / t for r, t in rows)
    return len(e), 100 * e[len(e) // 2], 100 * e[len(e) * 9 // 10], ratio[len(e) // 2]


def as_json(rates):
    def member(name, value):
        return f'"{name}": {float(f"{value * SECONDS.get(name, 1):.3g}"):g}'
    return ",\n".join('    "%s": {%s}' % (f, ", ".join(member(n, v) for n, v in x.items())) for f, x in rates.items())


def put_system(file, text, source):
    """In place of what the file has of serving, before the fixed time of a step; last in its sources."""
    path = ROOT / f"systems/{file}.json"
    if not path.exists():
        return
    old = re.sub(r'  "serving": \{\n.*?\n  \},\n', "", path.read_text(), flags=re.S)
    old = re.sub(r'( Serving: [^"]*)?"\n\}', f' Serving: {source}"\n}}', old)
    path.write_text(old.replace('  "step_overhead"', '  "serving": {\n%s\n  },\n  "step_overhead"' % text))


def beside(group, machines, table, name, rows_of, law, start):
    """Constants of rows that share all others with those of a family, and what was held out of them; {}: there are none."""
    found = [(rows_of(machines[r["system"]], r), number(r, "latency_us"), r) for r in table if r["system"] in machines]
    found = [v for v in found if v[0]]
    if not found:
        return {}, []
    y = fit(law, [(v, t) for v, t, r in found if not held_out(r)], start)
    test = [v for v in found if held_out(v[2])]
    print("%-10s %-10s n %5d  median %4.1f %%  p90 %4.1f %%  ratio %.2f " %
          (group, name, *errors(law, y, [(v, t) for v, t, r in test])), y, flush=True)
    return y, test


def with_narrow(group, machines, table, x):
    """The rate of prompts in 8 bits, behind the rate in 16."""
    y, _ = beside(group, machines, table, "in 8 bits", narrow_rows,
                  lambda y, r: prefill_law({**x, "efficiency": y["efficiency_8bit"]}, r), {"efficiency_8bit": .4})
    first = {n: x[n] for n in ("memory_efficiency", "fixed", "efficiency") if n in x}
    return {**first, **y, **x} if y else x


def with_unpacked(group, machines, table, x):
    """The rates of weights of 4 bits that are multiplied in 16, and their rows."""
    def law(y, r):
        return grouped_law({"fixed": x["fixed"], "efficiency": y["unpacked_efficiency"],
                            "memory_efficiency": y["unpacked_memory_efficiency"]}, r)
    y, rows = beside(group, machines, table, "unpacked", unpacked_rows, law,
                     {"unpacked_efficiency": .3, "unpacked_memory_efficiency": .7})
    return {**x, **y}, rows


def write_systems(group, files, text):
    assumed = ", ".join([*ASSUMED.get(group, {}), "vector"])
    for file in files:
        put_system(file, text, f"fitted to kernels of TensorRT-LLM, vLLM and SGLang on {' and '.join(files)}, of "
                   f"aiconfigurator's database (commit 095f58a5); assumed: {assumed}.")
    for file in ALIKE[group]:
        put_system(file, text, f"the shares of {files[0]}, assumed to hold of this machine's peaks.")


def main():
    with gzip.open(sys.argv[1], "rt") as f:
        table = list(csv.DictReader(f))
    kept = []
    for group, members in GROUPS.items():
        machines = {n: Machine(*m) for n, m in members.items() if (ROOT / f"systems/{m[0]}.json").exists()}
        if not machines:
            continue
        rates = {}
        for family, (rows_of, law, start) in FAMILIES.items():
            found = [(rows_of(machines[r["system"]], r), number(r, "latency_us"), r) for r in table if r["system"] in machines]
            found = [v for v in found if v[0]]
            if not found or group == "Ada" and family in ("all_reduce", "collective", "exchange"):
                continue  # without NVLink a host's bridges decide
            formats = {v[0][0] for v in found} if family in ("matrix", "grouped") else ()
            start = {n: v for n, v in start.items()
                     if not (n in ("efficiency_8bit", "quantize") and formats and formats == {2} or
                             n == "block_scaled_efficiency" and "block_scaled" not in formats or
                             n == "efficiency_4bit" and 0.5 not in formats)}
            if family == "decode" and not any(r["op"] == "mla_decode" for _, _, r in found):
                del start["efficiency"]
            x = fit(law, [(v, t) for v, t, r in found if not held_out(r)], start)
            test = [(v, t) for v, t, r in found if held_out(r)]
            # Lengths of messages are few: latencies are judged by all rows.
            print("%-10s %-10s n %5d  median %4.1f %%  p90 %4.1f %%  ratio %.2f " %
                  (group, family, *errors(law, x, test or [(v, t) for v, t, r in found])), x, flush=True)
            rates[family] = {**x, "efficiency": LATENT} if family == "decode" and "efficiency" not in x else x
            if family == "prefill":
                rates[family] = with_narrow(group, machines, table, x)
            if family == "grouped":
                rates[family], more = with_unpacked(group, machines, table, x)
                kept += excerpt_of("unpacked", machines, more)
            kept += excerpt_of(family, machines, found)
        rates.update(ASSUMED.get(group, {}))
        rates["state"] = STATE.get(group, STATES)
        rates["vector"] = {"memory_efficiency": VECTOR["memory_efficiency"], "fixed": VECTOR["fixed"] * 1e6}
        if "--write" in sys.argv:
            write_systems(group, [m.file for m in machines.values()], as_json(rates))
    if "--write" in sys.argv:
        write_excerpt(kept)


def excerpt_of(family, machines, found):
    """What was held out; of mixtures what one rank has whole."""
    return [{**r, "system": machines[r["system"]].file, "family": family}
            for _, _, r in found if held_out(r) and (r["op"] != "moe" or number(r, "tp") == 1)]


def write_excerpt(rows):
    columns = ("family system framework dtype kv_dtype m n k batch q_len kv_len heads kv_heads head_dim tokens hidden inter topk "
               "experts tp ep bytes ranks latency_us").split()
    chosen, count = [], {}
    for r in sorted(rows, key=lambda r: zlib.crc32(repr(sorted(r.items())).encode())):
        key = r["family"], r["system"]
        count[key] = count.get(key, 0) + 1
        if count[key] <= 15:
            chosen.append(r)
    with open(EXCERPT, "w", newline="") as f:
        out = csv.DictWriter(f, columns, extrasaction="ignore", lineterminator="\n")
        out.writeheader()
        out.writerows(sorted(chosen, key=lambda r: [r[c] for c in columns]))


main()
