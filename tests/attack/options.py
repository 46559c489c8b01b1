#!/usr/bin/env python3
"""Odd values for every option that takes one, of every command and of every program of another planner: status 0 to 4, a
refusal that names the option or the value, no NaN or infinity in the output, memory bounded, and an end.

usage: options.py CALC [CASE...]   CALC_LONG=1  every value of every option, instead of a sample"""
import os
import pathlib
import re
import shutil

import attack

a = attack.Attack()
VALUES = ["", "0", "-1", "nan", "inf", "-inf", "1e300", "1e-300", "0x10", "1.5", "99999999999999999999", "abc", " 5", "5 ", "+5",
          "5x", "1e3", "9223372036854775807", "2147483648", "4294967296", "1,2", "\u0663", "5\n", "%s%n", "a" * 5000]
SMALL = ["--procs", "8", "--batch", "8", "--progress", "none", "--threads", "1"]
DATA = attack.ROOT / "tests"
PROFILES = [word for option, path in (
    ("time_profile_data", "llama2-7b/computation_profiling_bf16_llama2-7b_all"),
    ("memory_profile_data", "llama2-7b/memory_profiling_bf16_llama2-7b_all"), ("overlap_coe", "hardware/overlap_coefficient"),
    ("allreduce_coe", "hardware/allreduce_bandwidth_1nodes_8gpus_per_node"), ("p2p_coe", "hardware/p2p_bandwidth_1nodes_8gpus_per_node"),
    ("sp_time", "hardware/sp_time_1nodes_8gpus_per_node"))
    for word in (f"--{option}_path", f"{DATA}/galvatron/profiles/shipped_{path}.json")]
# What an option stands beside, so that it is quick.
BASE = {
    "run": ["run", *attack.RUN],
    "sweep": ["sweep", "gpt3-13B", "a100_80g", *SMALL, "--time-limit", "5"],
    "plan": ["plan", "llama2-7B", "a100_sxm_40g", *SMALL, "--axis", "tp=2", "--axis", "pp=2", "--axis", "mbs=1", "--time-limit", "2"],
    "tune": ["tune", "llama2-7B", "h100_sxm", *SMALL, "--candidates", "5", "--axis", "tp=2,4", "--axis", "mbs=1", "--into", "tt"],
    "rl": ["rl", "llama2-7B", "h100_sxm", "--procs", "8"],
    "why": ["why", *attack.RUN],
    "export": ["export", attack.RUN[0], attack.RUN[2]],
    "import": ["import", "--from", "megatron", "--", "--tensor-model-parallel-size", "8", "--num-layers", "4", "--hidden-size", "1024",
               "--num-attention-heads", "8", "--seq-length", "512", "--micro-batch-size", "1", "--global-batch-size", "8",
               "--padded-vocab-size", "1024", "--bf16"],
    "validate": ["validate", "../runs.csv"],
    "diff": ["diff", "gpt3-175B", "gpt3-13B"],
    "explain": ["explain", "sample_rate", *attack.RUN],
    "params": ["params", "gpt3-175B"],
    "fields": ["fields"],
    "calibrate": ["calibrate", "../runs.csv", "--system", "a100_80g"],
    "app": ["app"],
    "schema": ["schema", "exe"],
    "help": ["help"],
    "as taylor nd": ["as", "taylor", "nd", "--yaml_path", DATA / "cli/taylor/deepseek3.yaml", "--rank_num", "16"],
    "as taylor rank": ["as", "taylor", "rank", "--yaml_path", DATA / "cli/taylor", "--gbs", "64"],
    "as taylor balance": ["as", "taylor", "balance", "-yaml", "../a.yaml"],
    "as aiak": ["as", "aiak", "--num-gpus", "8", "--global-batch-size", "512", "--top", "1"],
    "as galvatron search": ["as", "galvatron", "search", "--model", "llama2-7B", "--system", "a100_sxm_40g", "--memory_constraint",
                            "36", "--settle_bsz", "16"],
    "as galvatron-paddle": ["as", "galvatron-paddle", "--hidden_size_list", "4096", "--layernum_list", "8", "--seqlen_list", "2048",
                            "--time_profile_mode", "batch", "--world_size", "8", "--min_bsz", "64", "--max_bsz", "64",
                            "--memory_upper_limit", "60", *PROFILES],
    "as mindspeed": ["as", "mindspeed", DATA / "mindspeed/llama_7b.launch", "--vocab-size", "32000", "--global-batch-size", "16"],
}
# How a value is written, where an option takes more than one word of it.
FORMS = {"FIELD=VALUE": ["tp=@", "mem1.GiB=@", "@=1"], "FIELD=VALUES": ["tp=@", "mbs=1:@:1", "sys.mem1.GiB=@", "@=1"],
         "COND": ["mem1 <= @", "@ <= 1", "tensor_par != @"], "I/N": ["1/@", "@/2", "@"], "TYPE[:MAX],...": ["a800:@", "@"],
         "TYPE=FILE,...": ["a800=@", "@"]}
