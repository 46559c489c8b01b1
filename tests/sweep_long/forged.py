#!/usr/bin/env python3
"""Parts of a sweep with a word changed and the checksum made right again: calc sweep --merge refuses them with status 3 and names the
file, or merges them (counts are not checked); it never crashes, and never calls one a bug of its own.

usage: forged.py CALC [TRIES]"""
import collections
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

calc = os.path.abspath(sys.argv[1])
tries = int(sys.argv[2]) if len(sys.argv) > 2 else 150
os.environ["CALC_PATH"] = str(pathlib.Path(__file__).resolve().parents[2])
HEAD = 24


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = ((h ^ b) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def signed(body):
    return b"calcpart" + struct.pack("<QQ", len(body), fnv(body)) + body


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for i in (1, 2):
        subprocess.run([calc, "sweep", "gpt3-13B", "a100_80g", "--procs", "8:8:8", "--batch", "16", "--top", "2", "--objectives",
                        "sample_rate", "--shard", f"{i}/2", "--out", str(i), "--progress", "none"], check=True,
                       stdout=subprocess.DEVNULL)
    body = open("1", "rb").read()[HEAD:]
    assert signed(body) == open("1", "rb").read()
    values = [0, 1, 2, 5, 0xFFFFFFFFFFFFFFFF, 1 << 53, 1 << 31, 1 << 63, 0x7FF8000000000000, 0x3FF0000000000000]
    rng = random.Random(1)
    seen = collections.Counter()
    for k in range(tries):
        forged = bytearray(body)
        if rng.random() < 0.8:
            at = rng.randrange(0, len(body) - 8)
            at -= at % 8 if rng.random() < 0.3 else 0
            forged[at:at + 8] = struct.pack("<Q", rng.choice(values))
        else:
            forged[rng.randrange(len(body))] = rng.randrange(256)
        open("f", "wb").write(signed(bytes(forged)))
        run = subprocess.run([calc, "sweep", "--merge", "f", "2"], capture_output=True, timeout=60)
        seen[run.returncode] += 1
        named = run.stderr.startswith(b"f: ")
        if run.returncode not in (0, 3) or (run.returncode == 3 and not named):
            sys.exit(f"try {k}: {run.returncode}, {run.stderr[:300]}")

    # The words of a part name no file to write: one word becomes an option of another meaning.
    words = b"--procs=8:8:8\0"
    assert words in body
    forged = body.replace(words, b"--out=aa.json\0")
    open("f", "wb").write(signed(forged))
    run = subprocess.run([calc, "sweep", "--merge", "f", "2"], capture_output=True, timeout=60)
    if run.returncode != 3 or run.stderr != b"f: damaged: its command line makes no sense\n" or os.path.exists("aa.json"):
        sys.exit(f"a part that writes: {run.returncode}, {run.stderr[:300]}")
    if seen[3] < tries / 2:
        sys.exit(f"only {seen[3]} of {tries} were refused")
    print(f"{seen[3]} forged parts refused, {seen[0]} merged")
