"""What calc show explain, why and diff say, beside runs.

usage: check_answers.py CALC ROOT        CALC_LIBRARY names the library
"""

import json
import math
import os
import re
import subprocess
import sys
import unittest

CALC, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
os.environ["CALC_PATH"] = ROOT
sys.path.insert(0, os.path.join(ROOT, "python"))
import calc

GPT = ("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")
LLAMA = ("llama3-405B", "h100_sxm", "llama3-405B_16384")
DEEPSEEK = ("deepseek-v3-671B", "h800", "deepseek-v3_2048")


def command(*words, status=0):
    answer = subprocess.run([CALC, *words], capture_output=True, text=True, timeout=60)
    assert answer.returncode == status, answer.stderr
    return answer.stdout


def equations():
    """Equation of every statistic that has one."""
    found = {}
    with open(f"{ROOT}/src/calc/stats.fields.h") as file:
        for line in file:
            row = re.match(r'CALC_FIELD\((\w+),.*\.equation = "([^"]*)"', line)
            if row:
                found[row[1]] = row[2]
    return found


def value_of(answer, word):
    """Number of a statistic, or of a field with its document: exe.batch_size. None: it is none."""
    if word in answer["stats"]:
        number = answer["stats"][word]
        return math.nan if number is None else number
    kind, _, path = word.partition(".")
    if kind not in ("app", "sys", "exe") or not path:
        return None
    place = answer[kind]
    for key in path.split("."):
        place = place.get(key, 0) if isinstance(place, dict) else math.nan
    return place


class Equations(unittest.TestCase):
    def test_exact_equations_hold(self):
        checked = set()
        for app, sys_, exe, change in (GPT + ({},), GPT + ({"pipeline_interleaving": 2},),
                                       GPT + ({"training": False,
                                               "activation_recompute": "none"},),
                                       LLAMA + ({},), DEEPSEEK + ({},),
                                       ("llama3-8B", "h100_sxm", "llama3-8B_8",
                                        {"sys.usd_per_hour": 2.5, "sys.watts": 700})):
            answer = calc.run(app, sys_, exe, set=change, inputs=True)
            stats = answer["stats"]
            for name, equation in equations().items():
                values = {}
                for word in set(re.findall(r"(?<![\w.])[A-Za-z_][\w.]*", equation)):
                    values[word] = value_of(answer, word)
                if None in values.values():
                    continue  # it has words: it is not exact
                text = re.sub(r"(?<![\w.])[A-Za-z_][\w.]*", lambda word: repr(values[word[0]]),
                              equation)
                got = eval(text, {"__builtins__": {}, "nan": math.nan})
                want = stats[name] if stats[name] is not None else math.nan
                if math.isnan(want) or math.isnan(got):
                    continue
                self.assertTrue(math.isclose(got, want, rel_tol=1e-9), f"{name} = {text}: {want}")
                checked.add(name)
        self.assertGreaterEqual(len(checked), 14, checked)
        for name in ("total_time", "sample_rate", "usd_per_trillion_tokens", "energy_per_token"):
            self.assertIn(name, checked)

    def test_exact_equations_of_serving_hold(self):
        stats = calc.run("llama3-70B", "h100_sxm", "llama3-70B_serving_8")["stats"]
        generated = calc.load("exe", "llama3-70B_serving_8")["inference"]["generate_size"]
        found = equations()
        self.assertEqual(found["tpot"], "decode_step_time / tokens_per_step")
        self.assertEqual(stats["tpot"], stats["decode_step_time"] / stats["tokens_per_step"])
        self.assertEqual(found["tokens_per_s_per_user"], "1 / tpot")
        self.assertEqual(stats["tokens_per_s_per_user"], 1 / stats["tpot"])
        self.assertEqual(found["request_time"], "ttft + (exe.inference.generate_size - 1) * tpot")
        self.assertEqual(stats["request_time"], stats["ttft"] + (generated - 1) * stats["tpot"])

    def test_layers_and_stages_add_up_as_their_equations_say(self):
        answer = calc.run(*LLAMA, layers=True, stages=True)
        for layer in answer["layers"]:
            for name in ("fw", "agrad", "wgrad"):
                flops, traffic = layer[f"{name}_flops"], layer[f"{name}_mem_accessed"]
                if traffic:
                    self.assertEqual(layer[f"{name}_arithmetic_intensity"], flops / traffic)
        parts = ("weight_space", "weight_grad_space", "optimizer_space", "act_space", "working_space",
                 "head_space", "framework_space", "mem_overhead")
        for stage in answer["stages"]:
            self.assertTrue(math.isclose(stage["mem_tier1"], sum(stage[part] for part in parts),
                                         rel_tol=1e-12))
        memory = [stage["mem_tier1"] for stage in answer["stages"]]
        times = [stage["fw_time"] + stage["bw_time"] for stage in answer["stages"]]
        self.assertEqual(answer["stats"]["peak_stage"], memory.index(max(memory)))
        self.assertEqual(answer["stats"]["slowest_stage"], times.index(max(times)))

    def test_explain_shows_the_equation_and_its_numbers(self):
        text = " ".join(command("show", "explain", "total_time", *GPT).split())
        want = calc.run(*GPT)["stats"]
        self.assertIn(f"value {want['total_time']!r} s", text)
        for name in ("fw_time", "bubble_time", "dp_comm_exposed_time"):
            self.assertIn(f"{name} = {want[name]!r} s", text)

    def test_every_field_and_statistic_is_explained(self):
        for kind in ("app", "sys", "exe", "stats", "layer", "stage"):
            schema = json.loads(command("show", "schema", kind))
            for name, row in schema["$defs"]["document"]["properties"].items():
                if "description" in row and name != "format" and not row["description"].startswith("another name"):
                    self.assertTrue(command("show", "explain", f"{kind}.{name}").startswith(f"{kind}.{name}: "))