BESIDE = {"days": ["--tokens", "1T"], "microbatches": ["--trace", "-"], "checkpoint-every": ["--checkpoint", "ck"]}
PROFILE = ["export", "llama3-8B", "h100_sxm", "--to", "galvatron-profile", "--out", "d"]
UNREAD = ("master-port", "node-rank")  # without effect
# Options that are numbers, by the name of their value, and texts that are none: digits alone are read, by all of them alike.
NUMBERS = {"N", "K", "S", "Q", "SEED", "SECONDS", "FRAC", "SHARE", "X", "MAX", "VALUES", "USD"}
NO_NUMBER = {"nan", "inf", "-inf", "0x10", "abc", " 5", "+5", "5x", "\u0663", "5\n", "%s%n"}
NOT_A_NUMBER = re.compile(r"(?<![\w/.-])-?(nan|inf)(?![\w/.-])", re.I)


def main():
    os.mkdir("work")
    pathlib.Path("runs.csv").write_text("id,app,sys,exe,measured_s\na,{},100\n".format(",".join(attack.RUN)))
    shutil.copy(DATA / "cli/taylor/deepseek3.yaml", "a.yaml")
    os.chdir("work")
    cases = [(command, option, form.replace("@", value))
             for command, options in a.commands.items() for option, word in options.items()
             for form in (["a100_sxm_40g:@", "@"] if option == "chips" else FORMS.get(word, ["@"])) for value in VALUES]
    for k in a.pick(len(cases), 200):
        command, option, value = cases[k]
        base = [str(word) for word in (PROFILE if option in ("nodes", "precision") else BASE[" ".join(command)])]
        at = base.index("--") if "--" in base else len(base)
        words = [*base[:at], *BESIDE.get(option, []), f"--{option}", value, *base[at:]]
        result = a.run(words, gib=2)
        said = result.err.decode(errors="replace")
        # A name that a list of words has is told as it is, and a long one shortened; a rule names other fields. Of a value that is
        # fine by itself, an input file may be wrong (status 3).
        named = option in said or (value.strip() and value.strip()[-40:] in said) or (option in ("set", "procs") and "parallelism" in said)
        wrong = None
        if result.code not in (0, 1, 2, 3, 4):
            wrong = "no status 0 to 4"
        elif result.code == 2 and not named or result.code == 3 and not said.strip():
            wrong = "the option is not named"
        elif result.code != 0 and not said and not result.out:
            wrong = "no word"
        elif result.code == 4 and "emory" in said:
            wrong = "out of memory"
        elif value in NO_NUMBER and a.commands[command][option] in NUMBERS and result.code not in (2, 3) and option not in UNREAD:
            wrong = "taken as a number"
        elif not re.search("nan|inf", value) and not result.out.startswith(b"<!doctype"):
            found = NOT_A_NUMBER.search(result.out.decode(errors="replace"))
            wrong = f"{found[0]} in the output" if found else None
        if wrong:
            a.fail(k, words, f"{' '.join(command)} --{option} {value[:40]!r}: {wrong}", result)
        for name in os.listdir("."):
            shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
        a.seen[f"with status {result.code}"] += 1
    a.end()


main()
