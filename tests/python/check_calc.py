"""python/calc.py beside the command: the same numbers, errors as exceptions.

usage: check_calc.py CALC ROOT        CALC_LIBRARY names the library
"""

import ast
import contextlib
import csv
import gc
import html
import inspect
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

CALC, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
os.environ["CALC_COMMAND"] = CALC
sys.path.insert(0, os.path.join(ROOT, "python"))
import calc

GPT = ("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")
LLAMA = ("llama3-70B", "h100_sxm", "llama3-70B_512")
MODERN = ("deepseek-v3-671B", "h800", "deepseek-v3_2048")


def command(*words):
    answer = subprocess.run([CALC, "run", *words, "--json", "-"], capture_output=True, text=True,
                            timeout=60)
    return json.loads(answer.stdout)


class Runs(unittest.TestCase):
    def test_numbers_are_those_of_the_command_to_the_bit(self):
        for documents in (GPT, MODERN):
            want = command(*documents, "--layers", "--stages", "/dev/null")
            got = calc.run(*documents, layers=True, stages=True, inputs=True)
            self.assertEqual(got["verdict"], want["verdict"])
            self.assertEqual(got["stats"], want["stats"])
            self.assertEqual(got["layers"], want["layers"])
            self.assertEqual(got["stages"], want["stages"])
            for key, name in (("app", "application"), ("sys", "system"), ("exe", "execution")):
                self.assertEqual(got[key], want[name])

    def test_layouts_that_are_not_whole_are_completed_as_the_command_does(self):
        for app, sys_, exe in (("llama3-70B", "h100_sxm", {"tensor_par": 8, "pipeline_par": 2, "batch_size": 64}),
                               ("qwen3-30B-A3B", "h100_sxm", {"num_procs": 32, "batch_size": 256}),
                               ("llama3-8B", "h100_sxm", None)):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(exe or {}, file)
                file.flush()
                want = command(app, sys_, file.name)
            got = calc.run(app, sys_, exe, inputs=True)
            self.assertEqual(got.exe, want["execution"])
            self.assertEqual(got.stats, want["stats"])
            self.assertTrue(got.completed)
            self.assertFalse(set(got.completed) & set(exe or {}))
            for key, value in got.completed.items():
                self.assertEqual(got.exe[key], value)
            again = calc.run(app, sys_, set=exe, inputs=True)
            self.assertEqual(again.exe, got.exe)
        self.assertNotIn("completed", calc.run(*LLAMA))
        with self.assertRaises(calc.Error) as caught:
            calc.run("llama3-70B", "h100_sxm", {"tensor_par": 8})
        self.assertIn("nothing says batch_size", str(caught.exception))

    def test_changes_are_those_of_set(self):
        want = command(*GPT, "--set", "microbatch_size=8", "--set", "mem1.GiB=12")
        for change in ({"microbatch_size": 8, "sys.mem1.GiB": 12},
                       ["microbatch_size=8", "mem1.GiB=12"]):
            got = calc.run(*GPT, set=change)
            self.assertEqual(got["verdict"], "mem1_capacity")
            self.assertEqual(got["stats"], want["stats"])
            self.assertEqual(got["reasons"], want["reasons"])
        self.assertEqual(calc.run(*GPT)["stats"], command(*GPT)["stats"], "changes must not last")

    def test_engines_are_found_by_name(self):
        said = {"phase": "serve", "isl": 1000, "osl": 100, "engine": "vllm-0.11", "concurrency": 8}
        theirs = command("llama3-8B", "h200", "--procs", "1", "--batch", "1",
                         *(word for key, value in said.items() for word in ("--set", f"{key}={value}")))
        ours = calc.run("llama3-8B", "h200", {"num_procs": 1, "batch_size": 1}, set=said)
        self.assertEqual(ours.stats.tpot, theirs["stats"]["tpot"])
        self.assertNotEqual(ours.stats.tpot, calc.run("llama3-8B", "h200", {"num_procs": 1, "batch_size": 1},
                                                      set=said | {"engine": "vllm-0.2"}).stats.tpot)

    def test_compat_is_passed_on(self):
        self.assertEqual(calc.run(*GPT, compat="calculon")["stats"],
                         command(*GPT, "--compat", "calculon")["stats"])

    def test_stages_are_listed_by_the_names_of_their_systems(self):
        stages = {"blocks": ["4x7", "4x13"], "system": ["4xa800", "4xh800"],
                  "activation_recompute": {"h800": "full"}, "recompute_blocks": {"h800": 3}}
        layout = {"pp": 8, "dp": 16, "cp": 1, "pipeline_interleaving": 1, "seq_par_ag_redo": False}
        words = [word for key, value in (layout | {"stages": stages}).items()
                 for word in ("--set", f"{key}={json.dumps(value)}")]
        want = command(*LLAMA, *words, "--stages", "/dev/null")
        got = calc.run(*LLAMA, set=layout | {"stages": stages}, stages=True, inputs=True)
        self.assertEqual(got["stats"], want["stats"])
        self.assertEqual(got["stages"], want["stages"])
        self.assertEqual(got["exe"]["stages"], want["execution"]["stages"])
        again = calc.run(*LLAMA[:2], got["exe"])  # a document with a list
        self.assertEqual(again["stats"], want["stats"])
        for wrong, text in (({"blocks": ["8x9"]}, "8 blocks are missing"),
                            ({"system": ["4xa800", "4xnowhere"]}, "nowhere: no such file"),
                            ({"blok": 3}, 'unknown key "blok"'),
                            ("9,6x10,11", "expected an array of stages")):
            with self.assertRaises(calc.Error) as caught:
                calc.run(*LLAMA, set=layout | {"stages": wrong})
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(calc.Error) as caught:
            calc.run(*LLAMA[:2], got["exe"], compat="repaired")
        self.assertIn("Calculon's stages are all alike", str(caught.exception))

    def test_only_the_statistics_asked_for_come_back(self):
        self.assertEqual(list(calc.run(*GPT, stats=["total_time", "bw_time"])["stats"]),
                         ["total_time", "bw_time"])
        self.assertEqual(calc.run(*GPT, stats=[])["stats"], {})

    def test_dicts_paths_and_names_are_the_same_document(self):
        def run(*documents):  # remarks call a machine as the caller does
            return {**calc.run(*documents), "remarks": None}

        want = run(*GPT)
        dicts = [calc.load(kind, name) for kind, name in zip(("app", "sys", "exe"), GPT)]
        self.assertEqual(run(*dicts), want)
        folders = (f"{ROOT}/models", f"{ROOT}/systems", f"{ROOT}/executions")
        paths = [pathlib.Path(folder, name + ".json") for folder, name in zip(folders, GPT)]
        self.assertEqual(run(*map(str, paths)), want)
        self.assertEqual(run(*[str(path) for path in paths[:2]], dicts[2]), want)

    def test_many_are_one_by_one(self):
        changes = [{"microbatch_size": n} for n in (1, 2, 4)]
        many = calc.run_many(*GPT, changes, stats=["total_time"])
        self.assertEqual(many, [calc.run(*GPT, set=change, stats=["total_time"])
                                for change in changes])
        self.assertEqual(calc.run_many(*GPT, []), [])

    def test_threads_have_sessions_of_their_own(self):
        want, got = calc.run(*GPT), []
        threads = [threading.Thread(target=lambda: got.append(calc.run(*GPT))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [want] * 4)

    def test_a_closed_session_answers_nothing(self):
        session = calc.Session()
        session.run(*GPT, stats=[])
        session.close()
        session.close()
        for use in (lambda: session.run(*GPT), lambda: session.ask({}),
                    lambda: session.run_many(*GPT, [{}])):
            self.assertRaises(ValueError, use)
        with calc.Session() as session:
            pass
        self.assertRaises(ValueError, session.run, *GPT)

    def test_closing_waits_for_the_requests_of_threads(self):
        session, ends = calc.Session(), []

        def use():
            try:
                while True:
                    session.run(*GPT, stats=[])
            except ValueError as error:
                ends.append(str(error))

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        session.close()
        for thread in threads:
            thread.join(60)
        self.assertEqual(ends, ["the session is closed"] * 4)

    def test_more_documents_than_are_remembered(self):
        with tempfile.TemporaryDirectory() as folder, calc.Session() as session:
            for i in range(300):
                path = os.path.join(folder, f"{i}.json")
                with open(path, "w") as file:
                    json.dump(calc.load("exe", GPT[2]) | {"batch_size": 3072 + 48 * i}, file)
                exe = session.run(*GPT[:2], path, stats=[], inputs=True)["exe"]
                self.assertEqual(exe["batch_size"], 3072 + 48 * i)
        gc.collect()


class Frame(list):
    """What tests know of a frame of pandas: its rows; columns by name."""

    def __getitem__(self, names):
        return [[row.get(name) for name in names] for row in self]


PANDAS = types.SimpleNamespace(DataFrame=Frame)


def data_of(page):
    """The data that a page draws."""
    return json.loads(re.search(r'<script type="application/json" id="calc-data">\n?(.*?)</script>', page, re.S)[1])


class Answers(unittest.TestCase):
    """Dicts as ever, with attributes, pages and frames."""

    def test_keys_are_attributes(self):
        answer = calc.run(*GPT, set={"sys.mem1.GiB": 12}, inputs=True)
        self.assertIsInstance(answer, dict)
        self.assertFalse(answer.ok)
        self.assertEqual(answer.verdict, answer["verdict"])
        self.assertIs(answer.stats.total_time, answer["stats"]["total_time"])
        self.assertEqual(answer.reasons[0].hint, answer["reasons"][0]["hint"])
        self.assertEqual(answer.sys.mem1.GiB, 12)
        self.assertIn("total_time", dir(answer.stats))
        self.assertEqual(json.loads(json.dumps(answer)), answer)
        with self.assertRaisesRegex(AttributeError, "no stat: verdict"):
            answer.stat
        self.assertTrue(calc.run(*GPT).ok)

    def test_a_sweep_is_that_of_the_command(self):
        with (tempfile.NamedTemporaryFile(suffix=".json") as file,
              tempfile.NamedTemporaryFile(suffix=".json") as best):
            subprocess.run([CALC, "sweep", *LLAMA[:2], "--procs", "64", "--batch", "256", "--top", "3",
                            "--axis", "microbatch_size=1,2", "--set", "tp=4", "--for", "megatron",
                            "--where", "mem1 <= 60GiB", "--out", file.name, "--save-best", best.name],
                           capture_output=True, check=True)
            want, start = (json.loads(pathlib.Path(one.name).read_text()) for one in (file, best))
        got = calc.sweep(*LLAMA[:2], procs=64, batch=256, top=3, axis={"microbatch_size": [1, 2]},
                         set={"tensor_par": 4}, for_="megatron", where="mem1 <= 60GiB")
        self.assertEqual(len(got.top), 3)
        self.assertEqual([(row.execution, row.stats) for row in got.top],
                         [(row["execution"], row["stats"]) for row in want["top"]])
        self.assertEqual([row.stats for row in got.front], [row["stats"] for row in want["front"]])
        self.assertEqual({key: got.start.execution[key] for key in start if key not in ("format", "source")},
                         {key: start[key] for key in start if key not in ("format", "source")})
        self.assertEqual(got.start.run().stats, got.start.stats)
        self.assertIs(got.best, got.top[0])
        self.assertEqual(got.best.run().stats, got.best.stats)
        self.assertEqual(got.best.run(set={"sys.mem1.GiB": 12}).verdict, "mem1_capacity")

    def test_rows_of_a_sweep_over_a_machine_run_on_theirs(self):
        got = calc.sweep(*LLAMA[:2], procs=64, batch=256, top=1, axis={"sys.mem1.GiB": [40, 400]})
        self.assertEqual(got.best.design["sys.mem1.GiB"], 400)
        self.assertEqual(got.best.run().stats, got.best.stats)
        self.assertEqual(got.best.run(set={"sys.mem1.GiB": 12}).verdict, "mem1_capacity")

    def test_a_sweep_of_dicts_and_of_groups(self):
        app, system = calc.load("app", LLAMA[0]), calc.load("sys", LLAMA[1])
        got = calc.sweep(app, system, procs="32:64:32", batch=256, per="num_procs", top=1)
        self.assertEqual([row.execution.num_procs for row in got.layouts], [32, 64])
        self.assertIs(got.best, got.groups[0].top[0])
        self.assertEqual(got.best.run().stats, got.best.stats)
        space = {"num_procs": 64, "batch_size": 256, "tensor_par": [2, 4]}
        self.assertEqual({row.execution.tensor_par for row in calc.sweep(app, system, space=space, top=500).top},
                         {2, 4})
        none = calc.sweep(app, system, procs=64, batch=256, set={"sys.mem1.GiB": 2})
        self.assertRaises(LookupError, lambda: none.best)
        self.assertNotIn("start", none)
        self.assertNotIn("start", got)
        with self.assertRaisesRegex(calc.Error, "tensor_pa"):
            calc.sweep(app, system, procs=64, batch=256, set={"tensor_pa": 4})
        with self.assertRaisesRegex(calc.Error, "proc"):
            calc.sweep(app, system, proc=64)

    def test_a_validation_is_that_of_the_command(self):
        runs = [dict(zip(("app", "sys", "exe"), LLAMA)) | {"measured_s": 15.3}]
        got = calc.validate(runs)
        predicted = calc.run(*LLAMA).stats.total_time
        self.assertEqual(got.rows[0].predicted, predicted)
        self.assertAlmostEqual(got.rows[0].error, predicted / 15.3 - 1, places=12)
        self.assertEqual(got.counts.runs, 1)
        with self.assertRaisesRegex(calc.Error, "no such file"):
            calc.validate("./nowhere.csv")
        with self.assertRaisesRegex(calc.Error, "none of the columns is known"):
            calc.validate([{"measured_seconds": 1}])

    def test_pages_are_those_of_the_command(self):
        run = calc.run(calc.load("app", GPT[0]), *GPT[1:], set={"microbatch_size": 2})
        data = data_of(run.html())
        self.assertEqual(data["run"]["stats"], run.stats)
        sweep = calc.sweep(*LLAMA[:2], procs=64, batch=256, top=2)
        drawn = data_of(sweep.html())["rows"][0]
        self.assertEqual(drawn["execution"], sweep.best.execution)
        self.assertEqual(drawn["stats"]["total_time"], sweep.best.stats.total_time)
        self.assertIn("<html", calc.validate([dict(zip(("app", "sys", "exe"), LLAMA)) | {"measured_s": 15}]).html())
        with tempfile.NamedTemporaryFile(suffix=".html") as file:
            run.save_html(file.name)
            self.assertEqual(data_of(pathlib.Path(file.name).read_text())["run"]["stats"], run.stats)

    def test_a_notebook_shows_the_page_in_a_frame(self):
        run = calc.run(*GPT)
        shown = run._repr_html_()
        page = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="calc" style="[^"]*"></iframe>', shown)[1]
        self.assertEqual(html.unescape(page), run.html())
        with mock.patch.dict(os.environ, CALC_COMMAND=""), mock.patch("calc._answers.beside", lambda _: None), \
                mock.patch("shutil.which", lambda _: None):
            self.assertIsNone(run._repr_html_())
            with self.assertRaisesRegex(OSError, "CALC_COMMAND"):
                run.html()

    def test_frames_have_a_row_for_each_answer(self):
        changes = [{"microbatch_size": 1}, ["microbatch_size=2"]]
        runs = calc.run_many(*GPT, changes, stats=["total_time"])
        with mock.patch.dict(sys.modules, pandas=PANDAS):
            self.assertEqual(runs.to_pandas()["microbatch_size", "verdict", "total_time"],
                             [[n, "ok", run.stats.total_time] for n, run in zip((1, "2"), runs)])
            self.assertEqual(runs[0].to_pandas()["total_time",], [[runs[0].stats.total_time]])
            sweep = calc.sweep(*LLAMA[:2], procs=64, batch=256, top=2)
            self.assertEqual(sweep.to_pandas()["application", "tensor_par", "total_time"],
                             [["llama3-70B", row.execution.tensor_par, row.stats.total_time] for row in sweep.top])
        with mock.patch.dict(sys.modules, pandas=None), self.assertRaisesRegex(ImportError, "pip install pandas"):
            runs.to_pandas()

    def test_cells_of_the_notebook_run(self):
        with open(os.path.join(ROOT, "python/examples/notebook.ipynb")) as file:
            notebook = json.load(file)
        names, shown = {}, []
        with mock.patch.dict(sys.modules, pandas=PANDAS), contextlib.redirect_stdout(io.StringIO()) as out:
            for cell in notebook["cells"]:
                self.assertFalse(cell.get("outputs"), "the notebook is kept without outputs")
                if cell["cell_type"] == "code":
                    *body, last = ast.parse("".join(cell["source"])).body
                    exec(compile(ast.Module(body, []), "cell", "exec"), names)
                    if isinstance(last, ast.Expr):
                        shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
                    else:
                        exec(compile(ast.Module([last], []), "cell", "exec"), names)
        self.assertEqual(sum(hasattr(value, "_repr_html_") and "<iframe" in value._repr_html_()
                             for value in shown), 2)
        self.assertEqual(len(re.findall(r"^\d+ \d \S+ s \w+$", out.getvalue(), re.M)), 12)
        predicted = calc.run(*LLAMA).stats.total_time
        self.assertAlmostEqual(shown[-1], predicted / 15.3 - 1, places=12)

    def test_types_are_stated(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(calc.__file__), "py.typed")))
        for name in calc.__all__:
            value = getattr(calc, name)
            functions = [value] if isinstance(value, types.FunctionType) else \
                [method for key, method in vars(value).items()
                 if isinstance(method, types.FunctionType) and not key.startswith("_")]
            for function in functions:
                for parameter in inspect.signature(function).parameters.values():
                    self.assertTrue(parameter.name == "self" or parameter.annotation is not parameter.empty,
                                    f"{function.__qualname__}: {parameter.name}")
                self.assertIn("return", function.__annotations__, function.__qualname__)


