#!/usr/bin/env python3
"""Write tests/measured/unseen_software.csv: how far the times and peaks of memory of runs are from predictions by software that
no constant was fitted to, from the tables of such runs and what `calc validate TABLE... --json` wrote of them, and the memory
of fine-tuning runs (scripts/make_finetune.py).
usage: scripts/make_unseen_software.py CALC RESULTS.json TABLE..."""
import csv
import gzip
import json
import math
import pathlib
import sys

import make_finetune

ROOT = pathlib.Path(__file__).resolve().parent.parent
BITS = {"float8": 8, "float4": 4, "float32": 32}
COLUMNS = ["id", "quantity", "source", "publisher", "machine", "family", "kind", "bits", "processors", "unseen_software"]


def fitted_runs():
    with open(ROOT / "tests/measured/residuals.csv") as file:
        return list(csv.DictReader(file))


def of_validate(results, tables):
    runs = {}
    for table in tables:
        with (gzip.open(table, "rt") if table.endswith(".gz") else open(table)) as file:
            runs.update((run["id"], run) for run in csv.DictReader(file))
    fitted = {row["source"].split("_")[0] for row in fitted_runs()}
    for row in json.loads(pathlib.Path(results).read_text())["rows"]:
        run = runs[row["id"]]
        publisher = run["publisher"] or run["source"]
        seen = run["source"].split("_")[0] in fitted or publisher == "nvidia"
        if row["status"] == "scored" and row["quantity"] in ("step_time", "memory") and not seen:
            yield [row["id"], row["quantity"], run["source"], publisher, row["machine"], run["family"], row["kind"],
                   BITS.get(row["dtype"], 16), row["gpus"], math.log(row["measured"] / row["predicted"])]


def of_finetuning(calc):
    """The peaks of memory that docs/post-training.md compares; a publisher is a program."""
    families = {row["machine"]: row["family"] for row in fitted_runs()}
    with open(ROOT / "tests/measured/finetune.csv", newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), 1):
            try:
                done = make_finetune.predict(row, calc, [])
            except make_finetune.Unsaid:
                continue
            measured, predicted, barred = done["memory"]
            if not barred and not math.isnan(measured):
                program = row["framework"].split()[0].lower()
                machine = make_finetune.MACHINES[row["chip"]]
                yield [f"finetune_{number}_{program}", "memory", "finetune_" + program, program,
                       machine, families.get(machine, machine), "MoE" if "-A" in row["model"] else "dense", 16, row["chips"],
                       math.log(measured / predicted)]


def main():
    calc, results, *tables = sys.argv[1:]
    rows = [*of_validate(results, tables), *of_finetuning(calc)]
    with open(ROOT / "tests/measured/unseen_software.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows([*row[:-1], f"{row[-1]:.4f}"] for row in rows)


main()
