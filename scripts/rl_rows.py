#!/usr/bin/env python3
"""Published steps of reinforcement learning beside what calc predicts.

usage: scripts/rl_rows.py [--calc CALC] [--sets "overhead=0 ..."] [--commands] [--docs | --check]

--docs writes the table of docs/post-training.md, --check compares it.

Reads tests/measured/rl_steps.csv. What a row does not say is the same for all rows (ASSUMED), so
that nothing is fitted to one of them; rows that say too little are listed with what they lack.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

BEGIN = "<!-- rows: scripts/rl_rows.py -->\n"
END = "<!-- /rows -->\n"

# Documents of the names that publications use.
MODELS = {"Llama3.1-8B": "llama3-8B", "Llama3.1-70B": "llama3-70B", "Qwen3-4B": "qwen3-4B",
          "Qwen3-8B": "qwen3-8B", "DeepSeek-V3": "deepseek-v3-671B",
          "Qwen3-235B-A22B": "qwen3-235B-A22B", "Qwen3-30B-A3B": "qwen3-30B-A3B",
          "Qwen3-32B": "qwen3-32B", "Qwen 0.5B (name of the run)": "qwen2.5-0.5B",
          "Qwen3-0.6B": "qwen3-0.6B", "Qwen2.5-Math-7B": "qwen2.5-7B",
          "DeepSeek-V3-671B": "deepseek-v3-671B", "Llama-7B": "llama-7B"}
SYSTEMS = {"H100": "h100_sxm", "GB200": "gb200_nvl72", "H20": "h20", "H20-96G": "h20",
           "GH200": "gh200", "H200": "h200", "H800": "h800", "A800": "a800",
           "MI300X": "mi300x", "RTX 4090 48G": "rtx_4090"}

# Not said by rows: 32 samples of a prompt are those of the publication's recipes with 16 prompts
# (NVIDIA-NeMo/RL PR 3278); the engines get half of the processors where they are apart; a
# micro-batch has as many tokens as the longest sequence; 127 tokens of a prompt where rates do not
# give them.
ASSUMED = {"samples": 32, "prompt": 127}


def number(text):
    return float(text) if re.fullmatch(r"[0-9.]+", text or "") else None


def prompt_of(row):
    """Tokens of a prompt, where rate * time / sequences less the mean response is plausible."""
    said = re.search(r"mean prompt ([0-9.]+), mean response ([0-9.]+)", row["notes"])
    if said:
        return float(said[1]), float(said[2])
    mean, rate, time = map(number, (row["seq_len_mean"], row["tok_s_chip"], row["t_step"]))
    if not (mean and rate and time):
        return ASSUMED["prompt"], mean
    prompt = rate * float(row["chips"]) * time / float(row["sequences"]) - mean
    return (prompt if 98 <= prompt <= 148 else ASSUMED["prompt"]), mean


def lacks(row):
    """What a row does not say, without which there is no job."""
    missing = []
    if row["model"] not in MODELS:
        missing.append("a model that calc has")
    if row["chip"] not in SYSTEMS:
        missing.append("its chip")
    if not number(row["sequences"]):
        missing.append("sequences")
    if not prompt_of(row)[1]:
        missing.append("the mean response")
    if not number(row["t_step"]):
        missing.append("the time of a step")
    train = layout(row["train_layout"])
    if "apart" in row["mode"] and len(train) == 4 and train[2] > int(row["chips"]) // 2:
        missing.append("a layout that half of its processors can have")
    return missing


def layout(text):
    return [int(x) for x in re.findall(r"\d+", text or "")]


def job(row):
    """The words of the command line for a row."""
    prompt, mean = prompt_of(row)
    chips, sequences = int(row["chips"]), int(row["sequences"])
    samples = int(number(row["samples_per_prompt"]) or ASSUMED["samples"])
    longest = number(row["response_max"])
    total = "maximum of prompt + response" in row["notes"]
    sets = {"algorithm": "dapo" if row["algorithm"] == "DAPO" else "grpo",
            "prompts": sequences // samples, "samples": samples, "prompt": round(prompt),
            "response.mean": mean, "response.cap": round(longest - (prompt if total else 0)),
            "actor.micro_tokens": round(longest + (0 if total else prompt))}
    if row["recompute"]:
        sets["actor.activation_recompute"] = row["recompute"]
    if row["logprob_batch"]:
        sets["actor.forward_tokens"] = int(row["logprob_batch"]) * sets["actor.micro_tokens"]
    if row["memory_share"]:
        sets["rollout.memory_share"] = row["memory_share"]
    if number(row["train_batch"]):
        sets["mini_batch"] = int(row["train_batch"])
    if "KL on" in row["other_roles"]:
        sets["kl"] = "true"
    words = ["--procs", str(chips)]
    if "apart" in row["mode"]:
        engines = int(number(row["rollout_chips"]) or chips // 2)
        words += ["--rollout-procs", str(engines)]
        off = re.search(r"(\d+) steps? off", row["mode"])
        sets["steps_off"] = int(off[1]) if off else 0
    train, engine = layout(row["train_layout"]), layout(row["rollout_layout"])
    if len(train) == 6:  # the last of six as printed is the pipeline
        sets["actor.tp"], sets["actor.pp"] = 1, train[5]
    elif len(train) == 4:
        sets["actor.tp"], sets["actor.cp"] = train[0], train[1]
        sets["actor.pp"] = train[3]
        if train[2] > 1:
            sets["actor.ep"] = train[2]
    if len(engine) == 2:
        sets["rollout.tp"], sets["rollout.pp"] = engine
        sets["rollout.num_procs"] = engine[0] * engine[1]  # one engine
    if "vLLM" in row["framework"]:
        sets["rollout.inference.engine"] = "vllm-0.11"
    elif "SGLang" in row["framework"]:
        sets["rollout.inference.engine"] = "sglang-0.5"
    if "FP8/FP8" in row["notes"]:
        for field in ("actor.matrix_datatype", "rollout.matrix_datatype",
                      "rollout.weight_datatype"):
            sets[field] = "float8"
    sets |= dict(x.split("=") for x in row["sets"].split())
    return words + [x for k, v in sets.items() for x in ("--set", f"{k}={v}")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calc", default=str(ROOT / "build/dev/bin/calc"))
    parser.add_argument("--sets", default="")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    rows = list(csv.DictReader(open(ROOT / "tests/measured/rl_steps.csv")))
    results, left, failed = [], [], []
    for row in rows:
        if args.only not in row["id"]:
            continue
        missing = lacks(row)
        if missing:
            left.append((row["id"], missing))
            continue
        words = [args.calc, "rl", MODELS[row["model"]], SYSTEMS[row["chip"]], *job(row),
                 *(x for s in args.sets.split() for x in ("--set", s)), "--json", "-"]
        if args.commands:
            print(" ".join(words))
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        if not run.stdout:
            failed.append((row["id"], run.stderr.strip().splitlines()))
            continue
        answer = json.loads(run.stdout)
        results.append((row, answer))
        if args.phases:
            print(row["id"], answer["reasons"], json.dumps(answer["roles"]),
                  {k: round(v["time"], 1) for k, v in answer["phases"].items()},
                  {k: round(v, 4) for k, v in answer["statistics"].items() if k in
                   ("tail_time", "floor_time", "running", "requests", "longest", "decode_step_time",
                    "train_time", "generate_time")})
    if args.docs or args.check:
        return put(results, left, failed, args.check)
    print(table(results, left))
    for name, lines in failed:
        print(f"failed: {name}: {' / '.join(lines[-4:])}")
    return 1 if failed else 0


def table(results, left):
    """The lines of the documentation: the blind predictions and those of now."""
    first = {r["id"]: r for r in csv.DictReader(open(ROOT / "tests/measured/rl_blind.csv"))}
    blind = {name: float(r["predicted_s"]) for name, r in first.items()}
    lines = ["| publication, model, chip, placement | measured | blind | | now | |",
             "|---|--:|--:|--:|--:|--:|"]
    errors = {}
    for row, answer in results:
        measured = float(row["t_step"])
        both = (blind[row["id"]], answer["statistics"]["step_time"])
        off = [p / measured - 1 for p in both]
        errors.setdefault(row["publication"], []).append(off)
        name = f"{row['publication']}, {row['model']}, {row['chip']}, {row['mode']}"
        name += ", FP8" if "FP8/FP8" in row["notes"] else ""
        name += ", DAPO" if row["algorithm"] == "DAPO" else ""
        name += f", {row['framework']}" if row["t_update"] else ""
        name += ", does not fit" if not answer["feasible"] else ""
        lines.append(f"| {name} | {measured:.1f} s | {both[0]:.1f} s | {100 * off[0]:+.0f} % "
                     f"| {both[1]:.1f} s | {100 * off[1]:+.0f} % |")
    lines += ["", "| publication | rows | blind: mean absolute error, mean error | now |",
              "|---|--:|--:|--:|"]
    everything = [e for g in errors.values() for e in g]
    for name, group in [*errors.items(), ("all", everything)]:
        cells = []
        for k in (0, 1):
            size = sum(abs(e[k]) for e in group) / len(group)
            cells.append(f"{100 * size:.1f} %, {100 * sum(e[k] for e in group) / len(group):+.1f} %")
        lines.append(f"| {name} | {len(group)} | {cells[0]} | {cells[1]} |")
    times = {"blind": lambda x: blind[x[0]["id"]],
             "now": lambda x: x[1]["statistics"]["step_time"]}
    counts = [order(results, time) for time in times.values()]
    lines += ["", f"Which placement has the higher rate per chip is right in {counts[0][0]} of "
              f"{counts[0][1]} pairs blind, and in {counts[1][0]} now.", "",
              *share_table(results, first),
              "", "Left out, as they do not say enough: " + "; ".join(
                  f"{name} (lacks {', '.join(what)})" for name, what in left) + "."]
    return "\n".join(lines) + "\n"


def shares(row, answer):
    """Measured and predicted shares of a step in percent: phase -> (measured, predicted), of the
    phases that the row prints; what is left is all that lies between them."""
    took = {key: sum(number(row[f"t_{x}"]) or 0 for x in parts.split())
            for key, parts in (("rollout", "rollout"), ("score", "old_logprob ref critic"),
                               ("update", "update"))}
    time = {k: v["time"] for k, v in answer["phases"].items()}
    whole, step = answer["statistics"]["step_time"], float(row["t_step"])
    said = {"rollout": time["rollout"], "update": time["update"],
            "score": sum(time.get(x, 0) for x in ("old_logprob", "reference", "values"))}
    if "holds the switch" in row["notes"]:
        said["rollout"] += time.get("switch", 0) + time.get("sync", 0)
    found = {k: (100 * took[k] / step, 100 * said[k] / whole) for k in took if took[k]}
    if len(found) == 3:
        found["rest"] = tuple(100 - sum(x[i] for x in found.values()) for i in (0, 1))
    return found


def share_table(results, blind):
    """The lines of the phases' shares, and how far they are off."""
    phases = ("rollout", "score", "update", "rest")
    lines = ["| publication, model, chip | " + " | ".join(phases) + " |", "|---|--:|--:|--:|--:|"]
    off = {"blind": [], "now": [], "now, where both layouts are said,": []}
    for row, answer in results:
        if not row["t_rollout"]:
            continue
        cells = dict.fromkeys(phases, "")
        for phase, (measured, now) in shares(row, answer).items():
            was = float(blind[row["id"]][phase])
            off["blind"].append(abs(was - measured))
            off["now"].append(abs(now - measured))
            if row["train_layout"] and row["rollout_layout"]:
                off["now, where both layouts are said,"].append(abs(now - measured))
            cells[phase] = f"{measured:.0f}: {was:.0f}, {now:.0f}"
        lines.append(f"| {row['publication']}, {row['model']}, {row['chip']}, {row['framework']} | "
                     + " | ".join(cells.values()) + " |")
    said = [f"{k} {sum(v) / len(v):.1f} points off in the mean, {sum(x <= 8 for x in v)} of {len(v)} "
            "within 8" for k, v in off.items() if v]
    return lines + ["", "Shares of the phases in %, measured: blind, now. They are "
                    + "; ".join(said) + "."]