class Errors(unittest.TestCase):
    def raised(self, *arguments, **options):
        with self.assertRaises(calc.Error) as caught:
            calc.run(*arguments, **options)
        return caught.exception

    def test_an_error_names_file_and_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{\n  "num_procs": 8,\n  "tensor_par": "x"\n}\n')
            file.flush()
            error = self.raised(*GPT[:2], file.name)
            first = next(e for e in error.errors if e.get("pointer") == "/tensor_par")
            self.assertEqual((first["file"], first["line"]), (file.name, 3))
            self.assertIn(f"{file.name}:3:17: /tensor_par: expected an integer", str(error))

    def test_an_error_in_a_dict_has_a_pointer(self):
        exe = calc.load("exe", GPT[2]) | {"tensor_par": 0}
        self.assertEqual(self.raised(*GPT[:2], exe).errors[0]["pointer"], "/exe/tensor_par")

    def test_rules_are_errors_with_a_hint(self):
        error = self.raised(*GPT, set={"tensor_par": 24})
        self.assertIn("24 does not divide", str(error))
        self.assertTrue(error.errors[-1]["hint"])

    def test_wrong_names(self):
        self.assertIn('no model named "gpt3-17"', str(self.raised("gpt3-17", *GPT[1:])))
        self.assertIn("no such file", str(self.raised("./gpt3-17.json", *GPT[1:])).lower())
        self.assertIn("tensor_par", str(self.raised(*GPT, set={"tensor_pa": 1})))
        self.assertIn("total_time", str(self.raised(*GPT, stats=["total_tim"])))
        self.assertIn("compat", str(self.raised(*GPT, compat="calc")))

    def test_many_raise_or_return(self):
        changes = [{"microbatch_size": 1}, {"tensor_par": 24}]
        with self.assertRaises(calc.Error):
            calc.run_many(*GPT, changes)
        good, bad = calc.run_many(*GPT, changes, errors="return")
        self.assertEqual(good["verdict"], "ok")
        self.assertIn("errors", bad)


