#!/usr/bin/env python3
"""Strings that mean something elsewhere, in file names, texts of documents, results, requests and the environment.
- bash accepts every launch script, and running one makes no file;
- a page has the elements that it has with harmless strings, and its data is JSON;
- `calc serve` gives one answer to each line, whatever it holds, in bounded memory;
- a command has the same output in any environment, or says what is wrong.

usage: hostile.py CALC [CASE...]   CALC_LONG=1  every string in every place, and requests of full size"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess

import attack

a = attack.Attack()
STRINGS = ["$(>made)", "`>made`", "a;>made;", "a\n>made\n", "a'>made;'", 'a">made;"', "a\\", "'", '"', "a && >made", "| >made", "#", "-x",
           "--help", "</script><script>x()</script>", "<img src=x onerror=x()>", "<!--", "-->", "]]>", "&lt;b&gt;", "\u202ex", "\x1b[2Jx",
           "${HOME}", "%s%n", "a\tb", "\u2028", "*", "~", "!!", "{a,b}", "\U0001f600", "a" * 200]
TRAIN, SERVE = attack.RUN, attack.SERVE
SMALL = ["--procs", "8", "--batch", "8", "--progress", "none", "--threads", "1"]
FEW = ["--axis", "tp=2", "--axis", "mbs=1"]
# How a page is made; APP, SYS and EXE are files.
PAGES = {
    "run": (TRAIN, ["run", "APP", "SYS", "EXE"], "--json"),
    "serving": (SERVE, ["run", "APP", "SYS", "EXE"], "--json"),
    "sweep": (("gpt3-13B", "a100_80g", None), ["sweep", "APP", "SYS", *SMALL, "--top", "2"], "--out"),
    "plan": (("llama2-7B", "a100_sxm_40g", None), ["plan", "APP", "SYS", *SMALL, *FEW, "--axis", "pp=2"], "--out"),
    "tune": (("llama2-7B", "h100_sxm", None), ["tune", "APP", "SYS", *SMALL, *FEW, "--candidates", "5", "--out", "t"], "--json"),
    "validate": ((None, None, None), ["validate", "runs.csv"], "--json"),
}


class Elements(html.parser.HTMLParser):
    """Names of the elements and of their attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(name for name, value in attributes)))

    def handle_endtag(self, tag):
        self.found.append((f"/{tag}",))

    def handle_comment(self, data):
        self.found.append(("comment",))


def elements_of(path):
    text = pathlib.Path(path).read_text()
    json.loads(re.search(r'id="calc-data">\n?(.*?)</script>', text, re.S)[1])
    return Elements(text).found


def documents(text, names):
    """Copies of documents under a name with the text, which is their source, too."""
    made = []
    for name, folder in zip(names, ("models", "systems", "executions")):
        path = None
        if name:
            held = json.loads((attack.ROOT / folder / f"{name}.json").read_text())
            held["source"] = text
            path = f"./{folder[0]}{text.replace('/', ':').replace(',', ';')}.json"  # no folder and no list
            pathlib.Path(path).write_text(json.dumps(held) if folder != "executions" else
                                          (attack.ROOT / folder / f"{name}.json").read_text())
        made.append(path)
    return made


def make_page(name, text):
    """The page of a command and the result, with a text wherever one is read. @return code and what went wrong"""
    names, words, option = PAGES[name]
    app, machine, layout = documents(text, names)
    pathlib.Path("runs.csv").write_text(
        "id,table,app,sys,exe,measured_s\n" + "".join(
            '"{}","{}",{},{}\n'.format(*[text.replace('"', '""')] * 2, ",".join(TRAIN), 45 + i) for i in range(2)), newline="")
    words = [{"APP": app, "SYS": machine, "EXE": layout}.get(word, word) for word in words]
    return [*words, "--html", "page.html", option, "result.json"], a.run([*words, "--html", "page.html", option, "result.json"])


def clean():
    for name in os.listdir("."):
        shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)


def page(k, name, text):
    words, result = make_page(name, text)
    if result.code != 0:
        a.fail(k, words, f"page of {name} with {text!r}", result)
        return
    if elements_of("page.html") != HARMLESS[name]:
        a.fail(k, words, f"page of {name} with {text!r}: other elements")
    a.seen["pages"] += 1


def script(k, framework, text):
    """What runs a layout, where names have a meaning for a shell."""
    app, machine, layout = documents(text, SERVE if framework in SERVING else ("llama3-8B", "h100_sxm", "llama3-8B_8"))
    if framework not in SERVING:  # one that the framework runs, if there is one
        a.run(["sweep", app, machine, *SMALL, "--for", framework, "--save-best", layout])
    words = ["export", "--to", framework, app, machine, layout, "--out", "run.out"]
    result = a.run(words)
    if result.code not in (0, 1):
        a.fail(k, words, f"export to {framework} with {text!r}", result)
        return
    a.seen["exports" if result.code == 0 else "exports that the framework cannot run"] += 1
    if result.code == 0 and pathlib.Path("run.out").read_bytes().startswith(b"#!/"):
        before = sorted(os.listdir("."))
        for ways in (["bash", "-n"], ["bash"]):
            # No command is found but those of the shell; a file is made by a redirection alone.
            env = {"PATH": "/nowhere", "LANG": "C.UTF-8"}
            done = subprocess.run([shutil.which("bash"), *ways[1:], "run.out"], env=env, stdin=subprocess.DEVNULL, capture_output=True)
            if sorted(os.listdir(".")) != before or (ways[-1] == "-n" and done.returncode):
                a.fail(k, words, f"script of {framework} with {text!r}: {done.stderr[:200]}, {sorted(os.listdir('.'))}")
        a.seen["scripts run"] += 1


