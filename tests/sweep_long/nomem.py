#!/usr/bin/env python3
"""Out of memory, at every allocation of a command: it ends with status 4 and says so, or it does not matter and everything
that it writes is the same. Never another answer, another status or a crash, and no half-written file. What it leaves, as one
that is killed does, its successor removes.

usage: nomem.py CALC LIBRARY [COMMAND...]   LIBRARY: failing.c; COMMAND: numbers of the list, from 0
    CALC_LONG=1  every allocation, once and for good, instead of some of each"""
import collections
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

calc, library = (os.path.abspath(word) for word in sys.argv[1:3])
root = pathlib.Path(__file__).resolve().parents[2]
FIRST, SOME = 6, 14
COMMANDS = [
    "run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json -",
    "sweep gpt3-13B a100_80g --procs 16 --batch 16 --threads 1 --progress none --out o.json --save-best b.json",
    "sweep gpt3-13B a100_80g --procs 16 --batch 16 --threads 1 --progress none --checkpoint part",
    "export --to megatron gpt3-175B 3072_t4_p64_d12_mbs4_full",
    f"import {root}/tests/fuzz/corpus/taylor/infinite_layers --from nemo",
    "validate --worst 0 --json o.json",
    "run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --html x.html",
    "plan llama2-7B a100_sxm_40g --procs 8 --batch 16 --axis tp=2 --axis pp=2 --axis mbs=1 --threads 1 --progress none --out o.json",
    "why gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full",
    "tune llama2-7B h100_sxm --procs 8 --batch 16 --candidates 20 --progress none --json o.json",
]
DIFFERS = re.compile(rb"[0-9] m?s |elapsed_s|per core")  # times of day and speeds


def attempt(words, at=0, every=False, keep=False):
    """Status, and a digest of all that a command writes, files that are drafts aside."""
    for name in os.listdir(".") if not keep else ():
        shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
    env = dict(os.environ, CALC_PATH=str(root), LD_PRELOAD=library, OMP_NUM_THREADS="1", FAIL_AT=str(at), FAIL_COUNT="../count")
    if every:
        env["FAIL_ALL"] = "1"
    run = subprocess.run([calc, *words], stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=120)
    wrote = {name: open(name, "rb").read() for name in sorted(os.listdir(".")) if os.path.isfile(name)}
    lines = (run.stdout + b"".join(wrote.values())).split(b"\n")
    clean = b"\n".join(line for line in lines if not DIFFERS.search(line[:400]))
    return run.returncode, hashlib.md5(clean).hexdigest(), sorted(wrote), run.stderr.decode(errors="replace")


def main():
    rng = random.Random(1)
    long = bool(os.environ.get("CALC_LONG"))
    chosen = [int(word) for word in sys.argv[3:]] or range(len(COMMANDS))
    seen = collections.Counter()
    failed = 0
    for number in chosen:
        words = COMMANDS[number].split()
        normal = attempt(words)
        count = int(open("../count").read())
        if long:
            places = range(1, count + 1)
        else:
            places = sorted({*range(1, min(FIRST, count) + 1), *(rng.randint(1, count) for _ in range(SOME))})
        for at in places:
            for every in (False, True):
                code, digest, names, said = attempt(words, at, every)
                left = any(".tmp" in name for name in names)
                if code == 4 and "emory" in said and (not left or attempt(words, keep=True)[:3] == normal[:3]):
                    seen["refused"] += 1
                elif (code, digest) == normal[:2]:
                    seen["the same"] += 1
                else:
                    failed += 1
                    print(f"calc {COMMANDS[number]}: allocation {at}{' and all after it' if every else ''} of {count} fails: "
                          f"status {code}, {names}, {said[:200]!r}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in seen.items()))
    return failed > 0


with tempfile.TemporaryDirectory() as folder:
    os.mkdir(f"{folder}/work")
    os.chdir(f"{folder}/work")
    sys.exit(main())
