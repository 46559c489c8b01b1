#!/usr/bin/env python3
"""Is calc's advice right? Published layouts (the recipes of tests/measured/recipes.csv, the executions
of executions/published.csv) beside the layout with which `calc sweep` says to start. --docs writes
the tables of docs/studies.md."""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/studies.md"
BEGIN = "<!-- advice: scripts/make_advice.py -->\n"
END = "<!-- /advice -->\n"
TOP = 200  # rows in which a layout is ranked
ALIKE = 1 + 1e-9  # rates within it are the same
SETS = {
    "shipped": "Executions that calc ships",
    "known": "Recipes that changes of the search and of its defaults may look at",
    "apart": "Recipes that nothing may be tuned on",
}
# How much slower than the published layout the one to start with may be predicted (--check).
BOUND = {"shipped": 0.02, "known": 0.05}
# Starts that fail all the same, and why. One that no longer fails is named by --check, too.
NODES = "experts over two and more nodes are predicted 2 to 25 % faster; nobody measured both"
EXPLAINED = {
    "gpt-oss-120B_64 h100_sxm": NODES,
    "g-dsv3-h200-256": NODES,
    "nemo2412-sft-l70b-h100-16": "16 bytes a weight on 16 GPUs fill their memory: what the "
                                 "published fine-tuning kept is not known",
}
# Number formats of matrices, as recipes name them, and of attention.
FORMATS = {
    "bf16": ["matrix_datatype=bfloat16"],
    "fp8": ["matrix_datatype=float8"],
    "mxfp8": ["matrix_datatype=float8", "scaling=block"],
    "fp4": ["matrix_datatype=float4", "scaling=block"],
    "nvfp4": ["matrix_datatype=float4", "scaling=block"],
    "attention8": ["attention_datatype=float8"],
}
# What a layout chooses; the rest of an execution is software, batch and formats.
SIZES = ("tensor_par", "pipeline_par", "context_par", "expert_par")
WHERE_LEGAL = ("tensor_par_comm_type", "tensor_par_overlap", "seq_par_ag_redo", "data_par_overlap",
               "pipeline_par_overlap", "optimizer_sharding")
CHOSEN = (*SIZES, *WHERE_LEGAL, "data_par", "microbatch_size", "pipeline_interleaving",
          "zero_stage", "activation_recompute", "recompute_modules", "recompute_blocks",
          "pipeline_balance", "first_stage_blocks", "last_stage_blocks", "tensor_par_net",
          "pipeline_par_net", "data_par_net", "context_par_net", "expert_par_net")
# What a published layout takes from the first row of the sweep; other software only if it says so.
KEPT = ("num_procs", "batch_size", "datatype", "matrix_datatype", "attention_datatype", "scaling",
        "training", "attention_type", "flash_attention", "fused_activation", "fused_cross_entropy",
        "unfused_experts",
        "memory_model", "rank_order", "tensor_par_net", "pipeline_par_net", "data_par_net")
UNSAID = {"cuda_graph": 0, "dispatch_type": "all_to_all", "expert_par_overlap": "none",
          "grad_datatype": "auto", "fused_experts": False}  # software that a published layout does not have unless it says so
OFFLOADS = ("weight_offload", "activations_offload", "optimizer_offload")


