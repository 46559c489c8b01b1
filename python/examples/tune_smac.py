"""Fields of Calculon's execution tuned by SMAC3, asked and told, with every value that they may have.
Most combinations contradict themselves or do not fit in memory: they cost ten times what the
execution takes as it is. Without SMAC, a local search in the standard library stands in.

usage: tune_smac.py [APP [SYS [EXE [TRIALS [SEED]]]]]
"""

import json
import math
import os
import random
import sys
import tempfile
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calc

# All but num_procs and training, and what model, machine and batch decide: batch_size, datatype,
# attention_type and structure_type. They may be axes, too.
FIELDS = ["tensor_par", "pipeline_par", "tensor_par_net", "pipeline_par_net", "data_par_net",
          "microbatch_size", "fused_activation", "activation_recompute", "pipeline_interleaving",
          "optimizer_sharding", "tensor_par_comm_type", "tensor_par_overlap", "seq_par_ag_redo",
          "data_par_overlap", "weight_offload", "activations_offload", "optimizer_offload"]


class LocalSearch:
    """As much of a facade of SMAC as is used here: the best so far with one to three of its choices
    drawn again, and a draw of all of them every fourth time and until anything runs."""

    def __init__(self, choices, worst, seed):
        self.choices, self.rng = choices, random.Random(seed)
        self.asked, self.best, self.cost = 0, None, worst

    def ask(self):
        config = {name: self.rng.choice(values) for name, values in self.choices.items()}
        self.asked += 1
        if self.best and self.asked % 4:
            again = self.rng.sample(list(config), self.rng.randint(1, 3))
            config = self.best | {name: config[name] for name in again}
        return types.SimpleNamespace(config=config)

    def tell(self, info, value):
        if value.cost < self.cost:
            self.best, self.cost = info.config, value.cost


def start(choices, worst, trials, seed, folder):
    """What is asked and told, what makes a value of a cost, and a name for both."""
    try:
        from ConfigSpace import Categorical, ConfigurationSpace
        from smac import HyperparameterOptimizationFacade, Scenario
        from smac.runhistory.dataclasses import TrialValue
    except ImportError:
        return LocalSearch(choices, worst, seed), types.SimpleNamespace, "the standard library"
    configurations = ConfigurationSpace(seed=seed)
    configurations.add([Categorical(name, values) for name, values in choices.items()])
    scenario = Scenario(configurations, deterministic=True, n_trials=trials, seed=seed,
                        output_directory=folder)
    facade = HyperparameterOptimizationFacade(scenario, lambda config, seed: worst, overwrite=True,
                                              logging_level=False)
    return facade, TrialValue, "SMAC"


def main(app="gpt3-175B", system="a100_80g", exe="3072_t4_p64_d12_mbs4_full", trials="600", seed="1"):
    space = calc.Space(app, system, exe, dict.fromkeys(FIELDS, "*"))
    worst = 10 * calc.run(app, system, exe, stats=["total_time"])["stats"]["total_time"]
    # As text, because choices of one field may be of several types.
    choices = {name: [json.dumps(value) for value in values]
               for name, values in space.distributions().items()}
    best, time, ran = None, math.inf, 0
    with tempfile.TemporaryDirectory() as folder:
        tuner, value_of, name = start(choices, worst, int(trials), int(seed), folder)
        for _ in range(int(trials)):
            info = tuner.ask()
            layout = space.nearest({key: json.loads(text) for key, text in dict(info.config).items()})
            found = calc.evaluate(space, [layout])[0]
            tuner.tell(info, value_of(cost=min(found["value"], worst), time=0.0))
            ran += found["verdict"] == "ok"
            if found["value"] < time:
                best, time = layout, found["value"]
    print(f"{trials} evaluations of {space.size} layouts with {name}, {ran} can run")
    print(f"{time:.3f} s:", " ".join(f"{key}={value}".lower() for key, value in (best or {}).items()))


main(*sys.argv[1:])
