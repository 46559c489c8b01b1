#!/usr/bin/env python3
"""Write the tables of docs/validation.md and docs/catalogue.md from two calibrations.

usage: refit_tables.py WIDTH.json SOURCE.json BANDS.txt MONTH.txt...

what `calc calibrate --json` wrote with --cross width and with --cross source, what
`calc validate --show band --worst 0` printed, and `calc calibrate --hold-out MONTH` for each month, with what
--json wrote, MONTH.json, beside it
"""
import csv
import json
import os
import re
import sys

COLUMNS = ["A100", "H100", "Blackwell", "910B"]
UNITS = [(1, "s"), (1e-3, "ms"), (1e-6, "µs")]


def percent(number):
    return f"{100 * number:.1f}"


def errors_table(width, source):
    lines = [
        "| table | runs | assumed | fitted: bias | mean | median | p90 | unseen width | unseen source |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    elsewhere = {group["name"]: group for group in source["groups"] if group["by"] == "set"}
    for group in width["groups"]:
        if group["by"] != "set":
            continue
        fitted = group["fitted"]
        cells = [
            group["name"],
            str(group["n"]),
            percent(group["assumed"]["mean_abs"]),
            f"{100 * fitted['bias']:+.1f}",
            percent(fitted["mean_abs"]),
            percent(fitted["median_abs"]),
            percent(fitted["p90_abs"]),
            percent(group["unseen"]["mean_abs"]),
            percent(elsewhere[group["name"]]["unseen"]["mean_abs"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def quantity(value, unit):
    if unit == "s":
        scale, name = next(pair for pair in UNITS if value >= pair[0] or pair[0] == 1e-6)
        return f"{value / scale:.3g} {name}"
    return f"{value:.3g}"


def constant_cell(constant):
    text = quantity(constant["value"], constant["unit"])
    error = constant["relative_error"]
    if error is None:
        return f"({text})"
    spread = f" ± {100 * error:.2g} %"
    return f"**{text}**{spread}" if constant["determined"] else text + spread


def constants_table(width):
    families = {family["name"]: family for family in width["families"]}
    rows = {constant["name"]: {} for constant in families["Blackwell"]["constants"]}
    rows.pop("sustained")
    for column in COLUMNS:
        for constant in families[column]["constants"]:
            # What belongs to one machine is in the table of systems.
            shared = len(constant["machines"]) > 1 or len(families[column]["machines"]) == 1
            if constant["name"] != "sustained" and shared:
                rows.setdefault(constant["name"], {}).setdefault(column, constant)
    lines = ["| field | " + " | ".join(COLUMNS) + " |", "|---|--:|--:|--:|--:|"]
    for name, cells in rows.items():
        texts = [constant_cell(cells[c]) if c in cells else "" for c in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return lines


def bands_table(printed):
    """Coverage of bands: the rows of the printed tables that the documentation shows."""
    shown = {"all": "all", "all but vTrain on one node": "all but vTrain on one node"}
    shown |= {"all high confidence": "all high confidence", "dense": "dense"}
    shown |= {"A100": "A100", "H100": "H100", "Blackwell": "Blackwell", "910B": "910B"}
    shown |= {"MoE": "mixtures of experts"}
    steps, memory = printed.split("step, runs in their bands")[1].split("memory, runs in their bands")
    rows = {}
    for line in steps.splitlines() + [re.sub("^all ", "memory ", memory.splitlines()[2])]:
        cells = re.match(r"(\S.*?) +(\d+) \|([^|]*)\|([^|]*)(?:\|(.*))?$", line)
        if cells:
            width, source, later = (cells[i].split() if cells[i] else [""] * 6 for i in (3, 4, 5))
            rows[cells[1]] = [cells[2], *width[:2], width[4], *source[:2], source[4], *later[:3], later[5]]
    lines = [
        "| runs | n | unseen width: inside | by table | half | unseen publisher: inside | by table | half | later software: n | inside | by table | half |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, title in (shown | {"memory": "memory"}).items():
        lines.append("| " + " | ".join([title, *rows[name]]) + " |")
    return lines


def forecast_table(paths):
    """What constants fitted before a month say of runs published since: high confidence."""
    lines = [
        "| fitted to what was published before | predicted, high confidence | assumed | fitted: mean | dense | mixtures of experts |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for path in sorted(paths):
        with open(path, encoding="utf-8") as file:
            held_out = file.read().split("\nheld out ")[1]
        rows = {}
        for name in ("all high confidence", "- dense", "- mixtures of experts"):
            row = re.search(rf"^{name} +\| *(\d+) +\S+ +(\S+) +\S+ \| *\d+ +\S+ +(\S+) ", held_out, re.M)
            rows[name] = row.groups()
        number, assumed, fitted = rows["all high confidence"]
        month = os.path.splitext(os.path.basename(path))[0]
        cells = [month, number, assumed, fitted, rows["- dense"][2], rows["- mixtures of experts"][2]]
        lines.append("| " + " | ".join(cells) + " |")
    return lines + [each_by_the_last(paths)]


def measured(name):
    with open(f"tests/measured/{name}.csv", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def each_by_the_last(paths):
    """The line of all of these runs, each as of the last month before it was published."""
    runs = {}
    for path in sorted(paths):
        with open(os.path.splitext(path)[0] + ".json", encoding="utf-8") as file:
            runs.update((run["id"], run) for run in json.load(file)["runs"] if run["held_out"] and run["fitted_s"])
    rows, kinds = measured("runs"), measured("residuals")
    sure = [run for run in runs.values() if rows[run["id"]]["confidence"] == "high"]

    def error(key, kind=None):
        errors = [abs(run[key] / run["measured_s"] - 1) for run in sure if kind in (None, kinds[run["id"]]["kind"])]
        return percent(sum(errors) / len(errors))

    cells = [str(len(sure)), error("assumed_s"), error("fitted_s"), error("fitted_s", "dense"), error("fitted_s", "MoE")]
    return "| **each by the last before it** | " + " | ".join(cells) + " |"


def replace(path, header, lines):
    """Put lines in the place of the table that starts with header."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    table = re.compile(re.escape(header) + r"[^\n]*\n(?:\|[^\n]*\n)+")
    if len(table.findall(text)) != 1:
        sys.exit(f"{path}: no table starts with {header}")
    text = table.sub(lambda _: "\n".join(lines) + "\n", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    width, source = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    replace("docs/validation.md", "| table | runs | assumed |", errors_table(width, source))
    with open(sys.argv[3], encoding="utf-8") as file:
        replace("docs/validation.md", "| runs | n | unseen width: inside |", bands_table(file.read()))
    header = "| fitted to what was published before |"
    replace("docs/validation.md", header, forecast_table(sys.argv[4:]))
    replace("docs/catalogue.md", "| field | A100 | H100 |", constants_table(width))
    fitted = sum(
        constant["relative_error"] is not None
        for family in width["families"]
        for constant in family["constants"]
    )
    print(f"{fitted} constants fitted: say so in docs/validation.md")


if __name__ == "__main__":
    main()