def order(results, time):
    """Pairs of rows of a publication, model and chip, colocated and apart: in how many the rate per
    chip is predicted in the measured order."""
    pairs = right = 0
    kinds = {}
    for x in results:
        precision = re.search(r"BF16/BF16|FP8/FP8", x[0]["notes"])
        key = (x[0]["publication"], x[0]["model"], x[0]["chip"], precision and precision[0])
        kinds.setdefault(key, []).append(x)
    for group in kinds.values():
        together = [x for x in group if "colocated" in x[0]["mode"] and x[0]["algorithm"] == "GRPO"]
        for a in together:
            for b in (x for x in group if "apart" in x[0]["mode"]):
                def rate(x, seconds):
                    return float(x[0]["sequences"]) / seconds / float(x[0]["chips"])
                measured = rate(a, float(a[0]["t_step"])) > rate(b, float(b[0]["t_step"]))
                pairs += 1
                right += measured == (rate(a, time(a)) > rate(b, time(b)))
    return right, pairs


def put(results, left, failed, check):
    """Compare or write the table between the marks of the page."""
    for name, lines in failed:
        print(f"{name}: {' / '.join(lines[-4:])}")
    page = ROOT / "docs/post-training.md"
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    made = text[:begin] + table(results, left) + text[end:]
    print(*(x for x in made.splitlines() if x.startswith(("| all |", "Shares of"))), sep="\n")
    if check and made != text:
        print(f"{page} is not what {pathlib.Path(__file__).name} --docs writes")
    if not check:
        page.write_text(made)
    return 1 if failed or (check and made != text) else 0


if __name__ == "__main__":
    sys.exit(main())
