"""A function that Ray Tune trains: it takes one choice of each field and reports what calc says of
the layout. Without Ray, a runner in the standard library stands in, with as many threads.

usage: tune_ray.py [APP [SYS [EXE [TRIALS [SEED]]]]]
"""

import concurrent.futures
import os
import random
import sys
import threading
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calc

THREADS = 2


class StandIn:
    """As much of the module ray.tune as is used here: random search."""

    choice = staticmethod(tuple)
    TuneConfig = types.SimpleNamespace

    def __init__(self, seed):
        self.seed, self.reported = seed, threading.local()

    def report(self, metrics):
        self.reported.metrics = metrics

    def Tuner(self, trainable, param_space, tune_config):
        rng = random.Random(self.seed)
        configs = [{name: rng.choice(values) for name, values in param_space.items()}
                   for _ in range(tune_config.num_samples)]

        def trial(config):
            trainable(config)
            return types.SimpleNamespace(config=config, metrics=self.reported.metrics)

        def fit():
            with concurrent.futures.ThreadPoolExecutor(tune_config.max_concurrent_trials) as pool:
                results = list(pool.map(trial, configs))
            return types.SimpleNamespace(get_best_result=lambda: min(
                results, key=lambda result: result.metrics[tune_config.metric]))

        return types.SimpleNamespace(fit=fit)


def start(seed):
    """The module, how it draws and how much at once, and a name for it."""
    try:
        from ray import tune
        from ray.tune.search.basic_variant import BasicVariantGenerator
    except ImportError:
        return StandIn(seed), {"max_concurrent_trials": THREADS}, "the standard library"
    search = BasicVariantGenerator(max_concurrent=THREADS, random_state=seed)
    return tune, {"search_alg": search}, "Ray Tune"


def main(app="llama3-70B", system="h100_sxm", exe="llama3-70B_512", trials="400", seed="1"):
    space = calc.Space(app, system, exe)
    tune, search, name = start(int(seed))

    def trainable(config):
        found = calc.evaluate(space, [space.nearest(config)])[0]
        tune.report({"step_time": found["value"]})

    tuner = tune.Tuner(
        trainable,
        param_space={key: tune.choice(values) for key, values in space.distributions().items()},
        tune_config=tune.TuneConfig(metric="step_time", mode="min", num_samples=int(trials), **search))
    result = tuner.fit().get_best_result()
    best = space.nearest(result.config)
    print(f"{trials} evaluations of {space.size} layouts with {name}")
    print(f"{result.metrics['step_time']:.3f} s:", " ".join(f"{key}={best[key]}".lower() for key in best))


main(*sys.argv[1:])
