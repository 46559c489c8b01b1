#!/usr/bin/env python3
"""Write tests/measured/unseen_software.csv: how far runs are from predictions by software that no constant was fitted to,
from the tables of such runs and what `calc validate TABLE... --json` wrote of them.
usage: scripts/make_unseen_software.py RESULTS.json TABLE..."""
import csv
import gzip
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BITS = {"float8": 8, "float4": 4, "float32": 32}
COLUMNS = ["id", "source", "publisher", "machine", "family", "kind", "bits", "processors", "unseen_software"]


def main():
    runs = {}
    for table in sys.argv[2:]:
        with (gzip.open(table, "rt") if table.endswith(".gz") else open(table)) as file:
            runs.update((run["id"], run) for run in csv.DictReader(file))
    with open(ROOT / "tests/measured/residuals.csv") as file:
        fitted = {row["source"].split("_")[0] for row in csv.DictReader(file)}
    with open(ROOT / "tests/measured/unseen_software.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for row in json.loads(pathlib.Path(sys.argv[1]).read_text())["rows"]:
            run = runs[row["id"]]
            publisher = run["publisher"] or run["source"]
            seen = run["source"].split("_")[0] in fitted or publisher == "nvidia"
            if row["status"] == "scored" and row["quantity"] == "step_time" and not seen:
                value = math.log(row["measured"] / row["predicted"])
                out.writerow([row["id"], run["source"], publisher, row["machine"], run["family"], row["kind"],
                              BITS.get(row["dtype"], 16), row["gpus"], f"{value:.4f}"])


main()
