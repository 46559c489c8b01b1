#!/usr/bin/env python3
"""Write the tables of docs/validation-serving.md: errors of the published runs of serving that calc
ships, by group, beside those that others have published.
usage: scripts/make_serving.py [--check] [calc]    --check: fail if the document has others"""
import collections
import difflib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/validation-serving.md"
QUANTITIES = {"tpot": "per output token", "ttft": "first token", "e2e": "static batches",
              "output_tokens_per_s": "output tokens/s"}
RANKED = ("tpot", "e2e", "output_tokens_per_s")
DIMENSIONS = {"source": "source", "engine": "engine", "machine": "machine", "model": "model",
              "regime": "regime", "kind": "kind"}


def percent(value, sign=""):
    return f"{100 * value:{sign}.1f}"


def cell(group):
    """Mean and median of absolute errors, the mean of errors, and of how many."""
    if not group:
        return ""
    return f"{percent(group['mean_abs'])} / {percent(group['median_abs'])} / " \
           f"{percent(group['bias'], '+')} ({group['n']})"


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join("---" if i == 0 else "--:" for i in range(len(head))) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


class Found:
    def __init__(self, data):
        self.rows, self.peers, self.counts = data["rows"], data["peers"], data["counts"]
        self.groups = {(g["by"], g["name"], g["quantity"]): g for g in data["groups"]}

    def names(self, by):
        return sorted({name for dimension, name, _ in self.groups if dimension == by})

    def line(self, label, by, name):
        groups = [self.groups.get((by, name, quantity)) for quantity in QUANTITIES]
        return [label, *map(cell, groups)] if any(groups) else None

    def summary(self):
        lines = [self.line("all", "set", "all"), self.line("high confidence", "confidence", "high"),
                 self.line("2025 and later", "period", "2025 and later"),
                 self.line("before 2025", "period", "before 2025")]
        return table(["runs", *QUANTITIES.values()], filter(None, lines))

    def by(self, dimension):
        lines = (self.line(name, dimension, name) for name in self.names(dimension))
        return table([DIMENSIONS[dimension], *QUANTITIES.values()], filter(None, lines))

    def shape(self):
        names = [("set", "all"), *(("source", name) for name in self.names("source"))]
        lines = [[name, cell(self.groups.get((by, name, "tpot_shape")))] for by, name in names
                 if (by, name, "tpot_shape") in self.groups]
        return table(["source", "mean / median / bias (n)"], lines)

    def ranking(self):
        lines = []
        for quantity in RANKED:
            for by, name in [("set", "all"), *(("source", name) for name in self.names("source"))]:
                group = self.groups.get((by, name, quantity))
                if group and group["pairs"] > 0:
                    lines.append([QUANTITIES[quantity], name, f"{group['kendall_tau']:.2f}",
                                  str(group["pairs"]), str(group["choices"]),
                                  percent(group["regret_mean"])])
        return table(["by", "source", "tau", "pairs", "choices", "regret %"], lines)

    def others(self):
        lines = []
        for peer in self.peers:
            theirs = ", ".join(f"{what} {percent(peer[key])}" for key, what in
                               (("mean_abs", "mean"), ("worst_abs", "worst")) if peer[key] is not None)
            ours = f"{percent(peer['calc_mean_abs'])} ({peer['calc_n']})" if peer["calc_n"] else ""
            lines.append([f"{peer['simulator']}, {peer['machine']}",
                          QUANTITIES.get(peer["quantity"], "shape"), theirs, ours, peer["note"]])
        return table(["who", "what", "published %", "calc %, n", "of it"], lines)

    def left_out(self):
        """Runs, not measurements: by the status and remark of their first one."""
        reasons, seen = collections.Counter(), set()
        for row in self.rows:
            if row["id"] in seen or row["status"] == "scored":
                continue
            seen.add(row["id"])
            remark = re.sub(r": [0-9.]+ of [0-9.]+ GiB", "", row["remark"])
            remark = re.sub(r"^/(inference/)?(\w+): [0-9]+ ", r"`\2` ", remark)
            reasons[row["status"], remark] += 1
        lines = [[remark, status, str(n)] for (status, remark), n in
                 sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
        return table(["why", "status", "runs"], lines)


def tables_of(calc):
    done = subprocess.run([calc, "validate", "serving_runs", "--json", "-"], capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    found = Found(json.loads(done.stdout))
    tables = {"summary": found.summary(), "shape": found.shape(), "ranking": found.ranking(),
              "others": found.others(), "left-out": found.left_out()}
    tables.update((f"by-{dimension}", found.by(dimension)) for dimension in DIMENSIONS)
    return {name: "\n".join(lines) for name, lines in tables.items()}


def filled(text, tables):
    for name, lines in tables.items():
        text, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
                              lambda match, lines=lines: f"{match[1]}{lines}\n{match[2]}", text,
                              flags=re.DOTALL)
        if count != 1:
            sys.exit(f"{DOCUMENT}: {count} places for the table {name}")
    return text


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    calc = next((a for a in arguments if a != "--check"), ROOT / "build/release/bin/calc")
    before = DOCUMENT.read_text(encoding="utf-8")
    after = filled(before, tables_of(calc))
    if not check:
        DOCUMENT.write_text(after, encoding="utf-8")
    elif before != after:
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                                   "the document", "calc"))
        sys.exit("docs/validation-serving.md has other tables: CALC_UPDATE=1")


if __name__ == "__main__":
    main()
