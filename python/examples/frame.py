"""Runs as a table: a pandas frame where pandas is installed, plain rows where it is not."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calc

changes = [{"pipeline_interleaving": n, "microbatch_size": m} for n in (1, 2) for m in (1, 2, 4)]
answers = calc.run_many("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full", changes,
                        stats=["total_time", "bubble_time", "proc_mem_tier1_cap_req"])
rows = [change | {"verdict": answer["verdict"]} | answer["stats"]
        for change, answer in zip(changes, answers)]
try:
    import pandas
    print(pandas.DataFrame(rows).to_string())
except ImportError:
    print(*rows[0], sep="\t")
    for row in rows:
        print(*row.values(), sep="\t")
