#!/usr/bin/env python3
"""Fit the traits of the serving engines anew to the shipped runs of serving: rewrites them in
executions/engines/*.json, tests/measured/serving_unseen.csv and a table of docs/validation-serving.md.
The traits are those of a fit to half of the layouts; the table has the errors of the other half, and of fits
that know no runs of a publisher, of a machine, of later days; the file has those of models left out, of which
calc why takes its range. Build and update what follows from it afterwards
(tests/cli/check_engines.sh), and read the difference.
usage: scripts/refit_engines.py [--check] [calc]    --check: fail if the rows are not those of a fit"""
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = ROOT / "executions/engines"
RUNS = ROOT / "tests/measured/serving_runs.csv.gz"
UNSEEN = ROOT / "tests/measured/serving_unseen.csv"
DOCUMENT = ROOT / "docs/validation-serving.md"
VIEWS = {"model": "the runs of each model", "machine": "the runs on each machine", "engine": "the runs of each engine",
         "source": "each publisher's runs", "later": "the later half of an engine's runs",
         "half": "the other half of the layouts"}
HIGH = ("model", "machine")  # of which runs of high confidence have a row, too
QUANTITIES = ("tpot", "ttft", "e2e", "output_tokens_per_s", "tpot_shape")


def calibrate(calc, cross):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([calc, "calibrate", "serving_runs", "--start", "documented", "--cross", cross,
                        "--json", file.name], check=True, cwd=ROOT,
                       stdout=subprocess.DEVNULL)
        return json.load(open(file.name))


def fitted(found):
    return {e["engine"]: e["traits"] for e in found["engines"]}


def undetermined(found):
    return {e["engine"]: {"undetermined": ", ".join(k for k in e["traits"] if k not in e["determined"])}
            for e in found["engines"]}


def write(traits, notes):
    for name, values in traits.items():
        path = ENGINES / f"{name}.json"
        engine = json.loads(path.read_text()) | values | notes[name]
        path.write_text(json.dumps(engine | {"source": engine.pop("source")}, indent=2) + "\n")


def check(traits):
    """Compilers round differently, and traits that runs say little about move with that: a fifth."""
    now = {name: json.loads((ENGINES / f"{name}.json").read_text()) for name in traits}
    wrong = [f"{name} {field}: {now[name].get(field)}, fitted {value}"
             for name, values in traits.items() for field, value in values.items()
             if abs(now[name].get(field, 0) / value - 1) > 0.2]
    if wrong:
        print("\n".join(wrong), "engines have other traits than a fit gives: scripts/refit_engines.py",
              sep="\n")
        sys.exit(1)


def write_unseen(found):
    with gzip.open(RUNS, "rt") as file:
        engines = {r["id"]: r["inference.engine"] for r in csv.DictReader(file)}
    with open(UNSEEN, "w") as file:
        print("id,engine,error", file=file)
        for r in found["runs"]:
            if r["quantity"] == "tpot" and r["unseen"] is not None:
                print(r["id"], engines[r["id"]], f"{r['unseen'] / r['measured'] - 1:.3f}", sep=",", file=file)


def row(found, view, by):
    groups = {g["quantity"]: g.get(view) for g in found["groups"] if (g["by"], g["name"]) == by}
    for quantity in QUANTITIES:
        group = groups.get(quantity)
        yield "" if not group else f"{100 * group['mean_abs']:.1f} / {100 * group['median_abs']:.1f} / " \
            f"{100 * group['bias']:+.1f} ({group['n']})"
    order = groups["tpot"]
    yield f"{order['kendall_tau']:.2f} / {100 * order['regret_mean']:.1f} ({order['pairs']})" if order.get("pairs") else ""


def table(found):
    yield "| predicted by a fit without them | per output token | first token | static batches | their tokens/s | shape " \
        "| order: tau / regret |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    everything, high = ("set", "all"), ("confidence", "high")
    lines = [(VIEWS[cross], found[cross], "unseen", everything) for cross in VIEWS]
    lines[2:2] = [(f"{VIEWS[cross]}, high confidence", found[cross], "unseen", high) for cross in HIGH]
    for label, *of in (*lines, ("nothing: the first half itself", found["half"], "fitted", everything)):
        yield f"| {label} | " + " | ".join(row(*of)) + " |"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    calc = str(pathlib.Path(arguments[0] if arguments else ROOT / "build/release/bin/calc").resolve())
    half = calibrate(calc, "half")
    if "--check" in sys.argv:
        check(fitted(half))
        return
    found = {cross: half if cross == "half" else calibrate(calc, cross) for cross in VIEWS}
    text = DOCUMENT.read_text()
    made = "<!-- unseen -->\n" + "\n".join(table(found)) + "\n<!-- /unseen -->"
    DOCUMENT.write_text(re.sub(r"<!-- unseen -->.*<!-- /unseen -->", lambda _: made, text, flags=re.S))
    write(fitted(half), undetermined(half))
    write_unseen(found["model"])


main()
