#!/usr/bin/env python3
"""Is calc's advice for servers right? Of the measured runs of serving engines
(tests/measured/serving_runs.csv.gz) those of one campaign that differ in their layout alone answer a
question: which layout has the most tokens/s for each processor, if none may take longer than so many
milliseconds? calc is asked the same, of eight processors: how it would split them. --docs writes the table of
docs/studies.md."""
import argparse
import collections
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/studies.md"
BEGIN = "<!-- serving: scripts/make_serving_advice.py -->\n"
END = "<!-- /serving -->\n"
PROCS = 8
CLOSE = 0.95  # of the fastest: as good
# What a reader knows: the model, the machine, the engine, formats, requests.
KNOWN = ("app", "sys", "inference.engine", "weight_dtype", "kv_dtype", "isl", "osl",
         "inference.prompt_spread", "inference.generate_spread")
FORMATS = {
    "bf16": ["weight_datatype=bfloat16"],
    "fp8": ["weight_datatype=float8", "matrix_datatype=float8"],
    "fp8 (block)": ["weight_datatype=float8", "matrix_datatype=float8", "scaling=block"],
    "fp4": ["weight_datatype=float4", "matrix_datatype=float4"],
}
# What belongs to the runs alone: publisher and month, between which software and settings change.
CAMPAIGN = (("publisher", None), ("published", len("2026-01")))


