#!/usr/bin/env python3
"""Pictures of what `calc validate --json` found, as SVG: predicted over measured times, and errors by table or engine.

usage: plot_validation.py FOUND.json [--parity FILE] [--errors FILE]     FOUND.json: - is standard input
    calc validate my_runs.csv --json - | scripts/plot_validation.py - --parity parity.svg"""
import argparse
import collections
import json
import math
import sys
from xml.sax.saxutils import escape

# Colours that differ for colour-blind readers too (Okabe and Ito 2008), then tints of them.
COLORS = ("#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9 #000000 #8c6d00 #004a75 #8a3d00 #00664b #84496a #999999 #f0b87f "
          "#7fceb9 #b0b0ff").split()
TIMES = ("step_time", "tpot", "e2e")
ROOM = 860 - 630


def head(width, height):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
            '<rect width="100%" height="100%" fill="#fff"/>', '<g fill="#333">']


def colors_of(rows):
    """The machines in the order of their first points; those beyond the 16th share the last colour."""
    machines = collections.Counter(row["machine"] for row in rows)
    return machines, {name: COLORS[min(i, len(COLORS) - 1)] for i, name in enumerate(machines)}


def legend(machines, color, x, y):
    return [f'<circle cx="{x}" cy="{y + 20 * i - 4}" r="5" fill="{color[name]}"/>'
            f'<text x="{x + 12}" y="{y + 20 * i}" fill="#333">{escape(name)} ({count})</text>'
            for i, (name, count) in enumerate(machines.items())]


def point(row, x, y, radius, color, opacity):
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}" fill-opacity="{opacity}">'
            f'<title>{escape(row["id"])}: {100 * row["error"]:+.1f} %</title></circle>')


def parity(rows, serves):
    left, top, side = 70, 30, 560
    values = [math.log10(row[key]) for row in rows for key in ("measured", "predicted")] or [0]
    low = math.floor(min(values))
    high = max(math.ceil(max(values)), low + 1)
    what = "time per output token, or of a static batch" if serves else "step"

    def x(seconds):
        return left + (math.log10(seconds) - low) / (high - low) * side

    def y(seconds):
        return top + side - (x(seconds) - left)

    svg = head(left + side + ROOM, top + side + 60)
    for decade in range(low, high + 1):
        at = 10.0 ** decade
        svg += [f'<path d="M{x(at):.1f} {top} V{top + side} M{left} {y(at):.1f} H{left + side}" stroke="#ddd"/>',
                f'<text x="{x(at):.1f}" y="{top + side + 18}" text-anchor="middle">{at:g}</text>',
                f'<text x="{left - 8}" y="{y(at) + 4:.1f}" text-anchor="end">{at:g}</text>']
    for factor, style in ((1, 'stroke="#333"'), (1.1, 'stroke="#888" stroke-dasharray="4 3"'), (0.9, 'stroke="#888" stroke-dasharray="4 3"'),
                          (1.25, 'stroke="#bbb" stroke-dasharray="2 4"'), (0.75, 'stroke="#bbb" stroke-dasharray="2 4"')):
        first, last = max(10.0 ** low, 10.0 ** low / factor), min(10.0 ** high, 10.0 ** high / factor)
        svg.append(f'<path d="M{x(first):.1f} {y(first * factor):.1f} L{x(last):.1f} {y(last * factor):.1f}" {style}/>')
    svg += [f'<text x="{left + side // 2}" y="{top + side + 42}" text-anchor="middle">measured {what} [s]</text>',
            f'<text transform="translate(18 {top + side // 2}) rotate(-90)" text-anchor="middle">predicted {what} [s]</text>', "</g>"]
    machines, color = colors_of(rows)
    svg += [point(row, x(row["measured"]), y(row["predicted"]), 3, color[row["machine"]], 0.6) for row in rows]
    return svg + legend(machines, color, left + side + 24, top + 14) + ["</svg>"]


def errors(rows, groups, serves):
    left, top, side, height = 300, 30, 560, 26
    by, most = ("engine", 100) if serves else ("source", 40)
    groups = [group for group in groups if group["by"] == by and group["quantity"] in TIMES]
    bottom = top + height * len(groups)
    what = "per output token, or of a static batch" if serves else "of a step"

    def x(error):
        return left + side * (max(-most, min(most, 100 * error)) + most) / (2 * most)

    svg = head(left + side + 300, bottom + 60)
    for percent in range(-most, most + 1, most // 4):
        svg += [f'<path d="M{x(percent / 100):.1f} {top} V{bottom}" stroke="{"#ddd" if percent else "#333"}"/>',
                f'<text x="{x(percent / 100):.1f}" y="{bottom + 18}" text-anchor="middle">{"+" if percent > 0 else ""}{percent}</text>']
    svg += [f'<text x="{left + side // 2}" y="{bottom + 44}" text-anchor="middle">predicted over measured time {what}, less 1 [%]; '
            "bar: bias, number: mean of absolute errors</text>", "</g>"]
    machines, color = colors_of(rows)
    for number, group in enumerate(groups):
        y = top + height * number + height // 2
        name = group["name"] + (", whole batches" if group["quantity"] == "e2e" else "")
        svg.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end" fill="#333">{escape(name)} ({group["n"]})</text>')
        members = [row for row in rows if row[by] == group["name"] and row["quantity"] == group["quantity"]]
        # A little apart, so that equal ones show.
        svg += [point(row, x(row["error"]), y + i % 5 * 3 - 6, 2.5, color[row["machine"]], 0.5) for i, row in enumerate(members)]
        svg.append(f'<path d="M{x(group["bias"]):.1f} {y - 10} V{y + 10}" stroke="#000" stroke-width="2.5"/>'
                   f'<text x="{left + side + 10}" y="{y + 4}" fill="#333">{100 * group["mean_abs"]:.1f}</text>')
    return svg + legend(machines, color, left + side + 64, top + 14) + ["</svg>"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("found")
    parser.add_argument("--parity")
    parser.add_argument("--errors")
    args = parser.parse_args()
    with sys.stdin if args.found == "-" else open(args.found) as file:
        found = json.load(file)
    rows = [row for row in found["rows"] if row["status"] == "scored" and row["quantity"] in TIMES]
    serves = any("engine" in row for row in rows)
    for path, svg in ((args.parity, lambda: parity(rows, serves)), (args.errors, lambda: errors(rows, found["groups"], serves))):
        if path:
            with open(path, "w") as file:
                file.write("\n".join(svg()) + "\n")


main()
