#!/usr/bin/env python3
"""Fit the traits of the serving engines anew to the shipped runs of serving: rewrites
src/model/serve/engine_rows.inc and a table of docs/validation-serving.md. The traits are those of a fit
to half of the layouts; the table has the errors of the other half, and of fits that know no runs of a
publisher, of a machine, of later days. Build and update what follows from it afterwards
(tests/cli/check_serving.sh), and read the difference.
usage: scripts/refit_engines.py [--check] [calc]    --check: fail if the rows are not those of a fit"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "src/model/serve/engine_rows.inc"
DOCUMENT = ROOT / "docs/validation-serving.md"
HEAD = """/* Traits of serving engines, fitted to half of the measured runs of serving; scripts/refit_engines.py
 * writes them. */
/* clang-format off */
"""
FIELDS = {"host": "host_s", "host_sequence": "host_sequence_s", "host_growth": "host_growth",
          "issue": "issue_s", "issue_moe": "issue_moe_s", "request": "request_s", "gap": "gap_s",
          "matrix_share": "matrix_share", "cache_share": "cache_share",
          "experts_undivided": "experts_undivided", "handover_steps": "handover_steps"}
# Too few runs to say anything: those of the nearest engine that has enough. Engines that have none
# at all keep their row.
NEAREST = {"vllm-0.8": "vllm-0.11"}
VIEWS = {"half": "the other half of the layouts", "source": "each publisher's runs",
         "machine": "the runs on each machine", "later": "the later half of an engine's runs"}
QUANTITIES = ("tpot", "ttft", "e2e", "output_tokens_per_s")


def calibrate(calc, cross):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([calc, "calibrate", "serving_runs", "--start", "documented", "--cross", cross,
                        "--json", file.name], check=True, cwd=ROOT,
                       stdout=subprocess.DEVNULL)
        return json.load(open(file.name))


def fitted(found):
    traits = {e["engine"]: e["traits"] for e in found["engines"]}
    return traits | {name: traits[nearest] for name, nearest in NEAREST.items()}


def macro(name):
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def rows(traits):
    yield HEAD
    fit = {macro(name): {FIELDS[k]: v for k, v in of.items()} for name, of in traits.items()}
    for name, of in sorted((shipped() | fit).items()):
        values = ", ".join(f".{field} = {value:g}" for field, value in of.items())
        yield f"[CALC_SERVING_ENGINE_{name}] = {{{values}}},\n"
    yield "/* clang-format on */\n"


def shipped():
    return {m[1]: {k: float(v) for k, v in re.findall(r"\.(\w+) = ([^,}]+)", m[2])}
            for m in re.finditer(r"\[CALC_SERVING_ENGINE_(\w+)\] = \{(.*)\}", ROWS.read_text())}


def check(traits):
    """Compilers round differently, and traits that runs say little about move with that: a fifth."""
    now = shipped()
    wrong = [f"{name} {field}: {now.get(macro(name), {}).get(FIELDS[field])}, fitted {value}"
             for name, values in traits.items() for field, value in values.items()
             if abs(now.get(macro(name), {}).get(FIELDS[field], 0) / value - 1) > 0.2]
    if wrong:
        print("\n".join(wrong), f"{ROWS.name} has other traits than a fit: scripts/refit_engines.py",
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
    lines = {"nothing: the first half itself": (half, "fitted"),
             **{VIEWS[cross]: (found[cross], "unseen") for cross in VIEWS}}
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
    ROWS.write_text("".join(rows(fitted(half))))


main()