def measured(k, name, text):
    """A command that measures layouts in a folder of that name."""
    folder = text.replace("/", ":")
    words = ["tune", "llama2-7B", "h100_sxm", *SMALL, "--candidates", "3", "--axis", "tp=2", "--most", "1"]
    words += ["--command", "test -f {exe} && echo 1s", f"--out={folder}", "--measured", "runs.csv"]
    result = a.run(words)
    if result.code != 0 or sorted(os.listdir(".")) != sorted([folder, "runs.csv"]) or ",ok" not in pathlib.Path("runs.csv").read_text():
        a.fail(k, words, f"measuring in {text!r}: {os.listdir('.')}", result)
    a.seen["measured"] += 1


def requests(k, what, line, count):
    """One answer to each line; then a request that is fine is answered."""
    good = json.dumps(dict(zip(("app", "sys", "exe"), TRAIN), stats=["total_time"])).encode() + b"\n"
    result = a.run(["serve", "--stdio"], line * count + good, gib=1)
    answers = result.out.splitlines()
    if result.code != 0 or len(answers) != line.count(b"\n") * count + 1 or b'"ok"' not in answers[-1]:
        a.fail(k, ["serve", "--stdio"], f"{what}: {len(answers)} answers", result)
    a.seen["answers"] += len(answers)


def environment(k, name, change):
    env = {key: value for key, value in {**a.env, **change}.items() if value is not None}
    for words in (["run", *TRAIN, "--json", "-"], ["sweep", "gpt3-13B", "a100_80g", *SMALL, "--out", "-"]):
        result, usual = a.run(words, env=env), a.run(words)
        same = (result.code, result.out) == (usual.code, usual.out)
        if not same and not (result.code in (2, 3, 4) and result.err and not result.out):
            a.fail(k, words, f"with {name}", result)
        a.seen["environments"] += same
        a.seen["environments refused"] += not same


LARGE = 100 << 20 if a.long else 40 << 20
MANY = 20_000 if a.long else 2000
REQUESTS = {
    "a long line": (b"a" * LARGE + b"\n", 1),
    "a long string": (b'{"app": "' + b"a" * LARGE + b'"}\n', 1),
    "blanks": (b"{" + b" " * LARGE + b"}\n", 1),
    "many": (b'{"app": "gpt3-175B", "sys": "a100_80g", "exe": "3072_t4_p64_d12_mbs4_full", "stats": ["total_time"]}\n', MANY),
    "nul": (b'{"app": "gpt3\x00-175B"}\n\x00\n\xff\xfe\n', 10),
    "brackets": (b"[" * 100_000 + b"\n", 10),
    "braces": (b'{"a":' * 100_000 + b"\n", 10),
    "paths": (b'{"app": "/dev/zero"}\n{"sys": "../../etc/passwd"}\n{"exe": "/etc/passwd"}\n', 10),
    "unknown names": (b'{"app": "nothing"}\n', MANY // 20),
    "wrong types": (b'{"app": 1, "set": [], "stats": {}}\n[[]]\n1\n"a"\nnull\n', 10),
}
ENVIRONMENTS = {
    "LANG=C": {"LANG": "C"}, "LANG unknown": {"LANG": "xx_YY.UTF-8"}, "LC_ALL=tr_TR": {"LC_ALL": "tr_TR.UTF-8"},
    "LC_NUMERIC": {"LC_NUMERIC": "de_DE.UTF-8"}, "COLUMNS=0": {"COLUMNS": "0"}, "COLUMNS huge": {"COLUMNS": "99999999999"},
    "COLUMNS=-5": {"COLUMNS": "-5"}, "TERM unset": {"TERM": None}, "TERM odd": {"TERM": "\x1b[2J"}, "HOME unset": {"HOME": None},
    "TMPDIR missing": {"TMPDIR": "/nowhere"}, "PATH empty": {"PATH": ""},
    "OMP_NUM_THREADS=abc": {"OMP_NUM_THREADS": "abc"}, "OMP_NUM_THREADS=0": {"OMP_NUM_THREADS": "0"}, "NO_COLOR": {"NO_COLOR": "1"},
    "CALC_PATH of colons": {"CALC_PATH": f"::{attack.ROOT}::"}, "TZ odd": {"TZ": "\x01/../.."},
    "CALC_PATH long": {"CALC_PATH": "/nowhere:" * 500 + str(attack.ROOT)}, "GLIBC_TUNABLES": {"GLIBC_TUNABLES": "x=y"},
    "CALC_PATH of a file": {"CALC_PATH": f"/etc/passwd:{attack.ROOT}"},
}
os.mkdir("work")
os.chdir("work")
FRAMEWORKS = a.choices("export", "to")
SERVING = ("vllm", "sglang", "tensorrt-llm")
HARMLESS = {}
CASES = [(page, name, text) for name in PAGES for text in STRINGS]
CASES += [(script, name, text) for name in FRAMEWORKS if name != "galvatron-profile" for text in STRINGS]
CASES += [(measured, "tune", text) for text in STRINGS]
CASES += [(requests, name, *held) for name, held in REQUESTS.items()] + [(environment, name, held) for name, held in ENVIRONMENTS.items()]
some = range(len(CASES)) if a.long else [k for k in range(len(CASES)) if CASES[k][0] in (requests, environment)]
for case in a.numbers or sorted({*some, *a.rng("sample").sample(range(len(CASES)), 25)}):
    kind, name = CASES[case][:2]
    if kind is page and name not in HARMLESS:
        if make_page(name, "harmless")[1].code == 0:
            HARMLESS[name] = elements_of("page.html")
        else:
            a.fail(case, *make_page(name, "harmless")[:1], f"no page of {name}", make_page(name, "harmless")[1])
        clean()
    kind(case, *CASES[case][1:])
    clean()
a.end()