class Why(unittest.TestCase):
    def neighbours(self, exe):
        """Some changes, found without calc why."""
        for key, value in exe.items():
            if isinstance(value, bool):
                yield {key: not value}
        for n in (1, 2, 4, 8, 16):
            yield {"microbatch_size": n}
            yield {"pipeline_interleaving": n}
        sizes = [key for key in ("tensor_par", "pipeline_par", "data_par") if key in exe]
        for a in sizes:
            for b in sizes:
                if a != b and exe[a] % 2 == 0:
                    yield {a: exe[a] // 2, b: exe[b] * 2}
        for n in ("none", "ring", "pipe"):
            yield {"tensor_par_overlap": n}
        for n in ("none", "attn_only", "full"):
            yield {"activation_recompute": n}

    def test_changes_come_to_what_a_run_says(self):
        for documents in (GPT, LLAMA, DEEPSEEK):
            answer = json.loads(command("why", *documents, "--top", "512", "--json", "-"))
            base = calc.run(*documents)["stats"]
            self.assertEqual(answer["total_time"], base["total_time"])
            self.assertGreater(len(answer["changes"]), 2)
            times = [change["total_time"] for change in answer["changes"]]
            self.assertEqual(times, sorted(times))
            for change in answer["changes"]:
                self.assertLess(change["total_time"], base["total_time"])
                sets = [f"{a}={b}" for a, b in re.findall(r"(\w+) \S+ -> ([^\s,]+)",
                                                         change["change"])]
                got = calc.run(*documents, set=sets)
                self.assertEqual(got["verdict"], "ok")
                self.assertEqual(got["stats"]["total_time"], change["total_time"])
                self.assertEqual(got["stats"]["proc_mem_tier1_cap_req"],
                                 change["proc_mem_tier1_cap_req"])

    def test_causes_of_a_gap_are_what_runs_say(self):
        """Of calc why --log: options and rates, each in a run of its own."""
        full = ["activation_recompute=full", "seq_par_ag_redo=false"]
        logs = os.path.join(ROOT, "tests/formats/logs")
        base = ("llama3-70B", "h100_sxm", "llama3-70B_512")
        checked = 0
        for log, sets in (("megatron.log", full), ("megatron_timers.log", [])):
            words = [word for change in sets for word in ("--set", change)]
            answer = json.loads(command("why", *base, *words, "--log", f"{logs}/{log}", "--json", "-"))["log"]
            step = answer["values"][0]
            predicted = calc.run(*base, set=sets)["stats"]["total_time"]
            self.assertEqual(step["predicted"], predicted)
            self.assertFalse(answer["low"] <= step["measured"] <= answer["high"])
            self.assertTrue(math.isclose(answer["low"] * answer["high"], predicted ** 2, rel_tol=1e-12))
            for cause in answer["causes"]:
                if cause["of"] == "software":
                    name, new = re.fullmatch(r"(\w+) \S+ -> (\S+)", cause["cause"]).groups()
                    got = calc.run(*base, set=[*sets, f"{name}={new}"])
                    self.assertEqual(got["stats"]["total_time"], cause["value"])
                    off = abs(cause["value"] - step["measured"])
                    self.assertLess(off, abs(predicted - step["measured"]) / 2)
                else:
                    self.assertTrue(math.isclose(cause["value"], step["measured"], rel_tol=1e-3))
                    network = re.fullmatch(r"bandwidth of networks\[(\d)\] at (\S+) %", cause["cause"])
                    if network:
                        system = calc.load("sys", base[1])
                        link = system["networks"][int(network[1])]
                        link["bandwidth"] *= float(network[2]) / 100
                        got = calc.run(base[0], system, base[2])["stats"]["total_time"]
                        self.assertTrue(math.isclose(got, step["measured"], rel_tol=0.01), (got, step))
                        checked += 1
        self.assertEqual(checked, 1)

    def test_no_neighbour_is_better_than_the_best(self):
        for documents in (GPT, LLAMA):
            best = json.loads(command("why", *documents, "--top", "1", "--json", "-"))["changes"][0]
            exe = calc.load("exe", documents[2])
            found = 0
            for change in self.neighbours(exe):
                if change.keys() & {"training"}:
                    continue
                old = {key: exe.get(key) for key in change}
                if any(isinstance(v, int) and not isinstance(v, bool) and len(change) == 1 and
                       change[k] not in (2 * v, v // 2, v + 1, v - 1, v) for k, v in old.items()):
                    continue
                answer = calc.run_many(*documents, [change], stats=["total_time"],
                                       errors="return")[0]
                if answer.get("verdict") == "ok":
                    found += 1
                    self.assertGreaterEqual(answer["stats"]["total_time"], best["total_time"],
                                            change)
            self.assertGreater(found, 5)

    def test_ten_percent_more_is_ten_percent_more(self):
        system = calc.load("sys", GPT[1])
        answer = json.loads(command("why", *GPT, "--json", "-"))
        more = {item["change"]: item["total_time"] for item in answer["ten_percent_more"]}
        for change, path, value in (
                ("bandwidth of mem1", "sys.mem1.GBps", system["mem1"]["GBps"]),
                ("bandwidth of networks[0]", "sys.networks[0].bandwidth",
                 system["networks"][0]["bandwidth"]),
                ("matrix arithmetic", "sys.matrix.float16.tflops",
                 system["matrix"]["float16"]["tflops"])):
            want = calc.run(*GPT, set={path: value * 1.1})["stats"]["total_time"]
            self.assertTrue(math.isclose(more[change], want, rel_tol=1e-12), change)

    def test_what_cannot_run_is_told_what_can(self):
        answer = json.loads(command("why", *GPT, "--set", "mem1.GiB=12", "--json", "-", status=1))
        self.assertEqual(answer["verdict"], "mem1_capacity")
        self.assertEqual(answer["changes"][0]["change"], "microbatch_size 4 -> 2")


class Diff(unittest.TestCase):
    def test_terms_add_up_to_the_difference(self):
        text = command("diff", "a100_80g", "h100_80g_nvl8", GPT[0], GPT[2])
        want = [calc.run(GPT[0], name, GPT[2])["stats"]["total_time"]
                for name in ("a100_80g", "h100_80g_nvl8")]
        rows = re.findall(r"^  (.+?)\s+(-?[\d.]+)\s+(-?[\d.]+)\s+([+-][\d.]+)$",
                          text.split("Time of one step")[1].split("Memory")[0], re.M)
        *parts, total = rows
        self.assertEqual(total[0], "total")
        for column in (1, 2):
            self.assertAlmostEqual(float(total[column]), want[column - 1], delta=5e-4)
            self.assertAlmostEqual(sum(float(row[column]) for row in parts),
                                   want[column - 1], delta=5e-4 * len(rows))
        self.assertAlmostEqual(float(total[3]), want[1] - want[0], delta=5e-4)

    def test_every_field_that_differs_is_listed(self):
        a, b = calc.load("app", "gpt3-175B"), calc.load("app", "llama3-405B")
        text = command("diff", "gpt3-175B", "llama3-405B")
        listed = set(re.findall(r"^  (\w+)", text, re.M)) - {"gpt3"}
        want = {key for key in a.keys() | b.keys() if a.get(key) != b.get(key)} - {"source", "names"}
        self.assertEqual(want - listed, {key for key in want - listed if not (a.get(key) or b.get(key))})
        self.assertLessEqual(listed, want)


unittest.main(argv=sys.argv[:1])
