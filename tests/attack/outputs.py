#!/usr/bin/env python3
"""Places that cannot be written: standard output that is full, closed or a closed pipe, for every command; /dev/full, a folder that
is missing, a folder in the place, a file in place of a folder, for every option that names what is written. Status 4 and a message
(a closed pipe: the signal, or 4), files never get the text of a closed descriptor, and nothing is left.

usage: outputs.py CALC [CASE...]   CALC_LONG=1  every command and option in every way, instead of a sample"""
import os
import pathlib
import shutil

import attack

a = attack.Attack()
SMALL = ["--procs", "8", "--batch", "8", "--progress", "none", "--threads", "1"]
TESTS = attack.ROOT / "tests"
# What each command of `calc --help` does, so that it writes.
COMMANDS = {
    "run": ["run", *attack.RUN],
    "sweep": ["sweep", "gpt3-13B", "a100_80g", *SMALL],
    "plan": ["plan", "llama2-7B", "a100_sxm_40g", *SMALL, "--axis", "tp=2", "--axis", "pp=2", "--axis", "mbs=1"],
    "tune": ["tune", "llama2-7B", "h100_sxm", *SMALL, "--candidates", "5", "--axis", "tp=2", "--axis", "mbs=1"],
    "rl": ["rl", "llama2-7B", "h100_sxm", "--procs", "8"],
    "why": ["why", *attack.RUN],
    "export": ["export", attack.RUN[0], attack.RUN[2]],
    "import": ["import", attack.ROOT / "tests/mindspeed/llama_7b.launch", "--procs", "8"],
    "validate": ["validate", "../runs.csv"],
    "trace": ["trace", *attack.RUN, "--microbatches", "2"],
    "diff": ["diff", "gpt3-175B", "gpt3-13B"],
    "explain": ["explain", "sample_rate"],
    "params": ["params", "gpt3-175B"],
    "names": ["names", "app"],
    "fields": ["fields"],
    "calibrate": ["calibrate", "../runs.csv", "--system", "a100_80g"],
    "merge": ["merge", "../part1", "../part2"],
    "serve": ["serve", "--stdio"],
    "schema": ["schema", "exe"],
    "help": ["help"],
    "as": ["as", "aiak", "--num-gpus", "64", "--global-batch-size", "512", "--top", "1"],
}
# Options that read what they name; every other that takes FILE or DIR writes it.
READ = {"operators", "baseline", "measured", "log"}
# With --json these write nothing to standard output, and so do not miss it.
JSON_TOO = ("run", "why", "params", "validate", "calibrate", "tune")
PLACES = {"full": "/dev/full", "missing": "missing/o.json", "folder": "../folder.json", "below a file": "../runs.csv/o.json",
          "long": "x" * 300 + ".json"}
# /dev/full has no ending, which says what is written; a folder is what these write.
NOT = {("sweep", "out", "full"), ("tune", "into", "folder"), ("calibrate", "into", "folder"),
       *(("import", "job", place) for place in PLACES)}  # what is imported here is no job


def without_output(command, words, how):
    """One command whose standard output does not take anything."""
    stdin = b'{"app": "gpt3-13B"}\n' * 2000 if command == "serve" else b""
    if how == "full":
        with open("/dev/full", "wb") as full:
            result = a.run(words, stdin, stdout=full)
    elif how == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
        result = a.run(words, stdin, stdout=writer)
        os.close(writer)
    else:
        result = a.run(["python3", "-c", "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])", a.calc, *words], stdin)
    if how == "pipe" and result.code == -13:
        return None, result
    if "--json" in words and pathlib.Path("o.json").exists():
        with_output, now = a.run([*words[:-1], "with.json"]), pathlib.Path("o.json").read_text()
        if with_output.code == 0 and now.replace("o.json", "with.json") != pathlib.Path("with.json").read_text():
            return "other bytes in the file", result
    elif "--json" in words and result.code == 0:
        return "no file", result
    if result.code != 4 and not (result.code == 0 and "--json" in words):
        return "no status 4", result
    if result.code == 4 and how != "pipe" and b"cannot write" not in result.err:
        return "no message", result
    return None, result


def in_place(words, option, place):
    """One command that writes a file to a place that cannot be."""
    result = a.run([*words, f"--{option}", place])
    said = result.err.decode(errors="replace")
    if result.code != 4:
        return "no status 4", result
    return (None if place[-200:] in said else "the place is not named"), result


def main():
    for folder in ("work", "folder.json"):
        os.mkdir(folder)
    rows = "".join(f"{i},{','.join(attack.RUN)},{45 + i}\n" for i in range(3))
    pathlib.Path("runs.csv").write_text("id,app,sys,exe,measured_s\n" + rows)
    for i in "12":
        a.run(["sweep", "gpt3-13B", "a100_80g", *SMALL, "--shard", f"{i}/2", "--out", f"part{i}"])
    os.chdir("work")
    if a.run(["app", "--html", "app.html"]).code != 3:  # 3: built without the module of its page
        COMMANDS["app"] = ["app", "--html", "-"]
        os.unlink("app.html")
    missing = {command[0] for command in a.commands} - set(COMMANDS) - {"app"}
    if missing:
        a.fail(0, sorted(missing), "commands that this script does not know")
    cases = [(name, None, how) for name in COMMANDS for how in ("full", "pipe", "closed")]
    cases += [(name, "json", "closed") for name in JSON_TOO]
    for command, options in a.commands.items():
        if command[0] != "as" and command[0] in COMMANDS:
            cases += [(command[0], option, how) for option, word in options.items() if word in ("FILE", "DIR") and option not in READ
                      for how in PLACES if (command[0], option, how) not in NOT]
    for k in a.pick(len(cases), 60):
        name, option, how = cases[k]
        words = [str(word) for word in COMMANDS[name]]
        if option == "mps":
            words += ["--solver", "glpsol"]
        words += ["--into", "layouts"] if name == "tune" and option != "into" else []
        if option and how != "closed":
            wrong, result = in_place(words, option, PLACES[how])
        else:
            wrong, result = without_output(name, [*words, *(["--json", "o.json"] if option else [])], how)
        fine = ("layouts/", "o.json", "with.json") if how == "closed" else ("layouts/",)  # what was written
        left = [str(path) for path in pathlib.Path(".").rglob("*") if path.is_file() and not str(path).startswith(fine)]
        if not wrong and left:
            wrong = f"left: {left}"
        if wrong:
            a.fail(k, words, f"{name} --{option} {how}: {wrong}", result)
        a.seen[f"with {'signal' if (result.code or 0) < 0 else 'status'} {abs(result.code or 0)}"] += 1
        for path in os.listdir("."):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    if os.listdir("../folder.json"):
        a.fail(0, [], "a folder in the place is not empty")
    a.end()


main()
