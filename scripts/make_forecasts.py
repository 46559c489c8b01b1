#!/usr/bin/env python3
"""Write tests/measured/forecasts.csv: for each month, the forecasts of all runs published since by constants fitted to what
was published before, from what `calc calibrate --hold-out MONTH --json` wrote.
usage: scripts/make_forecasts.py MONTH.json..."""
import csv
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    with open(ROOT / "tests/measured/forecasts.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", "before", "forecast"])
        for path in map(pathlib.Path, sorted(sys.argv[1:])):
            for run in json.loads(path.read_text())["runs"]:
                if run["held_out"] and run["fitted_s"]:
                    value = math.log(run["measured_s"] / run["fitted_s"])
                    out.writerow([run["id"], path.stem, f"{value:.4f}"])


main()
