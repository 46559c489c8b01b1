"""calc.Space, calc.evaluate() and the tuners of python/examples beside runs.

usage: check_tune.py CALC ROOT        CALC_LIBRARY names the library
"""

import ast
import csv
import importlib.util
import itertools
import math
import os
import random
import re
import statistics
import subprocess
import sys
import unittest

CALC, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
os.environ["CALC_PATH"] = ROOT
sys.path.insert(0, os.path.join(ROOT, "python"))
import calc

GPT = ("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")
LLAMA = ("llama3-70B", "h100_sxm", "llama3-70B_512")
SMALL = {"tensor_par": [2, 4, 8], "pipeline_par": [1, 2, 4], "microbatch_size": [1, 2, 4],
         "pipeline_interleaving": [1, 2, 5, "auto"], "optimizer_sharding": [False, "auto"],
         "tensor_par_overlap": "auto", "activation_recompute": ["none", "full"]}


def shipped():
    with open(os.path.join(ROOT, "tests/golden/catalogue/layouts.csv")) as file:
        for row in csv.DictReader(file):
            exe, app, system = row.values()
            yield app, system, exe


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def key(point):
    return tuple(sorted((name, repr(value)) for name, value in point.items()))


class Fields(unittest.TestCase):
    def test_they_are_those_of_the_command(self):
        for kind in ("app", "sys", "exe", "stats", "layer", "stage"):
            listed = subprocess.run([CALC, "show", "fields", kind], capture_output=True, text=True).stdout
            self.assertEqual(list(calc.fields(kind)), re.findall(r"^  (\S+)", listed, re.M))

    def test_an_execution_is_in_their_ranges(self):
        rows = calc.fields("exe")
        exe = calc.run(*LLAMA, stats=[], inputs=True)["exe"]
        for name, value in exe.items():
            row = rows[name]
            if row["type"] in ("integer", "number"):
                self.assertLessEqual(row["minimum"], value)
                self.assertLessEqual(value, row["maximum"])
            elif row["type"] == "choice":
                self.assertIn(value, row["choices"])

    def test_a_wrong_kind_is_an_error(self):
        with self.assertRaisesRegex(calc.Error, 'expected "app", "sys", "exe"'):
            calc.fields("exec")