def read_questions():
    """Of each question the runs that answer it: those of two layouts and more, without drafts, of one
    server, and with times that calc validate scores (others have drafts unsaid, for example)."""
    with (ROOT / "tests/measured/serving_results.csv").open() as file:
        scored = {row["id"] for row in csv.DictReader(file)
                  if (row["quantity"], row["status"]) == ("tpot", "scored")}
    questions = collections.defaultdict(list)
    with gzip.open(ROOT / "tests/measured/serving_runs.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            procs = int(row["num_gpus"] or 0)
            if (row["inference.engine"] and row["weight_dtype"] in FORMATS and 0 < procs <= PROCS
                    and row["id"] in scored and row["ttft_ms"] and not (
                        row["disagg_prefill_gpus"] or row["request_rate"] or float(row["drafts"] or 0))):
                split = 1 if row["dp_attention"] == "True" else int(row["tp"])
                tpot_ms, answer = float(row["tpot_or_itl_ms"]), float(row["osl"])
                rate = row["output_tokens_per_s_total"] or (  # of closed clients
                    1e3 * answer * float(row["concurrency_or_batch"])
                    / (float(row["ttft_ms"]) + (answer - 1) * tpot_ms))
                asked = *(row[key] for key in KNOWN), *(row[key][:size] for key, size in CAMPAIGN)
                questions[asked].append(((procs, split, max(1, int(row["ep"] or 1))), tpot_ms,
                                         float(rate) / procs))
    return {key: runs for key, runs in questions.items() if len({run[0] for run in runs}) > 1}


def asked_of(calc, question, most_ms, only=None):
    """The layout to start with: processors of a replica, those that split attention, ranks that share
    experts, stages; and its tokens/s and processor. `only`: a layout as in read_questions()."""
    app, machine, engine, weights, cache, prompt, answer, *spread = question[:len(KNOWN)]
    procs, *sizes = only or (PROCS,)
    words = ["phase=serve", f"isl={round(float(prompt))}", f"osl={round(float(answer))}",
             f"engine={engine}", *FORMATS[weights],
             *(f"{key}={value}" for key, value in zip(KNOWN[-2:], spread) if value),
             *(["inference.kv_datatype=float8"] if cache == "fp8" else []),
             *(f"{key}={value}" for key, value in zip(("tensor_par", "expert_par"), sizes)),
             *(["pipeline_par=1"] if only else [])]
    env = {**os.environ, "CALC_PATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        best = pathlib.Path(folder) / "best.json"
        done = subprocess.run(
            [calc, "sweep", app, machine, "--procs", str(procs),
             *(word for setting in words for word in ("--set", setting)),
             "--where", f"tpot <= {most_ms}ms", "--save-best", best, "--progress", "none"],
            capture_output=True, text=True, env=env)
        if done.returncode == 1:
            return None, 0  # nothing meets it
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(question)}: {done.stderr}")
        ran = json.loads(subprocess.run([calc, "run", app, machine, best, "--json", "-"],
                                        capture_output=True, text=True, check=True, env=env).stdout)
    exe = ran["execution"]
    split, stages = exe["tensor_par"], exe["pipeline_par"]
    experts = max(1, exe.get("expert_par", 1))
    spread = experts * max(1, exe.get("expert_tensor_par", 1))
    return ((stages * max(split, spread), split, experts, stages),
            ran["stats"]["output_tokens_per_s_per_proc"])


def words_of(procs, split, experts, stages=1):
    """A layout in words."""
    words = [f"tp {split}"]
    if split * stages < procs:
        words.append(f"{procs // stages // split} replicas of attention")
    return ", ".join([*words, *([f"ep {experts}"] if experts > 1 else []),
                      *([f"pp {stages}"] if stages > 1 else [])])


def limit_of(layouts):
    """The limit, in ms, about which most layouts have runs on both sides: the middle of the lowest such
    range."""
    times = sorted(run[0] for runs in layouts for run in runs)
    around = [sum(min(runs)[0] <= low and high <= max(runs)[0] for runs in layouts)
              for low, high in zip(times, times[1:])]
    first = around.index(max(around))
    last = next((i for i in range(first, len(around)) if around[i] < around[first]), len(around))
    return round((times[first] + times[last]) / 2, 1)


def rate_at(runs, most_ms):
    """Tokens/s and processor of one layout within a limit, between two of its runs; None: they are all
    on one side of it."""
    runs = sorted(runs)
    within = sum(run[0] <= most_ms for run in runs)
    if within in (0, len(runs)):
        return None
    (low_ms, low), (high_ms, high) = runs[within - 1:within + 1]
    return max(*(run[1] for run in runs[:within]),
               low + (high - low) * (most_ms - low_ms) / (high_ms - low_ms))


def judge(calc, question, runs):
    """A question, its answer by measurement and by calc, also among the layouts measured. `own`: the
    measured rate of the start, None if it was not measured; `picked`: that of the choice."""
    of_layout = collections.defaultdict(list)
    for layout, tpot_ms, rate in runs:
        of_layout[layout].append((tpot_ms, rate))
    most_ms = limit_of(list(of_layout.values()))
    best = {layout: rate for layout, own in of_layout.items() if (rate := rate_at(own, most_ms))}
    if len(best) < 2:
        return None
    start, rate = asked_of(calc, question, most_ms)
    fastest = max(best, key=best.get)
    said = {layout: asked_of(calc, question, most_ms, layout)[1] for layout in best}
    choice = max(said, key=said.get)
    return {"ms": most_ms, "fastest": fastest, "most": best[fastest], "start": start, "rate": rate,
            "own": best.get(start[:3]) if start and start[3] == 1 else None,
            "choice": choice, "picked": best[choice], "best": best, "said": said}


def summary_of(results):
    """Questions; the layouts picked of those measured that are as good as the fastest, and what they
    lose, in %: mean and median; then the same of the starts that were measured, with their number."""
    cells = [len(results)]
    for rates in ([r["picked"] for r in results], [r["own"] for r in results]):
        known = [(rate, r["most"]) for rate, r in zip(rates, results) if rate is not None]
        lost = [100 * (1 - rate / most) for rate, most in known]
        cells += [len(known), sum(rate >= CLOSE * most for rate, most in known),
                  *((f"{of(lost):.1f}" if lost else "-") for of in (statistics.mean, statistics.median))]
    return cells[:1] + cells[2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calc", help="the command under test")
    parser.add_argument("--jobs", type=int, default=1, help="questions at a time")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/studies.md")
    options = parser.parse_args()
    questions = read_questions()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judged = pool.map(lambda item: judge(options.calc, *item), questions.items())
        results = {key: r for key, r in zip(questions, judged) if r}
    print("model, machine, engine, weights, tokens, ms: fastest measured; start, measured; by calc; "
          "each measured layout, by calc")
    groups = collections.defaultdict(list)
    for key, r in results.items():
        groups[key[:4]].append(r)
        own = "not measured" if r["own"] is None else f"{r['own']:,.0f}"
        start = words_of(*r["start"]) if r["start"] else "none"
        each = "; ".join(f"{words_of(*layout)}{'*' * (layout == r['choice'])} {r['best'][layout]:,.0f}, "
                         f"{said:,.0f}" for layout, said in r["said"].items())
        print(f"{' '.join(key[:4])}, {float(key[5]):.0f}/{float(key[6]):.0f}, {r['ms']:.4g}: "
              f"{words_of(*r['fastest'])} {r['most']:,.0f}; {start}, {own}; {r['rate']:,.0f} | {each}")
    groups["**all**", "", "", ""] = list(results.values())
    table = ("| model | machine | engine | weights | questions | pick as good | loses, mean % | median "
             "| start measured | as good | loses, mean % | median |\n"
             "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
    for key, own in groups.items():
        table += f"| {' | '.join((*key, *map(str, summary_of(own))))} |\n"
    print(table)
    if options.docs:
        text = PAGE.read_text()
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:begin] + table + text[end:])


if __name__ == "__main__":
    main()
