#!/usr/bin/env python3
"""Files that are no input, plain and compressed, in every place where a command reads one: status 1 to 4, a message whose
first line names the file, no control characters, and nothing written.

usage: readers.py CALC [CASE...]   CALC_LONG=1  every file in every place, instead of a sample"""
import gzip
import itertools
import os
import pathlib
import re
import shutil

import attack

a = attack.Attack()
MODELS, SYSTEMS, EXES = (attack.ROOT / folder for folder in ("models", "systems", "executions"))
SMALL = ["--procs", "8", "--batch", "8", "--progress", "none"]

OUTPUTS = {"hf": ["--app", "o.json"], "huggingface": ["--app", "o.json"], "galvatron": ["--exe", "e.json"]}
# What a command is given; @ is the file. Every place of `calc --help` where one is read.
PLACES = {
    "run APP": ["run", "@", *attack.RUN[1:]],
    "run SYS": ["run", attack.RUN[0], "@", attack.RUN[2]],
    "run EXE": ["run", *attack.RUN[:2], "@"],
    "run --operators": ["run", *attack.RUN, "--operators", "@"],
    "sweep APP": ["sweep", "@", "a100_80g", *SMALL, "--out", "o.json"],
    "sweep SYS": ["sweep", "gpt3-13B", "@", *SMALL, "--html", "o.html"],
    "sweep SPACE": ["sweep", "gpt3-13B", "a100_80g", "@", *SMALL, "--save-best", "o.json"],
    "sweep SPACE alone": ["sweep", "@", "--progress", "none"],
    "sweep --checkpoint": ["sweep", "gpt3-13B", "a100_80g", *SMALL, "--checkpoint", "@", "--resume", "--out", "o.json"],
    "plan APP": ["plan", "@", "a100_80g", *SMALL],
    "plan SYS": ["plan", "llama2-7B", "@", *SMALL],
    "plan --balance-only": ["plan", *attack.RUN[:2], "--balance-only", "@", "--json", "o.json"],
    "tune APP": ["tune", "@", "h100_sxm", *SMALL],
    "tune SYS": ["tune", "llama2-7B", "@", *SMALL],
    "tune SPACE": ["tune", "llama2-7B", "h100_sxm", "@", *SMALL],
    "tune --measured": ["tune", "llama2-7B", "h100_sxm", *SMALL, "--candidates", "5", "--measured", "@", "--json", "o.json"],
    "tune --operators": ["tune", "llama2-7B", "h100_sxm", *SMALL, "--candidates", "5", "--operators", "@"],
    "why APP": ["why", "@", *attack.RUN[1:]],
    "why SYS": ["why", attack.RUN[0], "@", attack.RUN[2]],
    "why EXE": ["why", *attack.RUN[:2], "@", "--json", "o.json"],
    "why --log": ["why", *attack.RUN, "--log", "@", "--json", "o.json"],
    "export APP": ["export", "@", attack.RUN[2], "--out", "o.sh"],
    "export EXE": ["export", attack.RUN[0], "@", "--out", "o.sh"],
    "export --diff": ["export", attack.RUN[0], attack.RUN[2], "--diff", "@", "--out", "o.sh"],
    "run --trace": ["run", *attack.RUN[:2], "@", "--trace", "o.json"],
    "diff A": ["diff", "@", "a100_80g"],
    "diff B": ["diff", "gpt3-175B", "@"],
    "explain": ["explain", "sample_rate", *attack.RUN[:2], "@"],
    "params": ["params", "@", "--json", "o.json"],
    "validate RUNS": ["validate", "@", "--csv", "o.csv"],
    "validate --baseline": ["validate", "../runs.csv", "--baseline", "@"],
    "validate --operators": ["validate", "../runs.csv", "--operators", "@"],
    "calibrate RUNS": ["calibrate", "@", "--into", "o.json"],
    "calibrate --system": ["calibrate", "../runs.csv", "--system", "@", "--into", "o.json"],
    "calibrate --operators": ["calibrate", "--operators", "@", "--system", "b200", "--into", "o.json"],
    "sweep --merge": ["sweep", "--merge", "@", "--out", "o.json"],
    "import": ["import", "@", "--app", "o.json", "--exe", "e.json"],
    **{f"import --from {name}": ["import", "@", "--from", name, *OUTPUTS.get(name, ["--app", "o.json", "--exe", "e.json"])]
       for name in a.choices("import", "from")},
    "as taylor nd": ["as", "taylor", "nd", "--yaml_path", "@"],
    "as taylor nd, peaks": ["as", "taylor", "nd", "--yaml_path", attack.ROOT / "tests/cli/taylor/deepseek3.yaml", "--dryrun_data_dir", "@"],
    "as taylor balance": ["as", "taylor", "balance", "@"],
    "as aiak": ["as", "aiak", "--num-gpus", "8", "--model-file", "@"],
    "as aiak, chips": ["as", "aiak", "--num-gpus", "8", "--chip-files", "a800=@"],
    "as galvatron search": ["as", "galvatron", "search", "@"],
    "as mindspeed": ["as", "mindspeed", "@"],
}


