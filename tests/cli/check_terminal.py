#!/usr/bin/env python3
"""No file, id, name or argument commands a terminal: whatever they hold, calc shows control and direction characters as \\xNN
on standard output and standard error, if they are a terminal; its own colours are the only escapes. A file gets the bytes as
they are.

usage: check_terminal.py CALC"""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

calc = os.path.abspath(sys.argv[1])
root = pathlib.Path(__file__).resolve().parents[2]
os.environ.update(CALC_PATH=str(root), LC_ALL="C.UTF-8", TERM="xterm", COLUMNS="200")
EVIL = "x\x1b]0;evil\x07\x1b[2J\u009b31m\u202eb\x7f"
COLOR = re.compile(rb"\x1b\[(0|1|3[1-5])m")
HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def at_terminal(words):
    """What a terminal gets from a command."""
    master, slave = pty.openpty()
    process = subprocess.Popen([calc, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return process.wait(), text.replace(b"\r\n", b"\n")


def main():
    evil = EVIL
    app = (root / "models/gpt3-13B.json").read_text()
    run = ["gpt3-13B", "a100_80g", "8_t8_p1_d1_mbs1"]
    pathlib.Path(f"{evil}.json").write_text(app)
    pathlib.Path("bad.json").write_text('{"hidden%s": 3, "%s": 1}' % ("\u202e", "\\u001b[2J"))
    pathlib.Path("bad.yaml").write_text(f"tensor_model_parallel_size: {evil}\n", errors="surrogatepass")
    pathlib.Path("bad.sh").write_text(f"--tensor-model-parallel-size '{evil}' --num-layers 4\n")
    pathlib.Path("bad.toml").write_text(f'"{evil}" = 1\n')
    pathlib.Path("runs.csv").write_text(
        "id,app,sys,exe,measured_s\n" + f'"{evil}",gpt3-13B,a100_80g,gpt3-13B_64,1\n' + f'{evil},{evil},a100_80g,x,1\n')
    exe = "gpt3-13B_64" if (root / "executions/gpt3-13B_64.json").exists() else sorted(
        p.stem for p in (root / "executions").glob("*.json"))[0]
    commands = [
        [evil], ["run", evil, "b", "c"], ["run", f"{evil}.json", "a100_80g", exe], ["run", "bad.json", "a100_80g", exe],
        ["run", "gpt3-13B", "a100_80g", exe, "--set", f"{evil}=1"], ["run", "gpt3-13B", "a100_80g", exe, "--set", f"tp={evil}"],
        ["run", f"--{evil}"], ["run", *run[:2], exe, "--json", f"{evil}/none"], ["names", evil], ["explain", evil],
        ["sweep", f"{evil}.json", "a100_80g", "--procs", "8", "--batch", "8", "--top", "2"],
        ["sweep", "gpt3-13B", "a100_80g", "--procs", "8", "--batch", "8", "--axis", f"{evil}=1"],
        ["sweep", "gpt3-13B", "a100_80g", "--procs", "8", "--batch", "8", "--where", evil],
        ["sweep", "gpt3-13B", "a100_80g", "--procs", "8", "--batch", "8", "--out", f"{evil}/o.json"],
        ["plan", f"{evil}.json", "a100_80g", "--procs", "8", "--batch", "8", "--top", "1"],
        ["why", f"{evil}.json", "a100_80g", exe], ["diff", f"{evil}.json", "gpt3-13B"], ["export", "--to", evil, "gpt3-13B", exe],
        ["import", "bad.yaml", "--from", "nemo"], ["import", "bad.sh"], ["import", "bad.toml"], ["import", f"{evil}.json"],
        ["validate", "runs.csv"], ["validate", evil], ["report", f"{evil}.json"], ["merge", f"{evil}.json"],
        ["as", "galvatron", "search", "bad.yaml"], ["as", "taylor", "nd", "bad.yaml"], ["fields", evil], ["params", f"{evil}.json"],
    ]
    shown = 0
    for words in commands:
        code, raw = at_terminal(words + ["--progress", "none"] * (words[0] in ("sweep", "plan")))
        text = COLOR.sub(b"", raw).decode(errors="surrogateescape")
        found = HOSTILE.search(text)
        if found or code < 0:
            sys.exit(f"calc {words!r} ended with {code}, and a terminal gets {text[max(0, found.start() - 60):found.end() + 20]!r}"
                     if found else f"calc {words!r} ended with {code}")
        shown += "\\x1b" in text
    if shown < len(commands) / 2:
        sys.exit(f"only {shown} of {len(commands)} commands show what they were given")
    # In a file the bytes are as they are.
    raw = subprocess.run([calc, "sweep", f"{evil}.json", "a100_80g", "--procs", "8", "--batch", "8", "--top", "1", "--per",
                          "design"], capture_output=True, check=True).stdout
    if evil.encode() not in raw:
        sys.exit("standard output that is no terminal does not have a name as it is")
    print(f"{len(commands)} commands, {shown} with what is hostile")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