class Calc:
    """The command under test."""

    def __init__(self, path, threads, limit):
        self.path, self.limit = path, limit
        self.env = {**os.environ, "OMP_NUM_THREADS": str(threads), "CALC_PATH": str(ROOT)}

    def run(self, *arguments):
        """What calc answers; that a layout does not fit is an answer (status 1), too."""
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True,
                              env=self.env)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"calc {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def layout(self, recipe, execution, changes, *options):
        """A layout by calc run: verdict, statistics and execution."""
        return json.loads(self.run("run", recipe["model"], recipe["chip"], execution,
                                   *sets(changes), *options, "--json", "-"))

    def sweep(self, recipe, options, folder):
        """The best of a sweep, the layout to start with, counts and time, and the first five
        sizes of the rows that it shows."""
        out, summary, best = (folder / name for name in ("out.json", "summary.json", "best.json"))
        for file in (out, best):  # of another sweep
            file.unlink(missing_ok=True)
        self.run("sweep", recipe["model"], recipe["chip"], *options, "--objectives", "sample_rate",
                 "--top", TOP, "--save-best", best, "--out", out, "--summary", summary,
                 "--progress", "none", "--time-limit", self.limit, "--verify", 0)
        start = json.loads(best.read_text()) if best.exists() else None
        shown = self.run("sweep", recipe["model"], recipe["chip"], *options, "--top", 40,
                         "--columns", "tp/pp/dp,cp,ep", "--progress", "none", "--verify", 0)
        rows = re.findall(r"^ *\S+ +(\d+)/(\d+)/\d+ +(\d+) +(\d+) *$", shown, re.MULTILINE)
        top = json.loads(out.read_text())["top"] if out.exists() else []
        return (top, start, json.loads(summary.read_text()),
                list(dict.fromkeys(tuple(map(int, row)) for row in rows))[:5])


def sets(changes):
    """Words FIELD=VALUE as options."""
    return [word for change in changes for word in ("--set", change)]


def written(folder, name, content):
    """A file with an execution or a space."""
    file = folder / name
    file.write_text(json.dumps(content))
    return file


def read_recipes():
    """The recipes, with numbers as numbers."""
    rows = list(csv.DictReader((ROOT / "tests/measured/recipes.csv").open()))
    for row in rows:
        for key in "procs seq batch tp pp cp ep etp vp mbs zero".split():
            row[key] = int(row[key])
        row["measured"] = float(row["measured_tokens_per_s_per_gpu"] or "nan")
        row["formats"] = sum(map(FORMATS.get, row["precision"].split()), [])
        row["software"] = row["software"].split()
    return rows


def read_shipped(calc):
    """The executions of executions/published.csv in the same form."""
    rows = list(csv.DictReader((ROOT / "executions/published.csv").open()))
    for row in rows:
        changes = row["set"].split()
        row |= {"set": "shipped", "model": row["application"], "chip": row["system"]}
        ran = calc.layout(row, row["execution"], changes)
        exe = ran["execution"]
        sizes = [max(1, exe.get(key, 1)) for key in SIZES]
        row |= dict(zip(("tp", "pp", "cp", "ep"), sizes)) | {
            "id": f"{row['execution']} {row['chip']}", "ran": ran, "procs": exe["num_procs"],
            "batch": exe["batch_size"], "measured": math.nan,
            "seq": exe.get("seq_size") or ran["application"]["seq_size"],
            "etp": max(1, exe.get("expert_tensor_par", 1)),
            "formats": [f"{key}={exe[key]}" for key in ("matrix_datatype", "scaling") if key in exe],
            "recompute": "+".join(exe.get("recompute_modules", [])) or exe["activation_recompute"],
        }
    return rows


def key_of(machine, shape, narrow, seq):
    """What runs must have in common for their speeds to compare: the machine, the shape of a mixture
    of experts, the format of its matrices, the length."""
    sizes = (int(shape.get(key) or 0) for key in ("hidden", "num_blocks", "num_experts"))
    return machine, *sizes, narrow or "bfloat16", int(seq)


def read_fastest():
    """The most tokens per second and processor that published runs of mixtures of experts reached,
    whatever their layout, software and number of processors."""
    fastest = {}
    for file in ("runs.csv", "overlap_runs.csv"):
        for row in csv.DictReader((ROOT / "tests/measured" / file).open()):
            if "arguments" in row:  # and a model of calc, of which some runs have a few blocks
                said = dict(re.findall(r"--(\S+) (\d+)", row["arguments"]))
                row |= json.loads((ROOT / f"models/{row['app']}.json").read_text()) | {
                    "batch_size": said["global-batch-size"], "app.seq_size": said["seq-length"],
                    "matrix_datatype": "", "unpredicted": row["app.num_blocks"]}
            if row["num_experts"] and row["measured_s"] and not row["unpredicted"]:
                key = key_of(row["sys"], row, row["matrix_datatype"], row["app.seq_size"])
                rate = int(row["batch_size"]) * key[-1] / float(row["measured_s"]) / int(row["procs"])
                fastest[key] = max(rate, fastest.get(key, 0))
    return fastest


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
    if exe.get("pipeline_schedule", "1f1b") != "1f1b":
        words.append(exe["pipeline_schedule"])
    if exe["activation_recompute"] == "modules":
        words.append("+".join(exe["recompute_modules"]))
    elif exe["activation_recompute"] != "none":
        words.append(exe["activation_recompute"])
    return " ".join(words)


