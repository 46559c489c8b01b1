#!/usr/bin/env python3
"""Whether calc's advice is right: each recipe of tests/measured/recipes.csv, a layout that somebody
tuned and published, beside the layout with which `calc sweep` says to start."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECIPES = ROOT / "tests/measured/recipes.csv"
ALIKE = 1 + 1e-9  # rates within it are the same
TOP = 200  # rows in which the first five different sizes are looked for
FORMATS = {
    "bf16": [],
    "fp8": ["matrix_datatype=float8"],
    "mxfp8": ["matrix_datatype=float8", "scaling=block"],
    "fp4": ["matrix_datatype=float4", "scaling=block"],
    "nvfp4": ["matrix_datatype=float4", "scaling=block"],
}
# What a layout chooses; the rest of an execution is software, batch and formats.
SIZES = ("tensor_par", "pipeline_par", "context_par", "expert_par")
CHOSEN = (*SIZES, "data_par", "expert_tensor_par", "microbatch_size", "pipeline_interleaving",
          "zero_stage", "activation_recompute", "recompute_modules", "recompute_blocks",
          "pipeline_balance", "cuda_graph", "dispatch_type", "expert_par_overlap", "grad_datatype")
OFFLOADS = ("weight_offload", "activations_offload", "optimizer_offload")
WHERE_LEGAL = ("tensor_par_comm_type", "tensor_par_overlap", "seq_par_ag_redo", "data_par_overlap",
               "pipeline_par_overlap", "optimizer_sharding")


class Calc:
    """The command under test, and a folder for its files."""

    def __init__(self, path, threads, limit):
        self.path, self.limit = path, limit
        self.env = {**os.environ, "OMP_NUM_THREADS": str(threads), "CALC_PATH": str(ROOT)}

    def run(self, *arguments):
        """What calc answers; a layout that does not fit is an answer (status 1), too."""
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True,
                              env=self.env)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"calc {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def layout(self, recipe, settings, exe, folder, *options):
        """A layout by calc run: verdict, statistics and execution."""
        file = pathlib.Path(folder, "exe.json")
        file.write_text(json.dumps(exe))
        settings = sets([f"app.seq_size={recipe['seq']}", *settings])
        return json.loads(self.run("run", recipe["model"], recipe["chip"], file, *settings,
                                   *options, "--json", "-"))

    def sweep(self, recipe, options, folder):
        """The rows of a sweep, the layout to start with, and counts and time."""
        out, summary, best = (pathlib.Path(folder, name) for name in
                              ("out.json", "summary.json", "best.json"))
        for file in (out, summary, best):
            file.unlink(missing_ok=True)
        self.run("sweep", recipe["model"], recipe["chip"], *options, "--objectives", "sample_rate", "--top", TOP,
                 "--save-best", best, "--out", out, "--summary", summary, "--progress", "none",
                 "--time-limit", self.limit, "--verify", "0")
        rows = json.loads(out.read_text())["top"]
        start = json.loads(best.read_text()) if best.exists() else None
        return rows, start, json.loads(summary.read_text())


def sets(words):
    """Words FIELD=VALUE as options."""
    return [word for change in words for word in ("--set", change)]


def read_recipes():
    """The recipes, with numbers as integers."""
    rows = list(csv.DictReader(RECIPES.open()))
    for row in rows:
        for key in "procs seq batch tp pp cp ep etp vp mbs zero".split():
            row[key] = int(row[key])
        row["measured"] = float(row.pop("measured_tokens_per_s_per_gpu") or "nan")
    return rows


def domain_of(system):
    """Processors that the fastest network of a machine connects."""
    return json.loads((ROOT / f"systems/{system}.json").read_text())["networks"][0]["size"]


def sizes_of(exe):
    """Parallel sizes of an execution."""
    return tuple(max(1, exe.get(key, 1)) for key in SIZES)


def layout_of(exe):
    """An execution in a few words: 8/16/128 cp2 ep8 il4 mbs2 zero3 layernorm."""
    words = ["/".join(str(exe[key]) for key in ("tensor_par", "pipeline_par", "data_par"))]
    for key, short in (("context_par", "cp"), ("expert_par", "ep"), ("pipeline_interleaving", "il"),
                       ("microbatch_size", "mbs")):
        if exe.get(key, 0) > 1:
            words.append(f"{short}{exe[key]}")
    if exe.get("zero_stage", 0) > 1:
        words.append(f"zero{exe['zero_stage']}")
    if exe["activation_recompute"] == "modules":
        words.append("+".join(exe["recompute_modules"]))
    elif exe["activation_recompute"] != "none":
        words.append(exe["activation_recompute"])
    return " ".join(words)


def published_of(recipe, template):
    """The published layout as an execution; `template` has the fields that a recipe does not say."""
    exe = {key: value for key, value in template.items() if key not in CHOSEN}
    replicas = recipe["procs"] // (recipe["tp"] * recipe["pp"] * recipe["cp"])
    exe |= {
        "tensor_par": recipe["tp"], "pipeline_par": recipe["pp"], "context_par": recipe["cp"],
        "data_par": replicas, "microbatch_size": recipe["mbs"],
        "pipeline_interleaving": recipe["vp"],
        "expert_par": recipe["ep"], "expert_tensor_par": recipe["etp"],
        "activation_recompute": recipe["recompute"], **dict.fromkeys(WHERE_LEGAL, "auto"),
        **dict.fromkeys(OFFLOADS, False),
    }
    if recipe["zero"] > 1:
        exe["zero_stage"] = recipe["zero"]
    if recipe["recompute"] not in ("none", "full"):
        exe["activation_recompute"] = "modules"
        exe["recompute_modules"] = recipe["recompute"].split("+")
    return exe


def best_balance(calc, recipe, settings, exe, folder):
    """A layout with the balance of stages that is fastest of those that fit, or of all."""
    balances = ("blocks", "ends", "free") if exe["pipeline_par"] > 1 else ("blocks",)
    answers = [calc.layout(recipe, settings, {**exe, "pipeline_balance": balance}, folder)
               for balance in balances]
    return max(answers, key=lambda answer: (answer["verdict"] == "ok", rate_of(answer)))


def rate_of(answer):
    """Samples per second, also of a layout that is too large; 0 if it is refused."""
    return answer["stats"]["sample_rate"] or 0


def oddities(recipe, exe, sure):
    """What an expert would not do, in words: (refused, odd)."""
    domain = domain_of(recipe["chip"])
    experts = recipe["ep"] > 1
    tensor, stages, context, expert = sizes_of(exe)
    expert_span, published_span = (ep * max(1, etp) for ep, etp in
                                   ((expert, exe.get("expert_tensor_par", 1)),
                                    (recipe["ep"], recipe["etp"])))
    refused = {
        "full recompute": exe["activation_recompute"] == "full" and recipe["recompute"] != "full",
        "PP >= 32": stages >= 32 > recipe["pp"],
        "micro-batch > 32k tokens": exe["microbatch_size"] * recipe["seq"] / context > 32768,
        "FSDP of experts without EP": exe.get("zero_stage", 0) == 3 and experts and expert <= 1,
        "TP across domains": tensor > domain >= recipe["tp"],
        "EP across domains": expert_span > domain >= published_span,
    }
    odd = {
        "chunks > 20": exe["pipeline_interleaving"] > 20,
        "pipeline inside a domain": stages > 1 and recipe["procs"] <= domain and recipe["pp"] == 1,
        "fits < 90 %": sure < 0.9,
    }
    return [[word for word, holds in table.items() if holds] for table in (refused, odd)]


def advice_of(calc, recipe, swept, published, folder):
    """What the answer of a sweep says for a recipe, beside the published rate."""
    rows, start, summary = swept
    ran = calc.layout(recipe, [], start, folder, "--band")
    sure = ran["band"]["fits"] if ran["verdict"] == "ok" else 0
    tokens = recipe["seq"] / recipe["procs"]
    rate, first = rate_of(ran) * tokens, rate_of(rows[0]) * tokens
    refused, odd = oddities(recipe, start, sure)
    sizes = list(dict.fromkeys(sizes_of(row["execution"]) for row in rows))
    own = tuple(recipe[key] for key in ("tp", "pp", "cp", "ep"))
    return {
        "first": layout_of(rows[0]["execution"]), "first_rate": first, "start": layout_of(start), "start_fits": sure,
        "start_rate": rate, "start_rank": 1 + sum(rate_of(row) > rate_of(ran) * ALIKE for row in rows),
        "start_over_measured": rate / recipe["measured"] - 1,
        "start_over_published": rate / published - 1, "regret": first / published - 1,
        "sizes_first": int(sizes[0] == own), "sizes_start": int(sizes_of(start) == own),
        "sizes_among_five": int(own in sizes[:5]), "refused": "; ".join(refused),
        "odd": "; ".join(odd), "layouts": summary["counts"]["total"],
        "seconds": summary["elapsed_s"], "partial": int(summary["partial"]),
    }


def axes_of(recipe):
    """The axes of a sweep to which the software of a recipe is said."""
    modules = [recipe["recompute"]] if recipe["recompute"] not in ("none", "full") else []
    axes = dict(word.split("=") for word in recipe["software"].split())
    if "tensor_par_overlap" in axes:
        axes["tensor_par_overlap"] = "none,async," + axes["tensor_par_overlap"]
    axes["activation_recompute"] = "none,full,modules"
    axes["recompute_modules"] = ",".join(dict.fromkeys(["none", "layernorm", *modules]))
    axes["context_par"] = ",".join(map(str, sorted({1, 2, recipe["cp"]})))
    return [word for axis in axes.items() for word in ("--axis", "=".join(axis))]


def judge(calc, recipe, said, keep):
    """All that is reported of a recipe."""
    typed = ["--procs", recipe["procs"],
             *sets([f"gbs={recipe['batch']}", f"app.seq_size={recipe['seq']}",
                    *FORMATS[recipe["precision"]]])]
    with tempfile.TemporaryDirectory() as folder:
        swept = calc.sweep(recipe, typed, folder)
        if not swept[0]:
            return {"id": recipe["id"], "set": recipe["set"], "error": "no layout fits"}
        if keep:
            pathlib.Path(keep, recipe["id"] + ".json").write_text(json.dumps(swept[1]))
        exe = published_of(recipe, swept[0][0]["execution"])
        plain = best_balance(calc, recipe, [], exe, folder)
        own = best_balance(calc, recipe, recipe["software"].split(), exe, folder)
        tokens = recipe["seq"] / recipe["procs"]
        published = rate_of(own) * tokens
        result = {key: recipe[key] for key in ("id", "set", "model", "chip", "procs", "precision")}
        result |= {
            "published": layout_of(exe), "measured": recipe["measured"], "published_rate": published,
            "measured_over_published": recipe["measured"] / published - 1,
            "fits": int(own["verdict"] == "ok"), "plain_fits": int(plain["verdict"] == "ok"),
            "plain_rate": rate_of(plain) * tokens, **advice_of(calc, recipe, swept, published, folder),
        }
        result["plain_regret"] = result["first_rate"] / result["plain_rate"] - 1
        if said:
            swept = calc.sweep(recipe, [*typed, *axes_of(recipe)], folder)
            result |= {"said_" + key: value for key, value in
                       advice_of(calc, recipe, swept, published, folder).items()}
    return result


def percent(values, of=statistics.mean):
    """A statistic of shares, in percent."""
    values = list(values)
    return f"{100 * of(values):.1f} %" if values else "-"


def summary_of(results, prefix=""):
    """The rows of the table of all recipes: what, and how much."""
    of = [{**row, **{key[len(prefix):]: row[key] for key in row if key.startswith(prefix)}}
          for row in results if "error" not in row]
    measured = [row for row in of if row["measured"] == row["measured"]]
    slower = [row for row in measured if row["start_over_measured"] < 0]
    fits = [row for row in of if row["fits"]]
    refused = [row for row in of if row["refused"]]
    odd = [row for row in of if row["odd"] and not row["refused"]]
    regrets = [max(0, row["regret"]) for row in fits]
    plain = [max(0, row["plain_regret"]) for row in of if row["plain_fits"] and not prefix]
    longest = max(of, key=lambda row: row["seconds"])
    return [
        ("start predicted slower than the published ran",
         f"{len(slower)} of {len(measured)}, mean {percent(row['start_over_measured'] for row in measured)}"),
        ("start predicted against published predicted",
         f"mean {percent(row['start_over_published'] for row in of)}, worst "
         f"{percent((row['start_over_published'] for row in of), min)}, slower "
         f"{sum(row['start_over_published'] < -0.001 for row in of)} of {len(of)}"),
        ("published layout fits",
         f"{len(fits)} of {len(of)}; with default software {sum(row['plain_fits'] for row in of)}"),
        ("first row over the published layout, where that fits",
         f"mean {percent(regrets)}, median {percent(regrets, statistics.median)}, worst {percent(regrets, max)}"),
        ("the same, both with default software",
         f"mean {percent(plain)}, median {percent(plain, statistics.median)}, worst {percent(plain, max)}"
         if plain else "-"),
        ("published sizes in the first row; start; among the first five sizes",
         "; ".join(f"{sum(row[key] for row in of)}" for key in
                   ("sizes_first", "sizes_start", "sizes_among_five")) + f" of {len(of)}"),
        ("starts that an expert would refuse; others with an oddity",
         f"{len(refused)}; {len(odd)} of {len(of)}"),
        ("mean measured over predicted of published layouts",
         percent(row["measured_over_published"] for row in measured)
         + ", absolute " + percent(abs(row["measured_over_published"]) for row in measured)),
        ("longest sweep", f"{longest['seconds']:.1f} s ({longest['id']})"),
        ("no layout fits", ", ".join(row["id"] for row in results if "error" in row) or "-"),
    ]


def share(value):
    """A share in percent, for a table."""
    return "" if value != value else f"{100 * value:+.1f}"


COLUMNS = (
    ("recipe", lambda row: row["id"]), ("published", lambda row: row["published"]),
    ("fits", lambda row: "yes" if row["fits"] else "no"),
    ("tok/s", lambda row: f"{row['published_rate']:.0f}"),
    ("meas/pred", lambda row: share(row["measured_over_published"])),
    ("first", lambda row: row["first"]), ("tok/s", lambda row: f"{row['first_rate']:.0f}"),
    ("regret", lambda row: share(row["regret"])), ("start", lambda row: row["start"]),
    ("#", lambda row: str(row["start_rank"])), ("tok/s", lambda row: f"{row['start_rate']:.0f}"),
    ("vs meas", lambda row: share(row["start_over_measured"])),
    ("vs pub", lambda row: share(row["start_over_published"])),
    ("same/5", lambda row: f"{row['sizes_first']}/{row['sizes_among_five']}"),
    ("s", lambda row: f"{row['seconds']:.1f}"),
    ("refused; odd", lambda row: "; ".join(filter(None, (row["refused"].upper(), row["odd"])))),
)


def print_table(results):
    """The table for people."""
    rows = [[cell(row) for _, cell in COLUMNS] for row in results if "error" not in row]
    rows.insert(0, [title for title, _ in COLUMNS])
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calc", help="the command under test")
    parser.add_argument("--only", default="", metavar="REGEX", help="recipes whose id matches")
    parser.add_argument("--set", choices=("known", "apart"), help="recipes of one set only")
    parser.add_argument("--jobs", type=int, default=1, help="recipes at a time")
    parser.add_argument("--said", action="store_true", help="also sweep with the recipe's software")
    parser.add_argument("--csv", metavar="FILE", help="write all figures as CSV")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the layouts to start with there")
    parser.add_argument("--time-limit", type=int, default=120, metavar="S", help="of a sweep")
    options = parser.parse_args()
    recipes = [row for row in read_recipes()
               if re.search(options.only, row["id"]) and options.set in (None, row["set"])]
    calc = Calc(options.calc, max(1, len(os.sched_getaffinity(0)) // options.jobs),
                options.time_limit)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda row: judge(calc, row, options.said, options.keep), recipes))
    print_table(results)
    if options.csv:
        keys = list(dict.fromkeys(key for row in results for key in row))
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, keys, lineterminator="\n")
            writer.writeheader()
            writer.writerows(results)
    for name in sorted({row["set"] for row in results}, reverse=True):
        for prefix in ("", "said_") if options.said else ("",):
            print(f"\n{name}" + (", software said" if prefix else ""))
            for what, much in summary_of([row for row in results if row["set"] == name], prefix):
                print(f"  {what:68}{much}")


if __name__ == "__main__":
    main()