# What is an input there. An object without fields is a layout of which the rest is chosen, and a space of all layouts.
NO_FIELDS = ("object", "crlf", "bom")
FINE = {
    "run SYS": ["system"], "why SYS": ["system"], "sweep SYS": ["system"], "plan SYS": ["system"], "tune SYS": ["system"],
    "diff A": ["system"], "as aiak, chips": ["system"], "run EXE": NO_FIELDS, "why EXE": NO_FIELDS, "sweep SPACE": NO_FIELDS,
    "tune SPACE": NO_FIELDS, "sweep --checkpoint": ["missing"], "tune --measured": ["empty", "null device"],
}
LINE = re.compile(r"  hint: |[0-9]+ more error")
REMARK = re.compile("model_type is |ignored: |tie_word_embeddings is ")  # of an import, before what is wrong


def garbage():
    """Name -> bytes, or the path of what is there already."""
    rng = a.rng("garbage")
    app, machine = (MODELS / "gpt3-13B.json").read_bytes(), (SYSTEMS / "a100_80g.json").read_bytes()
    return {
        "empty": b"", "nul": bytes(100), "elf": pathlib.Path("/bin/ls").read_bytes()[:50000], "random": rng.randbytes(5000),
        "text": b"hello world\nthis is no file\n", "number": b"42\n", "word": b"word", "string": b'"word"\n', "null": b"null\n",
        "array": b"[]\n", "object": b"{}\n", "bracket": b"{", "cut": app[:len(app) // 2], "twice": app + app,
        "deep": b"[" * 20000, "deep objects": b'{"a":' * 20000, "deep yaml": b"a: " + b"[" * 20000,
        "csv": b"a,b,c\n1,2,3\n", "yaml": b"foo: bar\nbaz: [1, 2]\n", "toml": b"[foo]\nbar = 1\n",
        "yaml documents": b"---\na: 1\n---\nb: 2\n", "anchors": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        "html": b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n", "xml": b'<?xml version="1.0"?>\n<a/>\n',
        "utf-16": '{"a": 1}'.encode("utf-16"), "latin-1": '{"\u00e9": 1}'.encode("latin-1"), "crlf": b"{\r\n}\r\n",
        "bom": b"\xef\xbb\xbf{}", "two boms": b"\xef\xbb\xbf" * 2 + b"{}", "escape": b'{"\x1b[2J": 1}\n\x1b[2J: 1\n\x07 = 2\n',
        "long line": b"a" * 2_000_000, "long lines": (b"a" * 1000 + b"\n") * 500, "newlines": b"\n" * 100000,
        "cut gzip": gzip.compress(app)[:60], "gzip twice": gzip.compress(gzip.compress(app)), "python": b"import os\nprint(1)\n",
        "shell": b"#!/bin/bash\necho hi\n", "jsonl": b'{"a": 1}\n{"a": 2}\n', "ini": b"; x\n[a]\nb=c\n",
        "infinite": b'{"a": 1e999, "b": -1e999, "c": NaN}', "schema": a.run(["schema", "exe"]).out,
        "system": machine, "part": pathlib.Path("../part").read_bytes()[:3000], "cut utf-8": b'{"a": "\xe2\x82',
        "null device": "/dev/null", "endless device": "/dev/zero", "folder": "../folder", "missing": "../missing",
    }


def main():
    for folder in ("folder", "work"):
        pathlib.Path(folder).mkdir()
    os.chdir("work")
    pathlib.Path("../runs.csv").write_text("id,app,sys,exe,measured_s\na,{},100\n".format(",".join(attack.RUN)))
    a.run(["sweep", "gpt3-13B", "a100_80g", *SMALL, "--shard", "1/2", "--out", "../part"])
    files = {}
    for number, (name, held) in enumerate(garbage().items()):
        if isinstance(held, str):
            files[name] = held
            continue
        for ending, data in (("", held), (".gz", gzip.compress(held))):
            files[name + ending] = f"../g{number:02}{ending}"
            pathlib.Path(files[name + ending]).write_bytes(data)
    cases = list(itertools.product(PLACES, files))
    cases = [(place, name) for place, name in cases if name.removesuffix(".gz") not in FINE.get(place, ())]
    for k in a.pick(len(cases), 400):
        place, name = cases[k]
        words = [str(word).replace("@", files[name]) for word in PLACES[place]]
        result = a.run(words, gib=4)
        said = result.err.decode(errors="backslashreplace")
        lines = [line for line in said.splitlines() if not (place.startswith("import") and REMARK.match(line))]
        wrong = None
        if result.code not in (1, 2, 3, 4):
            wrong = "no status 1 to 4"
        elif not lines or files[name] not in lines[0]:
            wrong = "the first line does not name the file"
        elif any(ord(c) < 32 or 126 < ord(c) < 160 for line in lines for c in line):
            wrong = "control characters"
        elif len(lines) > 20 or not all(files[name] in line or LINE.match(line) for line in lines):
            wrong = "lines that are neither about the file nor hints"
        elif result.out:
            wrong = "output"
        elif os.listdir("."):
            wrong = "files are written"
        if wrong:
            a.fail(k, words, f"{place}, {name}: {wrong}", result)
            shutil.rmtree(".", ignore_errors=True)
        a.seen[f"with status {result.code}"] += 1
    a.end()


main()