def execution_of(recipe, template):
    """A recipe's layout as an execution; `template` has what a recipe does not say."""
    exe = {key: template[key] for key in KEPT if key in template}
    exe |= {
        "tensor_par": recipe["tp"], "pipeline_par": recipe["pp"], "context_par": recipe["cp"],
        "data_par": recipe["procs"] // (recipe["tp"] * recipe["pp"] * recipe["cp"]),
        "microbatch_size": recipe["mbs"], "pipeline_interleaving": recipe["vp"],
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


def published_of(calc, recipe, template, software, folder):
    """A recipe's layout by calc run. Recipes do not say how blocks are balanced over stages: as
    Megatron-LM allows without a list written by hand, or by the list that is fastest."""
    blocks = json.loads((ROOT / f"models/{recipe['model']}.json").read_text())["num_blocks"]
    chunks = recipe["pp"] * recipe["vp"]
    balance = "blocks" if blocks % chunks == 0 else "ends" if (blocks + 2) % chunks == 0 else "free"
    exe = execution_of(recipe, template) | {"pipeline_balance": balance}
    return calc.layout(recipe, written(folder, "published.json", exe),
                       [f"app.seq_size={recipe['seq']}", *software])


def space_of(exe):
    """A space with the software of a published layout; what a layout chooses is left to the sweep."""
    return UNSAID | {key: value for key, value in exe.items() if key not in CHOSEN}


def rate_of(answer):
    """Samples per second, also of a layout that is too large; 0 if it is refused."""
    return answer["stats"]["sample_rate"] or 0


def oddities(recipe, exe, fits):
    """What an expert would not do, in words: refused, and only odd. What the published layout does,
    too, is neither."""
    domain = domain_of(recipe["chip"])
    tensor, stages, context, expert = sizes_of(exe)
    span = expert * max(1, exe.get("expert_tensor_par", 1))
    refused = {
        "full recompute": exe["activation_recompute"] == "full" and recipe["recompute"] != "full",
        "PP >= 32": stages >= 32 > recipe["pp"],
        "micro-batch > 32k tokens": exe["microbatch_size"] * recipe["seq"] / context > 32768
        and exe["microbatch_size"] > 1,
        "FSDP of experts without EP": exe.get("zero_stage", 0) == 3 and recipe["ep"] > 1 >= expert,
        "TP across domains": tensor > domain >= recipe["tp"],
        "EP across domains": span > domain >= recipe["ep"] * recipe["etp"],
    }
    odd = {
        "chunks > 20": exe["pipeline_interleaving"] > 20,
        "pipeline inside a domain": stages > 1 == recipe["pp"] and recipe["procs"] <= domain,
        "fits < 90 %": fits < 0.9,
    }
    return ["; ".join(word for word, holds in table.items() if holds) for table in (refused, odd)]


def advice_of(calc, recipe, swept, published, folder):
    """What the answer of a sweep says for a recipe, beside the published rate."""
    rows, start, summary, shown = swept
    ran = calc.layout(recipe, written(folder, "start.json", start),
                      [f"app.seq_size={recipe['seq']}"], "--band")
    fits = ran["band"]["fits"] if ran["verdict"] == "ok" else 0
    refused, odd = oddities(recipe, start, fits)
    own = tuple(recipe[key] for key in ("tp", "pp", "cp", "ep"))
    rate, first = rate_of(ran), rate_of(rows[0])
    return {
        "first": layout_of(rows[0]["execution"]), "first_rate": first, "start": layout_of(start),
        "start_fits": fits, "start_rate": rate,
        "start_rank": 1 + sum(rate_of(row) > rate * ALIKE for row in rows),
        "start_over_measured": rate / recipe["measured_rate"] - 1,
        "start_over_published": rate / published - 1, "regret": first / published - 1,
        "rank": 1 + sum(rate_of(row) > published * ALIKE for row in rows),
        "sizes_first": int(sizes_of(rows[0]["execution"]) == own),
        "sizes_start": int(sizes_of(start) == own),
        "sizes_among_five": int(own in shown), "refused": refused, "odd": odd,
        "layouts": summary["counts"]["total"], "seconds": summary["elapsed_s"],
        "partial": int(summary["partial"]),
    }


def judge(calc, recipe, fastest, axes, said, keep):
    """All that is reported of a recipe. `axes` are searched besides the default ones."""
    recipe["measured_rate"] = recipe["measured"] * recipe["procs"] / recipe["seq"]
    document = [f"software={recipe['document']}"] if recipe["document"] else []
    known = ["--for", recipe["framework"]] if recipe["framework"] else sets(document)
    typed = ["--procs", recipe["procs"],
             *sets([f"gbs={recipe['batch']}", f"app.seq_size={recipe['seq']}", *recipe["formats"]]),
             *(word for axis in axes for word in ("--axis", axis)), *known]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        swept = calc.sweep(recipe, typed, folder)
        if not swept[0]:
            return {key: recipe[key] for key in ("id", "set")} | {"error": "no layout fits"}
        if keep:
            written(pathlib.Path(keep), recipe["id"].replace(" ", "_") + ".json", swept[1])
        template = swept[0][0]["execution"]
        own = recipe["ran"] if "ran" in recipe else published_of(
            calc, recipe, template, document + recipe["software"], folder)
        published = rate_of(own)
        result = {key: recipe[key] for key in
                  ("id", "set", "model", "chip", "procs", "batch", "seq", "source", "measured")}
        result |= {
            "published": layout_of(own["execution"]), "rate": published,
            "tokens": recipe["seq"] / recipe["procs"],
            "measured_over_predicted": recipe["measured_rate"] / published - 1,
            "fits": int(own["verdict"] == "ok"),
            **advice_of(calc, recipe, swept, published, folder),
        }
        model = json.loads((ROOT / f"models/{recipe['model']}.json").read_text())
        most = fastest.get(key_of(recipe["chip"], model, template.get("matrix_datatype"),
                                  recipe["seq"]), math.nan)
        result["start_over_fastest"] = result["start_rate"] * result["tokens"] / most - 1
        # What newer software explains: somebody ran that question faster than the published layout.
        result["unexplained"] = result["first_rate"] / max(published, most / result["tokens"]) - 1 \
            if most > 0 else result["regret"]
        if said:
            space = written(folder, "space.json", space_of(own["execution"]))
            # Recipes do not say all that a framework asks for, such as what its graphs hold: then it
            # refuses them all.
            swept = calc.sweep(recipe, [space, *typed], folder)
            result["said_for"] = int(bool(swept[0]))
            if not swept[0]:
                swept = calc.sweep(recipe, [space, *typed, "--for", "none"], folder)
            result |= {"said_" + key: value for key, value in
                       advice_of(calc, recipe, swept, published, folder).items()}
    return result


# ---- Reports ---------------------------------------------------------------------------------------


def percent(values, of=statistics.mean):
    """A statistic of shares."""
    values = list(values)
    return f"{100 * of(values):+.1f} %" if values else "-"


def spread(values):
    """Mean, median and worst of shares."""
    values = list(values)
    return (f"mean {percent(values)}, median {percent(values, statistics.median)}, "
            f"most {percent(values, max)}")


def summary_of(results, prefix):
    """What all recipes show: pairs of what and how much."""
    rows = [{**row, **{key[len(prefix):]: row[key] for key in row if key.startswith(prefix)}}
            for row in results if "error" not in row]
    if not rows:
        return []
    measured = [row for row in rows if not math.isnan(row["measured"])]
    slower = [row for row in measured if row["start_over_measured"] < 0]
    beaten = sum(row["start_over_published"] < -0.001 for row in slower)
    behind = [row["start_over_published"] for row in rows]
    longest = max(rows, key=lambda row: row["seconds"])
    table = [
        ("start predicted slower than the published layout ran",
         f"{len(slower)} of {len(measured)} ({beaten} also slower than that is predicted), mean "
         + percent(row["start_over_measured"] for row in measured) if measured else "-"),
        ("start predicted slower than the published layout is predicted",
         f"{sum(share < -0.001 for share in behind)} of {len(rows)}, mean {percent(behind)}, "
         f"worst {percent(behind, min)}"),
        ("published layout fits", f"{sum(row['fits'] for row in rows)} of {len(rows)}"),
        ("first row faster than the published layout, where that fits",
         spread(max(0, row["regret"]) for row in rows if row["fits"])),
        ("published sizes of the fastest; of the start; among the five rows shown",
         "; ".join(str(sum(row[key] for row in rows)) for key in
                   ("sizes_first", "sizes_start", "sizes_among_five")) + f" of {len(rows)}"),
        ("starts that an expert would refuse; others with an oddity",
         f"{sum(bool(row['refused']) for row in rows)}; "
         f"{sum(bool(row['odd']) and not row['refused'] for row in rows)} of {len(rows)}"),
        ("longest sweep", f"{longest['seconds']:.1f} s ({longest['id']})"),
    ]
    ran = [row["start_over_fastest"] for row in rows if not math.isnan(row["start_over_fastest"])]
    if ran and not prefix:
        table[2:2] = [("start over the fastest published run of that mixture, machine, format",
                       f"{len(ran)}: mean {percent(ran)}, median {percent(ran, statistics.median)}, "
                       f"most {percent(ran, max)}")]
    if not prefix:
        table[-3:-3] = [("the same beside the fastest published run, where that is faster",
                         spread(max(0, row["unexplained"]) for row in rows if row["fits"]))]
        errors = [row["measured_over_predicted"] for row in measured]
        table[-1:-1] = [("measured over predicted rate of the published layouts",
                         f"mean {percent(errors)}, absolute {percent(map(abs, errors))}")
                        ] if errors else []
    nothing = [row["id"] for row in results if "error" in row]
    return table + ([("no layout fits", ", ".join(nothing))] if nothing else [])


def share(value):
    """A share in percent; nothing if it is not known."""
    return "" if math.isnan(value) else f"{100 * value:+.1f}"


def print_table(results):
    """The recipes, a line each; rates are tokens per second and processor."""
    table = [["recipe", "published", "fits", "tok/s", "meas/pred", "first", "tok/s", "regret",
              "start", "#", "tok/s", "/meas", "/pub", "/fastest", "same/5", "s", "REFUSED; odd"]]
    for row in results:
        if "error" in row:
            table.append([row["id"], row["error"]])
            continue
        rate, first, start = (f"{row[key] * row['tokens']:.0f}" for key in
                              ("rate", "first_rate", "start_rate"))
        table.append([
            row["id"], row["published"], "yes" if row["fits"] else "no", rate,
            share(row["measured_over_predicted"]), row["first"], first, share(row["regret"]),
            row["start"], str(row["start_rank"]), start, share(row["start_over_measured"]),
            share(row["start_over_published"]), share(row["start_over_fastest"]),
            f"{row['sizes_first']}/{row['sizes_among_five']}",
            f"{row['seconds']:.1f}" + "+" * row["partial"],
            "; ".join(filter(None, (row["refused"].upper(), row["odd"])))])
    widths = [max(len(line[i]) for line in table if i < len(line)) for i in range(len(table[0]))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def print_summaries(results):
    """The summaries of the sets."""
    for name, title in SETS.items():
        rows = [row for row in results if row["set"] == name]
        for prefix in ("", "said_") if any("said_first" in row for row in rows) else ("",):
            for i, (what, much) in enumerate(summary_of(rows, prefix)):
                if i == 0:
                    print(f"\n{title}" + (", with the software said" if prefix else ""))
                print(f"  {what:76}{much}")


def page_of(results):
    """The tables of docs/studies.md."""
    sets_of = {name: [row for row in results if row["set"] == name] for name in SETS}
    text = "| | " + " | ".join(f"{name}, as typed | {name}, software said" for name in SETS)
    text += " |\n|---|" + "---|" * (2 * len(SETS)) + "\n"
    columns = [dict(summary_of(rows, prefix)) for rows in sets_of.values()
               for prefix in ("", "said_")]
    for what in max(columns, key=len):
        if what != "longest sweep":  # the only figure that a slower computer changes
            cells = (column.get(what, "") for column in columns)
            text += f"| {what} | {' | '.join(cells)} |\n"
    for name, title in SETS.items():
        text += (f"\n{title} (`{name}`):\n\n| model | machine | procs | batch | published | samples/s "
                 "| measured | start | samples/s | change | best, software said | samples/s | rank "
                 "| loss | source |\n|---|---|--:|--:|---|--:|--:|---|--:|--:|---|--:|--:|--:|---|\n")
        for row in sets_of[name]:
            rank = f"> {TOP}" if row["said_rank"] > TOP else f"{row['said_rank']}"
            loss = f"{-100 * row['said_regret'] / (1 + row['said_regret']):+.1f} %"
            text += (
                f"| `{row['model']}` | `{row['chip']}` | {row['procs']:,} | {row['batch']:,} "
                f"| {row['published']} | {row['rate']:.4g} "
                f"| {share(row['measured_over_predicted'])} | {row['start']} "
                f"| {row['start_rate']:.4g} | {share(row['start_over_published'])} "
                f"| {row['said_first']} | {row['said_first_rate']:.4g} "
                f"| {rank if row['fits'] else '-'} | {loss if row['fits'] else 'does not fit'} "
                f"| {row['source']} |\n")
    return text


def offenders(results):
    """The lines of the recipes whose start an expert would refuse, or that is too slow."""
    lines = []
    for row in results:
        if "error" in row:
            lines.append(f"{row['id']}: {row['error']}")
            continue
        behind = -row["start_over_published"]
        why = [row["refused"]] if row["refused"] else []
        if behind > BOUND[row["set"]]:
            why.append(f"{100 * behind:.1f} % slower than {row['published']}")
        if why and row["id"] not in EXPLAINED:
            lines.append(f"{row['id']}: {row['start']}: {'; '.join(why)}")
        elif not why and row["id"] in EXPLAINED:
            lines.append(f"{row['id']}: no longer needs its line in EXPLAINED")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calc", help="the command under test")
    parser.add_argument("--only", default="", metavar="REGEX", help="recipes whose id matches")
    parser.add_argument("--set", action="append", choices=SETS, help="recipes of these sets only")
    parser.add_argument("--jobs", type=int, default=1, help="recipes at a time")
    parser.add_argument("--axis", action="append", default=[], metavar="FIELD=VALUES",
                        help="search this, too, besides what a sweep searches unasked")
    parser.add_argument("--said", action="store_true", help="also sweep with the software of recipes")
    parser.add_argument("--csv", metavar="FILE", help="write all figures as CSV")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the layouts to start with there")
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/studies.md")
    parser.add_argument("--check", action="store_true",
                        help="print the starts that an expert would refuse or that are slower than "
                        "the published layout, and fail if there are some; not of the set apart")
    parser.add_argument("--time-limit", type=int, default=120, metavar="S", help="of a sweep")
    options = parser.parse_args()
    wanted = options.set or (list(BOUND) if options.check else list(SETS))
    calc = Calc(options.calc, max(1, len(os.sched_getaffinity(0)) // options.jobs),
                options.time_limit)
    recipes = [row for row in [*read_shipped(calc), *read_recipes()]
               if re.search(options.only, row["id"]) and row["set"] in wanted]
    fastest = read_fastest()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda row: judge(calc, row, fastest, options.axis, options.said or
                                                  options.docs, options.keep), recipes))
    if options.check:
        lines = offenders(results)
        print("\n".join([*lines, f"{len(lines)} of {len(results)} starts"]))
        sys.exit(bool(lines))
    if options.docs:
        text = PAGE.read_text()
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:begin] + page_of(results) + text[end:])
    print_table(results)
    print_summaries(results)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(key for row in results for key in row)),
                                    lineterminator="\n")
            writer.writeheader()
            writer.writerows(results)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
