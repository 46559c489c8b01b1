#!/usr/bin/env python3
"""The Python module with values of every type in every argument, from 8 threads, after fork and after close: exceptions, never a
signal, and the right numbers afterwards.

usage: module.py CALC [CASE...]   CALC_LIBRARY names the library; CALC_LONG=1  6,000 calls instead of 800"""
import json
import os
import random
import subprocess
import sys
import threading

import attack

GOOD = ("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")
CALLS, SOME, BLOCK = 6000, 800, 200


class Odd:
    pass


ODD = [None, 1, -1, 1.5, float("nan"), float("inf"), "", b"x", "\0", "a\0b", "\ud800", "../../etc/passwd", "/etc/passwd", [], {}, [1],
       {"a": 1}, {1: 2}, (1,), set(), object(), Odd, lambda: 1, True, 10 ** 400, "x" * 10 ** 6, range(3), 1j, bytearray(b"{}"),
       "a100_80g", {"tp": None}]
FINE = (TypeError, ValueError, KeyError, AttributeError, OverflowError, IndexError, OSError)


def call(calc, k, rng):
    """One call; what is given depends on its number alone."""
    kind = rng.randrange(8)
    odd = lambda: rng.choice(ODD)
    if kind == 0:
        return calc.load(rng.choice(["app", "sys", "exe", odd()]), odd())
    if kind == 1:
        return calc.names(odd())
    if kind == 2:
        return calc.fields(odd())
    if kind == 3:
        return calc.Space("llama2-7B", "h100_sxm", rng.choice([odd(), {"num_procs": 8, "batch_size": 8}]), odd())
    given = {}
    if rng.random() < 0.6:
        given["set"] = rng.choice([odd(), {"tensor_par": odd()}, {rng.choice(["a", "", "mem1.GiB", "networks[0].bandwidth"]): odd()}])
    for name, share in (("compat", 0.2), ("layers", 0.2), ("stages", 0.2), ("inputs", 0.1)):
        if rng.random() < share:
            given[name] = odd()
    if rng.random() < 0.4:
        given["stats"] = rng.choice([odd(), ["total_time"], [odd()]])
    documents = [odd() if rng.random() < 0.4 else name for name in GOOD]
    if kind == 4:
        session = calc.Session()
        if rng.random() < 0.5:
            session.close()
        return session.run(*documents, **given)
    return calc.run(*documents, **given)


def child(numbers):
    sys.path.insert(0, str(attack.ROOT / "python"))
    import calc
    right = calc.run(*GOOD)["stats"]
    ended = {}
    for k in numbers:
        os.write(2, f"{k}\n".encode())
        try:
            call(calc, k, random.Random(f"{os.environ.get('CALC_SEED', '1')} {k}"))
            what = "calls fine"
        except calc.Error:
            what = "calls refused with calc.Error"
        except FINE as failure:
            what = f"calls refused with {type(failure).__name__}"
        ended[what] = ended.get(what, 0) + 1
    assert calc.run(*GOOD)["stats"] == right, "other numbers afterwards"
    times = []
    changed = [calc.run(*GOOD, set={"batch_size": 3072 * (1 + i)}, stats=["total_time"])["stats"] for i in range(9)]
    threads = [threading.Thread(target=lambda: times.append(all(
        calc.run(*GOOD, set={"batch_size": 3072 * (1 + i % 9)}, stats=["total_time"])["stats"] == changed[i % 9] for i in range(40))))
        for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert times == [True] * 8, "other numbers in threads"
    forked = os.fork()
    if forked == 0:
        os._exit(0 if calc.run(*GOOD)["stats"] == right else 1)
    assert os.waitpid(forked, 0)[1] == 0, "other numbers after fork"
    print(json.dumps(ended))


if sys.argv[2:3] == ["child"]:
    child([int(word) for word in sys.argv[3:]])
    sys.exit()
if not os.path.exists(os.environ.get("CALC_LIBRARY", "")):
    print("skipped: no shared library")
    sys.exit(77)
library = os.path.abspath(os.environ["CALC_LIBRARY"])
a = attack.Attack()
a.env["CALC_LIBRARY"] = library
a.env["CALC_SEED"] = a.seed
chosen = list(a.numbers or (range(CALLS) if a.long else a.pick(CALLS, SOME)))
script = os.path.join(attack.ROOT, "tests/attack/module.py")
for first in range(0, len(chosen), BLOCK):
    block = chosen[first:first + BLOCK]
    done = subprocess.run([sys.executable, script, a.calc, "child", *map(str, block)], env=a.env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=attack.HANG_S * 5)
    said = [line for line in done.stderr.split(b"\n") if line]
    if done.returncode:
        last = [int(line) for line in said if line.isdigit()][-1]
        a.fail(last, ["python", "module"], f"status {done.returncode} after call {last}: {done.stderr[-500:].decode(errors='replace')}")
        continue
    for what, count in json.loads(done.stdout.splitlines()[-1]).items():
        a.seen[what] += count
a.end()
