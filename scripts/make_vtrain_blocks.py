#!/usr/bin/env python3
"""Measured blocks of vTrain's single node (tests/measured/vtrain_blocks.csv), derived from the steps of its runs.
usage: scripts/make_vtrain_blocks.py CALC [LAYERS,...] > tests/measured/vtrain_blocks.csv

CALC is the program; LAYERS are the numbers of layers of the runs to use, 12 and 24 if absent. Each combination of width,
micro-batch and tensor parallelism gets the time of a block, forward and backward, with which calc reproduces its runs
best: the one with the least sum of relative errors. All but the blocks (embedding, head, pipeline, reduction, optimizer) is
calc's own account, so the times are those of blocks as far as that account is right."""
import collections
import csv
import gzip
import io
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "tests/measured/runs_vtrain_single.csv.gz"
KEYS = ("hidden", "microbatch_size", "tensor_par")
ROUNDS = 4
APART = 0.01  # relative, of two trial times: steps are piecewise linear in the time of a block


def row_of(key, run, seconds):
    shape = {"microbatch_size": run["microbatch_size"], "seq_size": run["app.seq_size"], "hidden": run["hidden"],
             "feedforward": run["feedforward"], "attn_heads": run["attn_heads"], "tensor_par": run["tensor_par"],
             "activation_recompute": "full", "causal": "true"}
    if run["tensor_par"] != "1":
        shape["tensor_par_overlap"] = "async"
    words = " ".join(f"{name}={value}" for name, value in shape.items())
    return ["vtrain_a100", "block", run["datatype"], words, "time", f"{1e3 * seconds:.5g}", "ms"]


def write_table(out, runs, seconds):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["system", "op", "dtype", "shape", "metric", "value", "unit"])
    for key in sorted(seconds, key=lambda k: [int(x) for x in k]):
        writer.writerow(row_of(key, runs[key][0], seconds[key]))


def predict(calc, runs_file, runs, seconds):
    """Step time of every run with blocks of these times."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        write_table(table, runs, seconds)
        table.flush()
        command = [calc, "validate", runs_file, "--operators", table.name, "--csv", "-"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {r["id"]: float(r["predicted"]) for r in csv.DictReader(io.StringIO(text))}


def weighted_median(pairs):
    pairs = sorted(pairs)
    half = sum(weight for _, weight in pairs) / 2
    for value, weight in pairs:
        half -= weight
        if half <= 0:
            return value
    raise ValueError("no runs")


def main():
    calc = sys.argv[1]
    layers = sys.argv[2].split(",") if len(sys.argv) > 2 else ["12", "24"]
    with gzip.open(RUNS, "rt") as file:
        reader = csv.DictReader(file)
        chosen = [r for r in reader if r["num_blocks"] in layers]
    runs = collections.defaultdict(list)
    for run in chosen:
        runs[tuple(run[k] for k in KEYS)].append(run)
    seconds = {key: 0.02 for key in runs}
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        writer = csv.DictWriter(file, reader.fieldnames, lineterminator="\n")
        writer.writeheader()
        writer.writerows(chosen)
        file.flush()
        for _ in range(ROUNDS):
            low = predict(calc, file.name, runs, seconds)
            high = predict(calc, file.name, runs, {k: s * (1 + APART) for k, s in seconds.items()})
            for key, group in runs.items():
                pairs = []
                for run in group:
                    step, measured = low[run["id"]], float(run["measured_s"])
                    slope = (high[run["id"]] - step) / (APART * seconds[key])
                    pairs.append((seconds[key] + (measured - step) / slope, slope / measured))
                seconds[key] = weighted_median(pairs)
    write_table(sys.stdout, runs, seconds)


if __name__ == "__main__":
    main()
