"""An external tuner in thirty lines: random layouts of one model on one machine; the fastest wins.

usage: random_search.py [APP [SYS [EXE [TRIALS]]]]
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calc

app, system, exe, trials = (sys.argv[1:] + ["gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full",
                                            "2000"][len(sys.argv) - 1:])[:4]
base = calc.run(app, system, exe, stats=["total_time"], inputs=True)
procs = base["exe"]["num_procs"]
divisors = [n for n in range(1, procs + 1) if procs % n == 0]
random.seed(1)


def draw():
    tensor = random.choice([n for n in divisors if n <= 16])
    pipeline = random.choice([n for n in divisors if procs // tensor % n == 0])
    return {"tensor_par": tensor, "pipeline_par": pipeline,
            "data_par": procs // tensor // pipeline,
            "pipeline_interleaving": random.choice([1, 2, 4]),
            "microbatch_size": random.choice([1, 2, 4]),
            "activation_recompute": random.choice(["none", "attn_only", "full"])}


layouts = [draw() for _ in range(int(trials))]
answers = calc.run_many(app, system, exe, layouts, stats=["total_time"], errors="return")
legal = [(answer["stats"]["total_time"], layout) for answer, layout in zip(answers, layouts)
         if answer.get("verdict") == "ok"]
print(f"{len(legal)} of {trials} layouts can run; {base['stats']['total_time']:.3f} s before")
best = min(legal, key=lambda pair: pair[0])
print(f"{best[0]:.3f} s:", " ".join(f"{key}={value}" for key, value in best[1].items()))
