#!/usr/bin/env python3
"""Write the tables and the picture of docs/tune.md: what calc tune is worth on published runs and on
truths that are not drawn from its prior. Takes some ten minutes.
usage: scripts/make_tune.py [BUILD FOLDER]"""
import csv
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release")
PAGE = ROOT / "docs/tune.md"
PICTURE = ROOT / "docs/tune.svg"
AFTER = (1, 2, 3, 5, 10)
DRAWN = {"improvement": "#4ba3c3", "order": "#c2410c"}
CHOOSERS = ("improvement", "order")
FOREIGN = (("111", "120", "narrow"), ("91", "110"))


def percent(share, places=2):
    return f"{100 * float(share):.{places}f}"


def study(*words):
    out = subprocess.run([BUILD / "tests/bench/study_tune", *words], capture_output=True, text=True, check=True,
                         env=os.environ | {"CALC_PATH": str(ROOT)})
    rows = {}
    for row in csv.reader(out.stdout.splitlines()):
        rows.setdefault(row[0], []).append(row[1:])
    return rows


# ---- Tables --------------------------------------------------------------------------------------


def regret_table(rows):
    regret = {(r[0], r[1], int(r[3])): r for r in rows["regret"]}
    needed = {(r[0], r[1]): r for r in rows["needed"]}
    lines = ["| chooser | " + " | ".join(f"after {n}" for n in AFTER) + " | until within 1 % |",
             "|---|" + "--:|" * (len(AFTER) + 1)]
    for chooser in CHOOSERS:
        cells = [f"{percent(regret['all', chooser, n][4])} ({percent(regret['all', chooser, n][5], 1)})"
                 for n in AFTER]
        lines.append(f"| `{chooser}` | " + " | ".join(cells) + f" | {float(needed['all', chooser][3]):.2f} |")
    return lines


def publisher_table(rows):
    regret = {(r[0], r[1], int(r[3])): r for r in rows["regret"]}
    names = list(dict.fromkeys(r[0] for r in rows["regret"]))
    lines = ["| publisher | sets | `improvement`: after 1 | 2 | 3 | 5 | `order`: after 1 | 2 | 3 | 5 |",
             "|---|--:|" + "--:|" * 8]
    for name in names:
        cells = [percent(regret[name, chooser, n][4]) for chooser in ("improvement", "order") for n in (1, 2, 3, 5)]
        lines.append(f"| {name} | {regret[name, 'order', 1][2]} | " + " | ".join(cells) + " |")
    return lines


def calibration_table(rows):
    lines = ["| it said | times | on average | was the fastest |", "|---|--:|--:|--:|"]
    for low, count, said, right in rows["best"]:
        lines.append(f"| {10 * int(low)} to {10 * int(low) + 10} % | {count} | {percent(said, 1)} % | "
                     f"{percent(right, 1)} % |")
    return lines