class Module(unittest.TestCase):
    def test_version_is_that_of_the_command(self):
        words = subprocess.run([CALC, "--version"], capture_output=True, text=True).stdout.split()
        self.assertEqual(calc.version(), words[1])

    def test_names_are_those_of_the_command(self):
        for kind in ("app", "sys", "exe"):
            listed = subprocess.run([CALC, "show", "names", kind], capture_output=True, text=True)
            want = {name.split("/")[-1] for name in listed.stdout.split()}
            self.assertEqual(set(calc.names(kind)), want)

    def test_examples_run(self):
        for words, want in ((("random_search.py", *GPT, "200"), "layouts can run"),
                            (("frame.py",), "total_time")):
            example = os.path.join(ROOT, "python/examples", words[0])
            answer = subprocess.run([sys.executable, "-B", example, *words[1:]],
                                    capture_output=True, text=True, timeout=60)
            self.assertIn(want, answer.stdout, answer.stderr)

    def test_the_tuner_finds_a_layout_for_every_shipped_one(self):
        example = os.path.join(ROOT, "python/examples/random_search.py")
        with open(os.path.join(ROOT, "tests/golden/catalogue/layouts.csv")) as file:
            layouts = list(csv.DictReader(file))
        self.assertGreater(len(layouts), 20)
        for row in layouts:
            exe, app, system = row.values()
            answer = subprocess.run([sys.executable, "-B", example, app, system, exe, "100"],
                                    capture_output=True, text=True)
            self.assertRegex(answer.stdout, r"^[1-9]\d* of 100 layouts can run", exe + answer.stderr)


os.environ["CALC_PATH"] = ROOT
unittest.main(argv=sys.argv[:1])
