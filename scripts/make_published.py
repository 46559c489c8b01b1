#!/usr/bin/env python3
"""Write the table of published layouts beside the best ones to docs/studies.md: each layout of
executions/published.csv, and what a sweep of the same model, machine, processors, batch and software
finds. usage: scripts/make_published.py [FOLDER OF calc]"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALC = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin") / "calc"
BEGIN = "<!-- published: scripts/make_published.py -->\n"
END = "<!-- /published -->\n"
TOP = 1000  # rows that are ranked

# What a layout may choose; everything else of the execution stays as published.
CHOSEN = ("tensor_par pipeline_par data_par tensor_par_net pipeline_par_net data_par_net "
          "context_par_net expert_par_net expert_par microbatch_size pipeline_interleaving "
          "optimizer_sharding zero_stage tensor_par_comm_type seq_par_ag_redo data_par_overlap "
          "pipeline_par_overlap first_stage_blocks last_stage_blocks recompute_blocks").split()
CONTEXT = (1, 2)
LONG = 32768  # tokens from which on every context_par is searched


def calc(*arguments):
    """What calc answers in JSON; it may say that a layout does not fit."""
    done = subprocess.run([CALC, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"calc {' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)


def both(first, second):
    """Values of an axis without repetition."""
    return list(dict.fromkeys((*first, second)))


def space_of(exe, seq):
    """The space file of a published execution."""
    space = {key: value for key, value in exe.items() if key not in CHOSEN}
    modules = "+".join(exe.get("recompute_modules") or []) or "none"
    space["context_par"] = "*" if seq >= LONG else sorted(both(CONTEXT, exe.get("context_par") or 1))
    space["activation_recompute"] = ["none", "full", "modules"]
    space["recompute_modules"] = both(("none", "layernorm"), modules)
    space["tensor_par_overlap"] = both(("none", "async"), exe["tensor_par_overlap"])
    space["pipeline_balance"] = both(("blocks", "ends"), exe.get("pipeline_balance", "blocks"))
    space["pipeline_schedule"] = both(("1f1b",), exe.get("pipeline_schedule", "1f1b"))
    return space


def layout_of(exe):
    """An execution in a few words: 8/16/128 cp2 ep8 il4 mbs1 zero2 layernorm."""
    words = ["/".join(str(exe[key]) for key in ("tensor_par", "pipeline_par", "data_par"))]
    for key, short in (("context_par", "cp"), ("expert_par", "ep"), ("pipeline_interleaving", "il"),
                       ("microbatch_size", "mbs")):
        if exe.get(key, 0) > 1:
            words.append(f"{short}{exe[key]}")
    if exe.get("zero_stage", 0) > 1:
        words.append(f"zero{exe['zero_stage']}")
    if exe.get("pipeline_schedule", "1f1b") != "1f1b":
        words.append(exe["pipeline_schedule"])
    if exe["activation_recompute"] == "modules":
        words.append("+".join(exe["recompute_modules"]))
    elif exe["activation_recompute"] == "full":
        words.append("full")
    return " ".join(words)


def row_of(published, folder):
    """A row of the table."""
    names = published["application"], published["system"]
    settings = [word for change in published["set"].split() for word in ("--set", change)]
    ran = calc("run", *names, published["execution"], *settings, "--json", "-")
    exe, rate = ran["execution"], ran["stats"]["sample_rate"]
    space = pathlib.Path(folder, "space.json")
    space.write_text(json.dumps(space_of(exe, exe.get("seq_size") or ran["application"]["seq_size"])))
    summary = pathlib.Path(folder, "summary.json")
    out = pathlib.Path(folder, "out.json")
    subprocess.run([CALC, "sweep", *names, space, "--objectives", "sample_rate", "--top", str(TOP),
                    "--out", out, "--summary", summary, "--progress", "none", "--verify", "0"],
                   check=True, stdout=subprocess.DEVNULL)
    top = json.loads(out.read_text())["top"]
    total = json.loads(summary.read_text())["counts"]["total"]
    best = top[0]["stats"]["sample_rate"]
    rank = 1 + sum(item["stats"]["sample_rate"] > rate * (1 + 1e-9) for item in top)
    fits = ran["verdict"] == "ok"
    change = f"{100 * (rate / best - 1):+.1f} %" if fits else "does not fit"
    place = f"> {TOP:,}" if rank > TOP else f"{rank:,}"
    return (f"| `{names[0]}` | `{names[1]}` | {exe['num_procs']:,} | {exe['batch_size']:,} "
            f"| {layout_of(exe)} | {rate:.4g} | {layout_of(top[0]['execution'])} | {best:.4g} "
            f"| {place if fits else '-'} of {total:,} | {change} | {published['source']} |\n")


def main():
    rows = list(csv.DictReader((ROOT / "executions/published.csv").open()))
    table = ("| model | machine | procs | batch | published | samples/s | best | samples/s | rank | loss "
             "| source |\n|---|---|--:|--:|---|--:|---|--:|--:|--:|---|\n")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            start = time.monotonic()
            line = row_of(row, folder)
            sys.stderr.write(f"{time.monotonic() - start:.1f} s {line}")
            table += line
    page = ROOT / "docs/studies.md"
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    page.write_text(text[:begin] + table + text[end:])


if __name__ == "__main__":
    main()
