#!/usr/bin/env python3
"""Writing fails: the n-th operation on files of a command (write, fsync, rename, close) ends with ENOSPC, EIO, EDQUOT or EINTR, once
or for good, writes half, or the process is killed in it. A file is then as it would have been or not there, the status is 4 with a
message, and nothing is left. A sweep with a checkpoint goes on to the same bytes; so does any command that was killed.

usage: faults.py CALC LIBRARY [CASE...]   LIBRARY: sweep_long/failing.c
    CALC_LONG=1  every operation of every command in every way, instead of a sample"""
import errno
import os
import shutil

import attack

a = attack.Attack()
WAYS = {"ENOSPC": errno.ENOSPC, "ENOSPC for good": errno.ENOSPC, "EIO": errno.EIO, "EDQUOT": errno.EDQUOT, "EINTR": errno.EINTR,
        "half": "short", "killed": "kill"}
SWEEP = ["sweep", "gpt3-13B", "a100_80g", "--threads", "1", "--progress", "none"]
COMMANDS = [
    [*SWEEP, "--procs", "8:64:8", "--batch", "64", "--no-prune", "--checkpoint", "ck", "--checkpoint-every", "0", "--resume", "--out",
     "o.json"],
    [*SWEEP, "--procs", "8", "--batch", "8", "--out", "o.csv", "--all", "all.csv.gz", "--save-best", "best.json"],
    ["run", *attack.RUN, "--json", "o.json", "--html", "o.html", "--csv", "o.csv.gz", "--stages", "st.csv", "--peers", "p.json"],
    ["plan", "llama2-7B", "a100_sxm_40g", "--procs", "8", "--batch", "16", "--axis", "tp=2", "--axis", "pp=2", "--axis", "mbs=1",
     "--threads", "1", "--progress", "none", "--out", "o.json", "--csv", "o.csv", "--save-best", "best.json"],
    ["tune", "llama2-7B", "h100_sxm", "--procs", "8", "--batch", "8", "--axis", "tp=2", "--candidates", "3", "--progress", "none",
     "--json", "o.json", "--csv", "o.csv", "--out", "layouts"],
    ["export", "--to", "megatron", attack.RUN[0], attack.RUN[2], "--out", "o.sh"],
    ["export", "--to", "galvatron-profile", "llama3-8B", "h100_sxm", "--out", "profiles"],
    ["import", "--from", "megatron", "--app", "app.json", "--exe", "exe.json", "--", "--tensor-model-parallel-size", "2",
     "--num-layers", "4", "--hidden-size", "1024", "--num-attention-heads", "8", "--seq-length", "512", "--micro-batch-size", "1",
     "--global-batch-size", "8", "--padded-vocab-size", "1024", "--bf16"],
    ["validate", "../runs.csv", "--json", "o.json", "--csv", "o.csv", "--html", "o.html"],
    ["calibrate", "../runs.csv", "--system", "a100_80g", "--out", "o.json", "--json", "c.json"],
    ["why", *attack.RUN, "--json", "o.json.gz"],
    ["run", *attack.RUN[:2], attack.RUN[2], "--microbatches", "2", "--trace", "o.json.gz"],
    ["sweep", "--merge", "../part1", "../part2", "--out", "o.json"],
    ["schema", "exe", "--out", "o.json"],
]


def attempt(words, way=None, at=0, library=None):
    env = dict(a.env, LD_PRELOAD=library or a.words[0], FAIL_IO_COUNT="../count", FAIL_IO_AT=str(at), OMP_NUM_THREADS="1")
    if way:
        env["FAIL_IO"] = str(WAYS[way])
    if way and "good" in way:
        env["FAIL_ALL"] = "1"
    return a.run(words, env=env)


def clean():
    for name in os.listdir("."):
        shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)


def wrong_with(files, whole, result, way, words):
    """What is wrong after a command whose operation failed; None: nothing."""
    other = [name for name, data in files.items() if data != whole.get(name) and name != "ck"]
    if result.code == -9 and way == "killed":
        other = [name for name in other if ".tmp" not in name and not name.endswith(".lock")]
    elif result.code not in (0, 4):
        return "no status 0 or 4"
    elif result.code == 0 and files.keys() != whole.keys():
        return f"files {sorted(files)}, not {sorted(whole)}"
    elif result.code == 4 and b"cannot write" not in result.err and b"measure" not in result.err:
        return "no message"
    return f"other bytes in, or left: {other}" if other else None


def main():
    os.mkdir("work")
    with open("runs.csv", "w") as file:
        file.write("id,app,sys,exe,measured_s\n" + "".join(f"{i},{','.join(attack.RUN)},{45 + i}\n" for i in range(3)))
    for i in "12":
        a.run([*SWEEP, "--procs", "8", "--batch", "8", "--shard", f"{i}/2", "--out", f"part{i}"])
    os.chdir("work")
    cases = []
    whole = []
    for number, words in enumerate(COMMANDS):
        clean()
        result = attempt(words)
        whole.append((result.code, a.snapshot()))
        count = int(open("../count").read())
        if result.code != 0 or count == 0:
            a.fail(number, words, "does not write", result)
        cases += [(number, at, way) for at in range(1, count + 1) for way in WAYS]
    for k in a.pick(len(cases), 40):
        number, at, way = cases[k]
        words = COMMANDS[number]
        clean()
        result = attempt(words, way, at)
        wrong = wrong_with(a.snapshot(), whole[number][1], result, way, words)
        if not wrong and (result.code != 0):
            again = attempt(words)
            if (again.code, a.snapshot()) != whole[number]:
                wrong = f"not the same afterwards: {sorted(a.snapshot())}"
        if wrong:
            a.fail(k, words, f"operation {at}, {way}: {wrong}", result)
        a.seen["killed" if result.code == -9 else "refused" if result.code else "of no matter"] += 1
    print(f"{len(cases)} operations and ways of {len(COMMANDS)} commands")
    a.end()


main()
