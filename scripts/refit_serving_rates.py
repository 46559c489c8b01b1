#!/usr/bin/env python3
"""Fit the rates of serving of machines whose kernels nobody measured to the runs on them: coordinate descent
over the constants, with the engines fitted anew at every step (calc calibrate), to the half of the
layouts that scripts/refit_engines.py fits to. Prints the errors of both halves before and after, and
rewrites systems/. Machines that commas join share their constants. Takes some minutes.
usage: scripts/refit_serving_rates.py MACHINE[,MACHINE...]... [--calc CALC]   as shipped: mi300x,mi325x mi355x"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What runs of DeepSeek-R1 and of dense models say something about; the rest stays.
FITTED = {"matrix": ("memory_efficiency", "fixed", "efficiency", "efficiency_8bit", "efficiency_4bit"),
          "grouped": ("memory_efficiency", "fixed", "efficiency_8bit", "efficiency_4bit"),
          "decode": ("memory_efficiency", "fixed"), "prefill": ("efficiency",),
          "all_reduce": ("fixed", "two_shot_efficiency"), "vector": ("fixed",)}
WEIGHT = {"tpot": 1, "ttft": 1 / 3, "e2e": 0.5}  # of errors; whole static batches are many, and of one model of engines
PRIOR = 0.3  # of a squared logarithm, over the start: what the errors of so many runs weigh
FIRST, LAST = 0.15, 0.04  # steps of a logarithm
MOST = {"memory_efficiency": 0.85}  # no kernel was measured beyond


def put(folder, groups, x):
    for group in groups:
        for machine in group:
            path = folder / f"systems/{machine}.json"
            text = path.read_text()
            for (first, family, name), value in x.items():
                if first == group[0]:
                    text = re.sub(rf'("{family}": \{{[^}}]*"{name}": )[-0-9.e+]+', rf"\g<1>{value:.3g}", text, count=1)
            path.write_text(text)


def errors(calc, folder, groups):
    out = folder / "found.json"
    subprocess.run([calc, "calibrate", "serving_runs", "--start", "documented", "--cross", "half", "--json", out,
                    "--system", ",".join(m for g in groups for m in g)], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"CALC_PATH": f"{folder}:{ROOT}"})
    return [g for g in json.loads(out.read_text())["groups"] if g["by"] == "machine" and g["quantity"] in WEIGHT]


def show(title, found):
    for g in found:
        views = (f"{v} {100 * g[v]['mean_abs']:.1f} % of {g[v]['n']}" for v in ("fitted", "unseen") if g.get(v))
        print(f"{title} {g['name']} {g['quantity']}: {', '.join(views)}", flush=True)


def main():
    arguments = sys.argv[1:]
    calc = ROOT / "build/release/bin/calc"
    if "--calc" in arguments:
        at = arguments.index("--calc")
        calc = pathlib.Path(arguments[at + 1]).resolve()
        del arguments[at:at + 2]
    groups = [a.split(",") for a in arguments]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "systems").mkdir()
        for machine in (m for g in groups for m in g):
            shutil.copy(ROOT / f"systems/{machine}.json", folder / "systems")
        x = {}
        for group in groups:
            rates = json.loads((folder / f"systems/{group[0]}.json").read_text())["serving"]
            x |= {(group[0], f, n): rates[f][n] for f, names in FITTED.items() for n in names if n in rates[f]}
        start, step = dict(x), dict.fromkeys(x, FIRST)

        def cost(x):
            put(folder, groups, x)
            sum_of = sum(WEIGHT[g["quantity"]] * g["fitted"]["mean_abs"] * g["fitted"]["n"]
                         for g in errors(calc, folder, groups) if g.get("fitted"))
            return sum_of + PRIOR * sum(math.log(x[k] / start[k]) ** 2 for k in x)

        best = cost(x)
        show("before:", errors(calc, folder, groups))
        while max(step.values()) > LAST:
            for k in (k for k in x if step[k] > LAST):
                for sign in (1, -1):
                    tried = x | {k: min(x[k] * math.exp(sign * step[k]), MOST.get(k[2], 0.95))}
                    found = cost(tried) if tried != x else best
                    if found < best - 0.01:
                        best, x = found, tried
                        break
                else:
                    step[k] /= 2
        put(folder, groups, x)
        show("after:", errors(calc, folder, groups))
        put(ROOT, groups, x)


main()
