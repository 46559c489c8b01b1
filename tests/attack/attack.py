"""What the attacks share: cases by number, commands with bounds, and how a failure is told.

A script has a list of cases, numbered from 0, which depends on the seed alone. CALC_LONG=1 tries all of them; without, a
sample that takes a few seconds; numbers behind CALC try these. A failure prints the numbers, so that it can be repeated."""
import collections
import functools
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ["gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full"]
SERVE = ["llama3-70B", "h200", "llama3-70B_serving_8"]
HANG_S = 120  # far more than any case takes, so that a slow machine changes no verdict
Result = collections.namedtuple("Result", "code out err peak_kib")


class Attack:
    def __init__(self):
        self.calc = os.path.abspath(sys.argv[1])
        self.numbers = [int(word) for word in sys.argv[2:] if word.isdigit()]
        self.words = [os.path.abspath(word) for word in sys.argv[2:] if not word.isdigit()]
        self.long = bool(os.environ.get("CALC_LONG"))
        self.seed = os.environ.get("CALC_SEED", "1")
        self.seen = collections.Counter()
        self.failures = 0
        with open(self.calc, "rb") as file:  # a sanitizer maps terabytes of addresses
            self.sanitized = b"__asan_init" in file.read()
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("CALC", "LC_", "OMP_"))}
        self.env.update(CALC_PATH=str(ROOT), LANG="C.UTF-8", OMP_NUM_THREADS="2", PYTHONDONTWRITEBYTECODE="1")
        self.folder = tempfile.TemporaryDirectory(prefix="calc-attack-")
        os.chdir(self.folder.name)
        print(f"seed {self.seed}", flush=True)

    def rng(self, *name):
        """Draws of its own for each case."""
        return random.Random(" ".join(map(str, (self.seed, *name))))

    def pick(self, count, some):
        """The numbers of the cases to try of `count`."""
        if self.numbers:
            return [k for k in self.numbers if k < count]
        return range(count) if self.long else sorted(self.rng("sample").sample(range(count), min(some, count)))

    def run(self, words, stdin=b"", gib=0, env=None, seconds=HANG_S, **options):
        """A command, to its end; code None: it hung."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (gib << 30, gib << 30))) if gib and not self.sanitized else None
        words = list(map(str, words))
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([self.calc, *words] if words[0] != "python3" else words, stdin=subprocess.PIPE,
                                   env=self.env if env is None else env, preexec_fn=limit, **options)
        try:
            out, err = process.communicate(stdin, seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return Result(None, *(text or b"" for text in process.communicate()), 0)
        return Result(process.returncode, out or b"", err or b"", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)

    def fail(self, k, words, what, result=None):
        """Tell of a failure and how to see it again."""
        self.failures += 1
        if self.failures > 40 and not self.long:
            return
        print(f"FAILED: {what}")
        print(f"  calc {shlex.join(map(str, words))}"[:2000])
        if result:
            how = "hung" if result.code is None else f"signal {-result.code}" if result.code < 0 else f"status {result.code}"
            print(f"  {how}, {len(result.out)} bytes of output {result.out[:100]!r}\n  {result.err[:400]!r}")
        again = [os.path.relpath(sys.argv[0], ROOT) if os.path.isabs(sys.argv[0]) else sys.argv[0], self.calc, *self.words]
        print(f"  again: CALC_SEED={self.seed} python3 {shlex.join(again)} {k}", flush=True)

    def end(self):
        print(", ".join(f"{count} {what}" for what, count in sorted(self.seen.items())))
        if self.failures:
            print(f"{self.failures} failures")
        sys.exit(self.failures > 0)

    def snapshot(self, folder="."):
        """Every file of a folder with its contents."""
        found = {}
        for path in sorted(pathlib.Path(folder).rglob("*")):
            found[str(path)] = path.read_bytes() if path.is_file() else b""
        return found

    @functools.cached_property
    def commands(self):
        """Words of each command and program of another planner -> its options, name -> word of the value."""
        found = {}
        for name in re.findall(r"^  ([a-z]+)  ", self.text("--help").split("Exit status")[0], re.M):
            if name != "as":
                for word in self.choices("show") if name == "show" else [name]:
                    found[(word,)] = self.options(word)
        for planner in self.choices("as"):
            programs = re.findall(r"^  ([a-z]+) ", self.text("as", planner, "--help").split("Programs:")[-1], re.M)
            for program in [(p,) for p in programs] if "Programs:" in self.text("as", planner, "--help") else [()]:
                found[("as", planner, *program)] = self.options("as", planner, *program)
        return found

    @functools.lru_cache(maxsize=None)
    def text(self, *words):
        return self.run(words).out.decode()

    def options(self, *words):
        """Options that take a value, by the help."""
        return dict(re.findall(r"^  --([\w-]+) ([A-Z0-9|][^\s]*)", self.text(*words, "--help"), re.M))

    def choices(self, command, option=None):
        """Words that an option or the first argument of a command can be, by the completion of bash."""
        place = f"{command}/--{option}" if option else f"{command}/0"
        return re.search(rf'^ *{re.escape(place)}\) choices="([^"]*)"', self.text("help", "--completion", "bash"), re.M)[1].split()
