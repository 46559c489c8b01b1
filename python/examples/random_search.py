"""An external tuner in thirty lines: random layouts of one model on one machine; the fastest wins.

usage: random_search.py [APP [SYS [EXE [TRIALS]]]]
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calc

app, system, exe, trials = (sys.argv[1:] + ["llama3-70B", "h100_sxm", "llama3-70B_512",
                                            "2000"][len(sys.argv) - 1:])[:4]
base = calc.run(app, system, exe, stats=["total_time"], inputs=True)
training = base["exe"]["training"]
replica = base["exe"]["num_procs"] // max(1, base["exe"].get("context_par", 1))
divisors = [n for n in range(1, replica + 1) if replica % n == 0]
follows = dict.fromkeys(["data_par", "pipeline_interleaving", "tensor_par_comm_type", "tensor_par_overlap",
                         "seq_par_ag_redo", "optimizer_sharding", "data_par_overlap"], "auto")
random.seed(1)


def draw():
    tensor = random.choice([n for n in divisors if n <= 16])
    pipeline = random.choice([n for n in divisors if replica // tensor % n == 0])
    recompute = random.choice(["none", "attn_only", "full"] if training else ["none"])
    return {**follows, "tensor_par": tensor, "pipeline_par": pipeline,
            "microbatch_size": random.choice([1, 2, 4]), "recompute_modules": "none",
            "activation_recompute": recompute}


layouts = [draw() for _ in range(int(trials))]
answers = calc.run_many(app, system, exe, layouts, stats=["total_time"], errors="return")
legal = [(answer["stats"]["total_time"], layout) for answer, layout in zip(answers, layouts)
         if answer.get("verdict") == "ok"]
print(f"{len(legal)} of {trials} layouts can run; {base['stats']['total_time']:.3f} s before")
time, best = min(legal, key=lambda pair: pair[0], default=(base["stats"]["total_time"], {}))
print(f"{time:.3f} s:", " ".join(f"{key}={value}" for key, value in best.items() if key not in follows))
