#!/usr/bin/env python3
"""Fit the traits of the serving engines anew to the shipped runs of serving: rewrites them in
executions/engines/*.json, and a table of docs/validation-serving.md. The traits are those of a fit
to half of the layouts; the table has the errors of the other half, and of fits that know no runs of a
publisher, of a machine, of later days. Build and update what follows from it afterwards
(tests/cli/check_engines.sh), and read the difference.
usage: scripts/refit_engines.py [--check] [calc]    --check: fail if the rows are not those of a fit"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = ROOT / "executions/engines"
DOCUMENT = ROOT / "docs/validation-serving.md"
VIEWS = {"model": "the runs of each model", "machine": "the runs on each machine", "engine": "the runs of each engine",
         "source": "each publisher's runs", "later": "the later half of an engine's runs",
         "half": "the other half of the layouts"}
QUANTITIES = ("tpot", "ttft", "e2e", "output_tokens_per_s")


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


def cell(found, quantity, view):
    group = next(g for g in found["groups"] if (g["by"], g["name"]) == ("set", "all")
                 and g["quantity"] == quantity).get(view)
    return "" if not group else f"{100 * group['mean_abs']:.1f} / {100 * group['median_abs']:.1f} / " \
        f"{100 * group['bias']:+.1f} ({group['n']})"


def table(calc, half):
    yield "| predicted by a fit without them | per output token | first token | static batches | their tokens/s |"
    yield "|---|--:|--:|--:|--:|"
    found = {cross: half if cross == "half" else calibrate(calc, cross) for cross in VIEWS}
    lines = {**{VIEWS[cross]: (found[cross], "unseen") for cross in VIEWS},
             "nothing: the first half itself": (half, "fitted")}
    for label, (data, view) in lines.items():
        yield f"| {label} | " + " | ".join(cell(data, q, view) for q in QUANTITIES) + " |"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    calc = str(pathlib.Path(arguments[0] if arguments else ROOT / "build/release/bin/calc").resolve())
    half = calibrate(calc, "half")
    if "--check" in sys.argv:
        check(fitted(half))
        return
    text = DOCUMENT.read_text()
    made = "<!-- unseen -->\n" + "\n".join(table(calc, half)) + "\n<!-- /unseen -->"
    DOCUMENT.write_text(re.sub(r"<!-- unseen -->.*<!-- /unseen -->", lambda _: made, text, flags=re.S))
    write(fitted(half), undetermined(half))


main()
