"""Layouts tuned by Optuna, asked and told: it proposes many at once, calc evaluates them in one call.
Without Optuna, a sampler of the same kind in the standard library stands in.

usage: tune_optuna.py [APP [SYS [EXE [TRIALS [SEED]]]]]
"""

import os
import random
import sys
import types
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calc

BATCH = 5  # layouts proposed before one of them is told


class Study:
    """As much of optuna.study.Study as is used here: one of the best tenth of trials, with some of
    its choices drawn again."""

    def __init__(self, seed):
        self.rng, self.told, self.queue = random.Random(seed), [], []

    def enqueue_trial(self, params):
        self.queue.append(params)

    def ask(self, distributions):
        drawn = {name: self.rng.choice(values) for name, values in distributions.items()}
        if len(self.told) >= 40:
            best = sorted(self.told, key=lambda trial: trial.value)[:len(self.told) // 10]
            drawn = {name: drawn[name] if self.rng.random() < 0.25 else value
                     for name, value in self.rng.choice(best).params.items()}
        return types.SimpleNamespace(params=self.queue.pop(0) if self.queue else drawn)

    def tell(self, trial, value):
        trial.value = value
        self.told.append(trial)

    @property
    def best_trial(self):
        return min(self.told, key=lambda trial: trial.value)


def start(space, seed):
    """A study, what its ask() takes, and a name for both."""
    choices = space.distributions()
    try:
        import optuna
    except ImportError:
        return Study(seed), choices, "the standard library"
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    # Sizes matter together, not each for itself.
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    study = optuna.create_study(sampler=sampler)
    kind = optuna.distributions.CategoricalDistribution
    return study, {name: kind(values) for name, values in choices.items()}, "Optuna"


def main(app="llama3-70B", system="h100_sxm", exe="llama3-70B_512", trials="400", seed="1"):
    space = calc.Space(app, system, exe)
    study, distributions, name = start(space, int(seed))
    given = calc.run(*space.documents, stats=[], inputs=True)["exe"]
    study.enqueue_trial({name: given[name] if given.get(name) in values else values[-1]
                         for name, values in space.distributions().items()})
    done = 0
    while done < int(trials):
        asked = [study.ask(distributions) for _ in range(min(BATCH, int(trials) - done))]
        layouts = [space.nearest(trial.params) for trial in asked]
        for trial, found in zip(asked, calc.evaluate(space, layouts)):
            study.tell(trial, found["value"])
        done += len(asked)
    best = space.nearest(study.best_trial.params)
    used = calc.run(*space.documents, set=best, inputs=True)["exe"]  # what "auto" came to
    print(f"{done} evaluations of {space.size} layouts with {name}")
    print(f"{study.best_trial.value:.3f} s:", " ".join(f"{key}={used.get(key, best[key])}".lower() for key in best))


main(*sys.argv[1:])