def pairs_table(rows):
    """Order of two layouts, as sure as it was said to be; with the publisher's own runs left out of what is known.
    Beside it runs that nothing was fitted to."""
    lines = ["| it said | pairs | on average | were in that order | of runs never fitted: pairs | on average | were in that order |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    bounds = (50, 60, 75, 90, 95, 100)
    known = {(row[0], int(row[1])): row[2:] for row in rows["order"]}
    for low in range(len(bounds) - 1):
        cells = [f"{count} | {percent(said, 1)} % | {percent(right, 1)} %"
                 for count, said, right in (known["all", low], known["unfitted", low])]
        lines.append(f"| {bounds[low]} to {bounds[low + 1]} % | " + " | ".join(cells) + " |")
    return lines


def choice_table(rows):
    """Mean regret of a publisher's sets where the simplest of several layouts is taken instead of the best predicted."""
    rules = [rule for rule in dict.fromkeys(row[1] for row in rows["choice"])]
    lines = ["| publisher | sets | " + " | ".join("best predicted" if r == "best" else r for r in rules) + " |",
             "|---|" + "--:|" * (len(rules) + 1)]
    for name in dict.fromkeys(row[0] for row in rows["choice"]):
        of = {row[1]: row for row in rows["choice"] if row[0] == name}
        if len({row[3] for row in of.values()}) > 1 or int(of["best"][2]) >= 10:
            lines.append(f"| {name} | {of['best'][2]} | " + " | ".join(percent(of[r][3]) for r in rules) + " |")
    return lines


def band_table(rows):
    shown = [row for row in rows["band"] if int(row[0]) <= 5]
    return ["| measured before | " + " | ".join(row[0] for row in shown) + " |",
            "|---|" + "--:|" * len(shown),
            "| inside P5 to P95 | " + " | ".join(percent(row[2], 0) + " %" for row in shown) + " |"]


def prior_table(rows):
    lines = ["| error of | standard deviation |", "|---|--:|"]
    lines += [f"| {','.join(what)} | {percent(sd, 1)} % |" for *what, sd in rows["prior"]]
    lines += [f"| memory: {','.join(what)} | {percent(sd, 1)} % |" for *what, sd in rows["memory"]]
    return lines


# ---- The picture ---------------------------------------------------------------------------------


def picture(rows):
    wide, high, left, top = 640, 300, 60, 20
    right, bottom = wide - 150, high - 40

    def x(n):
        return left + (right - left) * (n - 1) / 9

    def y(share):
        low, most = math.log(0.0003), math.log(1)
        return bottom - (bottom - top) * (math.log(max(share, 0.0003)) - low) / (most - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{wide}" height="{high}" fill="#fff"/>']
    for share in (0.001, 0.01, 0.1, 1):
        out.append(f'<line x1="{left}" x2="{right}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:g} %</text>')
    for n in range(1, 11):
        out.append(f'<text x="{x(n):.1f}" y="{bottom + 18}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{(left + right) / 2}" y="{high - 6}" text-anchor="middle">layouts measured</text>')
    placed = []
    for chooser, colour in DRAWN.items():
        mean = [float(r[5]) for r in rows["regret"] if r[0] == "all" and r[1] == chooser]
        points = " ".join(f"{x(n + 1):.1f},{y(value):.1f}" for n, value in enumerate(mean))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = y(mean[2])
        placed.append((at, chooser, colour))
    for i, (_, chooser, colour) in enumerate(sorted(placed)):
        out.append(f'<rect x="{right + 16}" y="{top + 20 * i}" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{right + 34}" y="{top + 20 * i + 10}">{chooser}</text>')
    return "\n".join(out + ["</svg>", ""])


# ---- Truths that are not the prior's ------------------------------------------------------------


def foreign_table():
    """Truths that are not drawn from the prior. A run ends where it says stop."""
    lines = ["| seeds | spaces | chooser | mean regret after 5 | 10 | 20 | stopped by itself | of these more than 1 % above the best |",
             "|---|---|---|--:|--:|--:|--:|--:|"]
    for seeds in FOREIGN:
        rows = study("foreign", *seeds)["foreign"]
        for chooser in ("improvement", "order", "oracle"):
            ended, regret = [], {n: [] for n in (5, 10, 20)}
            for _, _, _, _, name, stopped, *found in rows:
                if name != chooser:
                    continue
                found = [min(float(r), 1) for r in found]
                if int(stopped) > 0:
                    found = found[:int(stopped)]
                    ended.append(found[-1])
                for n in regret:
                    regret[n].append(found[min(n, len(found)) - 1])
            cells = [percent(sum(regret[n]) / len(regret[n])) for n in regret]
            cells += ["", ""] if chooser != "improvement" else [f"{len(ended)} of {len(regret[20])}",
                                                          f"{sum(r > 0.01 for r in ended)}"]
            lines.append(f"| {seeds[0]} to {seeds[1]} | {'narrow' if 'narrow' in seeds else 'default'}{', heavy tails' if 'heavy' in seeds else ''} | `{chooser}` | " + " | ".join(cells) + " |")
    return lines


def put(text, name, lines):
    pattern = re.compile(rf"(<!-- {name}: scripts/make_tune.py -->\n).*?(<!-- /{name} -->)", re.S)
    assert pattern.search(text), name
    return pattern.sub(lambda m: m[1] + "\n".join(lines) + "\n" + m[2], text)


def main():
    rows = study()
    text = PAGE.read_text()
    for name, make in (("regret", regret_table), ("publishers", publisher_table),
                       ("calibration", calibration_table), ("pairs", pairs_table), ("choices", choice_table), ("bands", band_table), ("prior", prior_table)):
        text = put(text, name, make(rows))
    PICTURE.write_text(picture(rows))
    PAGE.write_text(text)
    PAGE.write_text(put(PAGE.read_text(), "foreign", foreign_table()))


main()
