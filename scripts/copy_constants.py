#!/usr/bin/env python3
"""Machines that no run was fitted to have the constants of another one, which their source names ("No run was fitted: ... are
those of NAME"). Copy these anew in systems/, after the other one was calibrated; but networks and `sustained` are their own.
golden/check_catalogue fails while one differs."""
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent / "systems"
NAMED = re.compile(r"No run was fitted: [^.]*are those of (\w+)")
# Lines of a file, each an object or a number, that calc calibrate fits; and the share of a peak in others.
WHOLE = ("attention", "grouped", "launch", "host", "overlap", "eager_traffic", "expert_activation_traffic", "quantize_bytes",
         "block_scaled_efficiency", "permute_efficiency", "optimizer_efficiency", "step_overhead", "straggler_growth")
NUMBER = r"-?[0-9][0-9.e+-]*"


def replaced(line, key, of):
    """A line with the numbers of the same line of the other machine, as far as both have them."""
    for name in [key, *(json.loads("{%s}" % line.strip().rstrip(","))[key] if "{" in line else ())]:
        other = re.search(rf'"{name}": ({NUMBER})', of)
        if other:
            line = re.sub(rf'("{name}": ){NUMBER}', rf"\g<1>{other[1]}", line)
    return line


def placed(lines):
    """Lines with the key of the file and their own."""
    part = ""
    for line in lines:
        key = re.match(r'( *)"(\w+)"', line)
        part = key[2] if key and len(key[1]) == 2 else part
        yield (part, key and key[2]), line


def main():
    for file in sorted(ROOT.glob("*.json")):
        lines = file.read_text().splitlines(keepends=True)
        of = NAMED.search(lines[-2])
        if not of:
            continue
        theirs = dict(placed((ROOT / f"{of[1]}.json").read_text().splitlines()))
        for i, (place, line) in enumerate(placed(lines)):
            part, other = place[0], theirs.get(place, "")
            if part in WHOLE:
                lines[i] = replaced(line, part, other)
            share = re.search(rf'"(?:gflops|MB)_efficiency": (\[\[0, {NUMBER}\]\])', other)
            if share and part in ("matrix", "mem1"):
                lines[i] = re.sub(r'("(?:gflops|MB)_efficiency": )\[\[.*\]\]', rf"\g<1>{share[1]}", line)
        file.write_text("".join(lines))


if __name__ == "__main__":
    main()