class Sizes(unittest.TestCase):
    """The sizes that a space takes to fit together are those that the library does not refuse."""

    POINTERS = {"/num_procs", "/tensor_par", "/pipeline_par", "/data_par", "/expert_par",
                "/batch_size", "/microbatch_size", "/pipeline_interleaving", "/zero_stage",
                "/pipeline_schedule"}

    def check(self, app, system, exe, most_chunks):
        space = calc.Space(app, system, exe)
        have = calc.run(app, system, exe, stats=[], inputs=True)
        names = [name for name in ("tensor_par", "pipeline_par", "expert_par", "microbatch_size",
                                   "pipeline_interleaving", "data_par") if name in space.axes]
        rest = {name: values[-1] for name, values in space.axes.items() if name not in names}
        rest["activation_recompute"] = "none"
        procs = have["exe"]["num_procs"] // have["exe"].get("context_par", 1)
        batch = have["exe"]["batch_size"]
        experts = divisors(have["exe"]["num_procs"]) if "expert_par" in names else [None]
        points = []
        for tensor, stages in itertools.product(divisors(procs), repeat=2):
            if procs % (tensor * stages) == 0:
                for part, micro, chunks in itertools.product(
                        experts, [n for n in divisors(batch) if n <= 16], range(1, most_chunks + 1)):
                    sizes = (tensor, stages, part, micro, chunks, procs // (tensor * stages))
                    points.append(dict(zip(names, [n for n in sizes if n is not None])))
        answers = calc.run_many(app, system, exe, [rest | point for point in points], stats=[],
                                errors="return")
        want = {key(point) for point, answer in zip(points, answers)
                if answer.get("verdict") != "interleaving" and not any(
                    error.get("pointer") in self.POINTERS for error in answer.get("errors", []))}
        got = {key({name: point[name] for name in names}) for point in space
               if point["pipeline_interleaving"] <= most_chunks}
        self.assertEqual(sorted(got - want)[:3], [])
        self.assertEqual(sorted(want - got)[:3], [])
        self.assertGreater(len(points), 2 * len(want))
        self.assertGreater(len(want), 20)

    def test_of_stages_that_are_alike(self):
        self.check("llama3-70B", "h100_sxm", "llama3-70B_64_fp8", 81)

    def test_of_stages_with_embedding_and_head_as_blocks(self):
        exe = calc.load("exe", "llama3-405B_256_fp8")
        self.check("llama3-405B", "b200", exe | {"pipeline_balance": "ends"}, 32)

    def test_of_experts(self):
        self.check("mixtral-8x7B", "h100_sxm", "mixtral-8x7B_64", 8)

    def test_of_weights_that_are_sharded(self):
        self.check("llama3-8B", "h100_sxm", "llama3-8B_128_fsdp", 4)

    def test_of_stages_with_blocks_of_their_own(self):
        exe = calc.load("exe", "llama3-70B_64_fp8")
        for first, last, balance, stages in ((19, 21, "blocks", 4), (0, 20, "blocks", 4),
                                             (0, 0, "free", 4)):
            ends = {"first_stage_blocks": first, "last_stage_blocks": last,
                    "pipeline_balance": balance, "pipeline_par": stages, "tensor_par": 2,
                    "pipeline_interleaving": 1, "data_par": "auto"}
            self.check("llama3-70B", "gb200_nvl72", exe | ends, 12)

    def test_of_dualpipe(self):
        exe = calc.load("exe", "deepseek-v3_2048") | {
            "num_procs": 64, "batch_size": 192, "pipeline_par": 8, "expert_par": 8,
            "pipeline_schedule": "dualpipe", "data_par": "auto"}
        self.check("deepseek-v3-671B", "h800", exe, 3)


class Spaces(unittest.TestCase):
    def test_every_shipped_layout_has_a_space_whose_layouts_are_legal(self):
        for app, system, exe in shipped():
            space = calc.Space(app, system, exe)
            rng = random.Random(1)
            points = [space.sample(rng) for _ in range(200)]
            verdicts = {found["verdict"] for found in calc.evaluate(space, points)}
            self.assertFalse(verdicts & {"illegal", "interleaving"}, exe)

    def test_layouts_are_all_different_and_as_many_as_it_says(self):
        space = calc.Space(*LLAMA, SMALL)
        self.assertEqual(calc.load("exe", LLAMA[2])["context_par"], 2)
        points = list(space)
        self.assertEqual(len(points), len(space))
        self.assertEqual(len({key(point) for point in points}), len(space))
        self.assertTrue(all(point in space for point in points))
        self.assertEqual({point["data_par"] for point in points}, set(space.axes["data_par"]))
        for point in points:
            self.assertEqual(list(point), list(space.axes))
            self.assertEqual(point["tensor_par"] * point["pipeline_par"] * point["data_par"], 256)
        self.assertNotIn(points[0] | {"data_par": 3}, space)
        self.assertNotIn(points[0] | {"tensor_par_overlap": "none"}, space)
        self.assertNotIn({}, space)

    def test_samples_are_seeded_and_reach_every_value(self):
        space = calc.Space(*LLAMA, SMALL)
        draw = [[space.sample(rng) for _ in range(600)] for rng in map(random.Random, (1, 1, 2))]
        self.assertEqual(draw[0], draw[1])
        self.assertNotEqual(draw[0], draw[2])
        self.assertTrue(all(point in space for point in draw[0]))
        for name, values in space.axes.items():
            self.assertEqual({point[name] for point in draw[0]}, set(values))

    def test_a_step_leads_back_and_steps_lead_everywhere(self):
        space = calc.Space(*LLAMA, SMALL)
        around = {key(point): [key(near) for near in space.neighbours(point)] for point in space}
        for point, near in around.items():
            self.assertNotIn(point, near)
            self.assertEqual(len(set(near)), len(near))
            for other in near:
                self.assertIn(point, around[other])
        reached, left = set(), [next(iter(around))]
        while left:
            point = left.pop()
            if point not in reached:
                reached.add(point)
                left += around[point]
        self.assertEqual(len(reached), len(space))
        with self.assertRaisesRegex(ValueError, "not a layout"):
            next(space.neighbours({"tensor_par": 3}))

    def test_numbers_move_to_the_next_one_and_choices_to_any_other(self):
        space = calc.Space(*LLAMA, {"tensor_par": 4, "pipeline_par": 4, "microbatch_size": [1, 2, 4, 8],
                                    "pipeline_interleaving": "auto",
                                    "activation_recompute": ["none", "attn_only", "full"]})
        point = {"tensor_par": 4, "pipeline_par": 4, "microbatch_size": 2,
                 "pipeline_interleaving": "auto", "activation_recompute": "none", "data_par": 16}
        self.assertEqual([{name: near[name] for name in near if near[name] != point[name]}
                          for near in space.neighbours(point)],
                         [{"activation_recompute": "attn_only"}, {"activation_recompute": "full"},
                          {"microbatch_size": 1}, {"microbatch_size": 4}])

    def test_choices_come_to_a_layout(self):
        space = calc.Space(*LLAMA, SMALL)
        choices = space.distributions()
        self.assertNotIn("data_par", choices)
        self.assertNotIn("tensor_par_overlap", choices)  # it has one value
        for point in space:
            self.assertEqual(space.nearest({name: point[name] for name in choices}), point)
        for config in itertools.product(*choices.values()):
            config = dict(zip(choices, config))
            point = space.nearest(config)
            self.assertIn(point, space)
            self.assertEqual([point[name] for name in ("tensor_par", "optimizer_sharding")],
                             [config[name] for name in ("tensor_par", "optimizer_sharding")])
        one = dict.fromkeys(choices) | {
            "tensor_par": 8, "pipeline_par": 1, "microbatch_size": 4, "pipeline_interleaving": 5,
            "optimizer_sharding": False, "activation_recompute": "full"}
        self.assertEqual(space.nearest(one)["pipeline_interleaving"], 1)
        with self.assertRaisesRegex(ValueError, "no axes of the space: tensor_pa$"):
            space.nearest(one | {"tensor_pa": 1})
        with self.assertRaisesRegex(ValueError, "no choice of pipeline_par, tensor_par"):
            space.nearest({name: one[name] for name in one if name[-4:] != "_par"})

    def test_every_field_but_the_fixed_ones_is_an_axis(self):
        exe = calc.run(*LLAMA, stats=[], inputs=True)["exe"]
        rows = {name: row for name, row in calc.fields("exe").items()
                if name not in ("num_procs", "training", "source")}
        for name, row in rows.items():
            finite = row["type"] in ("boolean", "choice", "set") or name.endswith("_par")
            values = {"stages": [None], "layers": [None]}.get(
                row["type"], "*" if finite else [exe.get(name, row.get("default"))])
            if values != [None]:
                space = calc.Space(*LLAMA, {name: values})
                found = calc.evaluate(space, space)
                self.assertEqual(len(found), len(space), name)
                self.assertTrue(row["type"] == "set" or name.startswith("inference.prefill") or
                                any(one["value"] < math.inf for one in found), name)
        both = {"blocks": ["4x10", "4x10"]}, {"blocks": ["4x9", "4x11"]}
        space = calc.Space(*LLAMA, {"stages": both, "pipeline_par": 8, "pipeline_interleaving": 1})
        self.assertEqual(len({found["value"] for found in calc.evaluate(space, space)}), 2)
        # Chunks of 6 and of 7 blocks, which do not divide evenly.
        space = calc.Space(*LLAMA, {"stages": {"blocks": ["4x6", "8x7"]}, "pipeline_par": 4,
                                    "pipeline_interleaving": 3})
        self.assertEqual(calc.evaluate(space, space)[0]["reasons"], [])

    def test_every_value_is_what_the_table_says(self):
        space = calc.Space(*LLAMA, {"framework_mem": "*", "tensor_par_net": "*", "zero_stage": "*",
                                    "optimizer_offload": "*", "rank_order": "*", "context_par_net": "*"})
        words = calc.fields("exe")["framework_mem"]["choices"]
        self.assertEqual(len(space.axes["framework_mem"]), 2 ** len(words))
        self.assertEqual(space.axes["tensor_par_net"], (0, 1))
        self.assertEqual(space.axes["context_par_net"], (-1, 0, 1))
        self.assertEqual(space.axes["zero_stage"], (0, 1, 2, 3))
        self.assertEqual(space.axes["optimizer_offload"], (False, True))
        self.assertEqual(space.axes["rank_order"], tuple(calc.fields("exe")["rank_order"]["choices"]))

    def test_other_names_of_fields_mean_them(self):
        self.assertEqual(list(calc.Space(*LLAMA, {"tp": [4], "pp": "*"})),
                         list(calc.Space(*LLAMA, {"tensor_par": 4, "pipeline_par": "*"})))

    def test_an_axis_is_whatever_has_values(self):
        self.assertEqual(calc.Space(*LLAMA, {"pp": {2: 0, 4: 0}.keys(), "tp": iter([4])}).axes,
                         {"pipeline_par": (2, 4), "tensor_par": (4,), "data_par": (16, 32)})
        space = calc.Space(*LLAMA, {})
        self.assertEqual((list(space), space.sample(random.Random(1)), space.nearest({})), ([{}], {}, {}))
        self.assertEqual(list(space.neighbours({})), [])
        self.assertEqual(calc.evaluate(space, space)[0]["value"], calc.run(*LLAMA)["stats"]["total_time"])

    def test_wrong_axes(self):
        for axes, text in (({"tensor_pa": [1]}, 'no field "tensor_pa" of an execution'),
                           ({"num_procs": [512]}, "num_procs is no axis"),
                           ({"gpus": [512]}, "gpus is no axis"),
                           ({"training": "*"}, "training is no axis"),
                           ({"moe_imbalance": "*"}, 'moe_imbalance: "\\*" has no end, give values'),
                           ({"batch_size": "*"}, 'batch_size: "\\*" has no end'),
                           ({"tensor_par": []}, "tensor_par has no values"),
                           ({"tp": [1], "tensor_par": [2]}, "tensor_par is named twice"),
                           ({"tensor_par": [3]}, "no sizes of the space fit num_procs = 512")):
            with self.assertRaisesRegex(ValueError, text):
                calc.Space(*LLAMA, axes)
        for axes, text in (({"datatype": ["fp12"]}, "fp12"), ({"tensor_par": [0]}, "at least 1"),
                           ({"zero_stage": [4]}, "expected at most 3|0 to 3")):
            with self.assertRaisesRegex(calc.Error, text):
                calc.Space(*LLAMA, axes)
        with self.assertRaisesRegex(calc.Error, 'no model named "llama"'):
            calc.Space("llama", *LLAMA[1:])


class Evaluations(unittest.TestCase):
    def test_they_are_runs(self):
        space = calc.Space(*GPT)
        rng = random.Random(3)
        points = [space.sample(rng) for _ in range(40)] + [{}]
        found = calc.evaluate(space, points, stats=["bubble_time"])
        self.assertEqual(found, calc.evaluate(GPT, points, stats=["bubble_time"]))
        self.assertGreater(len({one["verdict"] for one in found}), 1)
        for point, one in zip(points, found):
            run = calc.run(*GPT, set=point, stats=["total_time", "bubble_time"])
            self.assertEqual(one["verdict"], run["verdict"])
            self.assertEqual(one["value"], run["stats"]["total_time"]
                             if run["verdict"] == "ok" else math.inf)
            self.assertEqual(one["stats"], {"bubble_time": run["stats"]["bubble_time"]})
            self.assertEqual(one["reasons"], run.get("reasons", []))

    def test_a_contradiction_is_a_verdict_with_its_reasons(self):
        found = calc.evaluate(GPT, [{"tensor_par": 24}])[0]
        self.assertEqual((found["value"], found["verdict"]), (math.inf, "illegal"))
        self.assertIn("24 does not divide", " ".join(one["text"] for one in found["reasons"]))
        self.assertTrue(all("hint" in one for one in found["reasons"]))

    def test_the_value_is_small_where_the_layout_is_good(self):
        for objective in ("sample_rate", "mfu"):
            want = calc.run(*GPT)["stats"][{"mfu": "model_flops_utilization"}.get(objective, objective)]
            self.assertEqual(calc.evaluate(GPT, [{}], objective)[0]["value"], -want)
        want = calc.run(*GPT)["stats"]["proc_mem_tier1_cap_req"]
        self.assertEqual(calc.evaluate(GPT, [{}], "mem1")[0]["value"], want)

    def test_threads_change_nothing(self):
        space = calc.Space(*LLAMA)
        rng = random.Random(4)
        points = [space.sample(rng) for _ in range(2500)]  # calls for several threads
        want = calc.evaluate(space, iter(points))
        self.assertEqual(len(want), len(points))
        for threads in (2, 5):
            self.assertEqual(calc.evaluate(space, points, threads=threads), want)
        self.assertEqual(calc.evaluate(space, []), [])
        self.assertEqual(calc.evaluate(space, [], threads=2), [])

    def test_wrong_inputs_are_raised(self):
        for point, text in (({"tensor_pa": 4}, 'did you mean "tensor_par"'),
                            ({"tensor_par": 0}, "at least 1"), ({"tensor_par": "x"}, "tensor_par")):
            for threads in (1, 2):
                with self.assertRaisesRegex(calc.Error, text):
                    calc.evaluate(GPT, [{}, point], threads=threads)
        with self.assertRaisesRegex(calc.Error, 'did you mean "total_time"'):
            calc.evaluate(GPT, [{}], "total_tim")
        with self.assertRaisesRegex(ValueError, "usd_per_trillion_tokens has no value"):
            calc.evaluate(GPT, [{}], "usd_per_trillion_tokens")

    def test_rules_of_calculon_are_passed_on(self):
        want = calc.run(*GPT, compat="calculon", stats=["total_time"])["stats"]["total_time"]
        self.assertEqual(calc.evaluate(GPT, [{}], compat="calculon")[0]["value"], want)


class Documents(unittest.TestCase):
    def test_what_programs_md_says_of_python_is_so(self):
        """Its blocks run one after the other; a comment behind an expression is its value."""
        with open(os.path.join(ROOT, "docs/programs.md")) as file:
            blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.M | re.S)
        names, checked = {}, 0
        for block in blocks:
            for part in ast.parse(block).body:
                source = ast.get_source_segment(block, part)
                if isinstance(part, ast.Expr):
                    value = eval(source, names)
                    said = re.match(r"\s+# (.*)", block.splitlines()[part.end_lineno - 1]
                                    [part.end_col_offset:])
                    if said:
                        self.assertEqual(value, ast.literal_eval(said[1]), source)
                        checked += 1
                else:
                    exec(source, names)
        self.assertGreaterEqual(len(blocks), 3)
        self.assertGreaterEqual(checked, 5)


