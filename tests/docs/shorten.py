#!/usr/bin/env python3
"""Write what a command printed, shortened as a document shows it: of each run of lines between lines `...` the lines most
like it, as many. Numbers may have moved.   usage: shorten.py PRINTED SHOWN"""
import difflib
import pathlib
import sys

printed, shown = (pathlib.Path(name).read_text().splitlines() for name in sys.argv[1:])
runs = [[]]
for line in shown:
    if line == "...":
        runs.append([])
    else:
        runs[-1].append(line)


def likeness(run, at):
    """Of a run and the lines printed from a place on; letters count more than numbers."""
    return sum(difflib.SequenceMatcher(None, a, b, False).ratio() + (a == b) for a, b in zip(run, printed[at:at + len(run)]))


at = 0
for i, run in enumerate(runs):
    last = len(printed) - len(run)
    places = [0] if i == 0 else [last] if i + 1 == len(runs) and run else range(at, last + 1)
    at = max(places, key=lambda place: likeness(run, place), default=last)
    for line in (["..."] if i else []) + printed[at:at + len(run)]:
        print(line)
    at += len(run)
