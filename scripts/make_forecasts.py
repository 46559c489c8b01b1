#!/usr/bin/env python3
"""Write tests/measured/forecasts.csv: of each run published since one of the months the forecast by the constants of the
last month before it was published, from what `calc calibrate --hold-out MONTH --json` wrote.
usage: scripts/make_forecasts.py MONTH.json..."""
import csv
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    forecasts = {}
    for name in sorted(sys.argv[1:]):
        found = json.loads(pathlib.Path(name).read_text())
        for run in found["runs"]:
            if run["held_out"] and run["fitted_s"]:
                forecasts[run["id"]] = (pathlib.Path(name).stem, math.log(run["measured_s"] / run["fitted_s"]))
    with open(ROOT / "tests/measured/forecasts.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", "before", "forecast"])
        for run, (month, value) in forecasts.items():
            out.writerow([run, month, f"{value:.4f}"])


main()