class Examples(unittest.TestCase):
    def run_example(self, name, *words, alone=True):
        """@param alone: without packages, as -S leaves them out"""
        answer = subprocess.run([sys.executable, "-B", *(["-I", "-S"] if alone else []),
                                 os.path.join(ROOT, "python/examples", name), *words],
                                capture_output=True, text=True, timeout=300)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def check(self, name, documents, trials, alone=True):
        text = self.run_example(name, *documents, str(trials), "7", alone=alone)
        found = re.search(rf"^{trials} evaluations of \d+ layouts with (.*)\n([\d.]+) s: (.*)\n$", text)
        self.assertTrue(found, text)
        self.assertEqual(found[1].startswith("the standard library"), alone)
        best = calc.run(*documents, set=found[3].split(), stats=["total_time"])
        self.assertEqual(best["verdict"], "ok")
        self.assertEqual(f"{best['stats']['total_time']:.3f}", found[2])
        before = calc.run(*documents, stats=["total_time"])["stats"]["total_time"]
        self.assertLess(float(found[2]), 1.2 * before)
        self.assertEqual(self.run_example(name, *documents, str(trials), "7", alone=alone), text)
        return float(found[2])

    def test_optuna(self):
        self.check("tune_optuna.py", LLAMA, 200)

    def test_optuna_begins_with_the_layout_that_it_is_given(self):
        text = self.run_example("tune_optuna.py", *LLAMA, "1", "7")
        given = calc.run(*LLAMA, stats=["total_time"])["stats"]["total_time"]
        self.assertEqual(re.search(r"^([\d.]+) s:", text, re.M)[1], f"{given:.3f}")

    def test_smac(self):
        self.check("tune_smac.py", GPT, 300)

    def test_ray(self):
        self.check("tune_ray.py", LLAMA, 200)

    def test_the_sampler_is_better_than_chance(self):
        space, times = calc.Space(*LLAMA), []
        for seed in range(5):
            text = self.run_example("tune_optuna.py", *LLAMA, "300", str(seed))
            times.append(float(re.search(r"^([\d.]+) s:", text, re.M)[1]))
        rng = random.Random(1)
        chance = [min(found["value"] for found in calc.evaluate(
            space, [space.sample(rng) for _ in range(300)])) for _ in range(9)]
        self.assertLess(statistics.median(times), statistics.median(chance))

    def with_library(self, module, name, documents):
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"no {module}")
        self.check(name, documents, 60, alone=False)

    def test_optuna_itself(self):
        self.with_library("optuna", "tune_optuna.py", LLAMA)

    def test_smac_itself(self):
        self.with_library("smac", "tune_smac.py", LLAMA)

    def test_ray_itself(self):
        self.with_library("ray", "tune_ray.py", LLAMA)


unittest.main(argv=sys.argv[:1])
