"""calc from Python: one layout or many. Needs nothing but the standard library and libcalc.so.

    import calc
    answer = calc.run("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full",
                      set={"pipeline_interleaving": 2}, stats=["total_time"])
    answer.verdict, answer.stats.total_time
    calc.sweep("llama3-70B", "h100_sxm", procs=64, batch=256).best.execution

Documents are bare names, paths, or dicts. Answers are dicts whose keys are attributes, too; a notebook
shows their pages. A layout that cannot run is an answer, with its reasons; what is wrong with an input
is raised as calc.Error, with file and line.

The library is the file that CALC_LIBRARY names, or the one beside this module: in the build tree
or the installation it belongs to. Bare names are looked up in the folders of CALC_PATH first.
"""

from __future__ import annotations

import bisect
import concurrent.futures
import ctypes
import ctypes.util
import functools
import glob
import gzip
import inspect
import itertools
import json
import math
import os
import random
import threading
from typing import (Any, Callable, Concatenate, Iterable, Iterator, Mapping, ParamSpec, Sequence,
                    TypeVar)

from ._answers import (Changes, Document, Error, Layout, Record, Run, Runs, Sweep, Validation,
                       beside as _beside, parents as _parents, validation_text as _validation_text,
                       words_of as _words_of, HERE as _HERE)

__all__ = ["Error", "Layout", "Record", "Run", "Runs", "Session", "Space", "Sweep", "Validation",
           "documents", "evaluate", "fields", "load", "names", "run", "run_many", "sweep", "validate",
           "version"]

for _kind in (Error, Layout, Record, Run, Runs, Sweep, Validation):
    _kind.__module__ = __name__

_FOLDERS = {"app": "models", "sys": "systems", "exe": "executions"}

# ---- The library ---------------------------------------------------------------------------------


def _library_path() -> str:
    if os.environ.get("CALC_LIBRARY"):
        return os.environ["CALC_LIBRARY"]
    found = _beside(("libcalc.so", "build/release/src/libcalc.so", "build/*/src/libcalc.so",
                     "lib/libcalc.so*", "lib/*/libcalc.so*", "lib64/libcalc.so*"))
    found = found or ctypes.util.find_library("calc")
    if not found:
        raise OSError("libcalc.so is neither beside the module nor installed; set CALC_LIBRARY")
    return found


_Find = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p,
                         ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.c_void_p)


def _open_library():
    library = ctypes.CDLL(_library_path())
    library.calc_session_open.argtypes = [_Find, ctypes.c_void_p]
    library.calc_session_open.restype = ctypes.c_void_p
    library.calc_session_ask.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.calc_session_ask.restype = ctypes.c_void_p
    library.calc_session_release.argtypes = [ctypes.c_void_p]
    library.calc_session_release.restype = None
    library.calc_session_close.argtypes = [ctypes.c_void_p]
    library.calc_session_close.restype = None
    library.calc_version.argtypes = []
    library.calc_version.restype = ctypes.c_char_p
    return library


_library = _open_library()


def version() -> str:
    """Version of the library: "0.1.0"."""
    return _library.calc_version().decode()


# ---- Documents -----------------------------------------------------------------------------------


def _places(kind):
    for folder in os.environ.get("CALC_PATH", "").split(":"):
        if folder:
            yield os.path.join(folder, _FOLDERS[kind])
    for parent in _parents(_HERE):
        for place in (os.path.join(parent, "share/calc"), parent):
            if os.path.isdir(os.path.join(place, "models")):
                yield os.path.join(place, _FOLDERS[kind])


def _data(name):
    """A file of a data directory: "measured/residuals.csv"; a source tree has that folder in tests."""
    places = [os.path.dirname(place) for place in _places("app")]
    found = (os.path.join(place, folder, name) for place in places for folder in ("", "tests"))
    return next(filter(os.path.exists, found), name)


def _stem(path):
    name = os.path.basename(path)
    return next((name[: -len(end)] for end in (".json", ".json.gz") if name.endswith(end)), None)


def documents(kind: str) -> dict[str, str]:
    """Paths of all documents with bare names, by name. @param kind: "app", "sys" or "exe"."""
    found = {}
    for place in _places(kind):
        for pattern in ("*.json", "*.json.gz", "*/*.json", "*/*.json.gz"):
            for path in sorted(glob.glob(os.path.join(place, pattern))):
                if os.path.basename(os.path.dirname(path)) not in ("jobs", "spaces", "software", "engines"):
                    found.setdefault(_stem(path), path)
    return found


def names(kind: str) -> list[str]:
    """Bare names of the models ("app"), systems ("sys") or executions ("exe")."""
    return sorted(documents(kind))


def _path(kind, name):
    name = os.fspath(name)
    if os.path.exists(name) or _stem(name) is not None:
        return name
    for place in _places(kind):
        for pattern in ("", "*"):
            for end in (".json", ".json.gz"):
                found = glob.glob(os.path.join(glob.escape(place), pattern, glob.escape(name) + end))
                if found:
                    return sorted(found)[0]
    if "/" in name:
        return name
    what = {"app": "model", "sys": "system", "exe": "execution"}[kind]
    raise Error([{"status": "no such file", "message": f'no {what} named "{name}"',
                  "text": f'no {what} named "{name}"'}])


@_Find
def _find(_context, kind, name, path, size, _errors):
    """Where a document is that a request names: the systems of listed stages, and paths; or a file of data."""
    try:
        found = os.fsencode(_path(("app", "sys", "exe")[kind], os.fsdecode(name)) if kind < 3
                            else _data(os.fsdecode(name)))
    except Error:
        found = name  # there is no such file, which the library says
    found = found[:size - 1]
    ctypes.memmove(path, found + b"\0", len(found) + 1)
    return 0


def load(kind: str, name: str | os.PathLike[str]) -> dict[str, Any]:
    """A document as a dict, as it is in its file: to be changed and given to run()."""
    path = _path(kind, name)
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        return json.load(file)


def fields(kind: str) -> dict[str, dict[str, Any]]:
    """What the fields of "app", "sys", "exe", "stats", "layer" or "stage" may hold: dicts with
    "type", "description" and, where they say something, "choices", "minimum", "maximum" ... by name
    (docs/programs.md)."""
    answer = _session().ask({"fields": kind})
    if "errors" in answer:
        raise Error(answer["errors"])
    return answer["fields"]


# ---- Runs ----------------------------------------------------------------------------------------


class Session:
    """Evaluates layouts and remembers the documents they name. Threads may share one, but wait for
    each other; one per thread runs in parallel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths = {}
        self._handle = _library.calc_session_open(_find, None)
        if not self._handle:
            raise MemoryError

    def close(self) -> None:
        """Free what it remembers; it answers nothing from then on. Waits for a request of another
        thread."""
        with self._lock:
            handle, self._handle = self._handle, None
            _library.calc_session_close(handle)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) and _library:
            self.close()

    def ask(self, request: Any) -> Any:
        """Answer of the library to a request, or to a list of them (docs/programs.md).

        @raise ValueError if the session is closed
        """
        text = json.dumps(request, allow_nan=False).encode()
        with self._lock:
            if not self._handle:
                raise ValueError("the session is closed")
            answer = _library.calc_session_ask(self._handle, text, len(text))
        if not answer:
            raise MemoryError
        try:
            return json.loads(ctypes.string_at(answer), object_hook=Record)
        finally:
            _library.calc_session_release(answer)

    def _documents(self, app, sys, exe=None):
        request = {}
        for kind, document in (("app", app), ("sys", sys), ("exe", exe)):
            if document is None:
                continue
            if not isinstance(document, Mapping):
                key = (kind, document)
                if key not in self._paths:
                    self._paths[key] = _path(kind, document)
                document = self._paths[key]
            request[kind] = document
        return request

    def _request(self, app, sys, exe, set, stats, compat, inputs, layers, stages):
        request = self._documents(app, sys, exe)
        if set is not None:
            request["set"] = set
        if stats is not None:
            request["stats"] = list(stats)
        if compat != "none":
            request["compat"] = compat
        for name, wanted in (("inputs", inputs), ("layers", layers), ("stages", stages)):
            if wanted:
                request[name] = True
        return request

    def run(self, app: Document, sys: Document, exe: Document | None = None,
            set: Changes | None = None, stats: Iterable[str] | None = None, compat: str = "none",
            inputs: bool = False, layers: bool = False, stages: bool = False) -> Run:
        """Evaluate a layout.

        app, sys, exe: bare names, paths or dicts. What exe leaves out of the keys that it must have
            is as in the layout that calc sweep would start with; None: all of it
        set: changes of their fields: {"tensor_par": 8, "sys.mem1.GiB": 141}
        stats: names of the statistics that are wanted; None: all
        inputs, layers, stages: whether the answer has the inputs as used, every layer, every stage
        @return "verdict", "stats" and, if there are any, "reasons" why the layout cannot run,
            "completed": the fields that exe left out, and "remarks": what to know before using the numbers
        @raise Error for wrong inputs
        """
        exe = {} if exe is None else exe
        answer = self.ask(self._request(app, sys, exe, set, stats, compat, inputs, layers, stages))
        if "errors" in answer:
            raise Error(answer["errors"])
        return _made(Run, answer, app=app, sys=sys, exe=exe, set=set, compat=compat)

    def run_many(self, app: Document, sys: Document, exe: Document, changes: Iterable[Changes],
                 stats: Iterable[str] | None = None, compat: str = "none",
                 errors: str = "raise") -> Runs:
        """Evaluate a layout with each of many changes, in one call of the library.

        changes: dicts as run(set=...) takes them
        errors: "raise", or "return": dicts with "errors" in their places
        @return list of what run() returns
        """
        first = self._request(app, sys, exe, None, stats, compat, False, False, False)
        rest = {key: first[key] for key in ("stats", "compat") if key in first}
        changes = list(changes)
        requests = [rest | {"set": change} for change in changes]
        if not requests:
            return Runs()
        requests[0] = first | requests[0]
        answers = self.ask(requests)
        wrong = [error for answer in answers for error in answer.get("errors", [])]
        if wrong and errors == "raise":
            raise Error(wrong)
        return Runs(_made(Run, answer, app=app, sys=sys, exe=exe, set=change, compat=compat)
                    for answer, change in zip(answers, changes))

    def sweep(self, app: Document, sys: Document, procs: int | str | None = None,
              batch: int | str | None = None, space: Document | None = None,
              set: Changes | None = None, axis: Changes | None = None,
              where: str | Sequence[str] = (), top: int = 10, **options: Any) -> Sweep:
        """Search the layouts of a model on a machine, as calc sweep does.

        app, sys: bare names, paths or dicts
        procs, batch: number of processors (8, "8:64:8"), and the largest global batch
        space: path or dict of an execution in which fields may have many values
        set, axis: fields that are fixed, {"tensor_par": 8}, and swept, {"microbatch_size": [1, 2]}
        where: conditions: "mem1 <= 60GiB"
        options: the others of calc sweep by their names: objectives="...", top_by="...", per="num_procs"
        @return "summary", "start", and "top" and "front", lists of layouts with "design", "execution", "stats"
        @raise Error for wrong inputs
        """
        if space is not None and not isinstance(space, Mapping):
            space = load("exe", space)
        chosen: dict[str, Any] = {
            "procs": procs, "batch": batch, "set": _words_of(set),
            "axis": [f"{name}={','.join(map(_text, values))}" if isinstance(values, (list, tuple, range))
                     else f"{name}={_text(values)}" for name, values in axis.items()]
            if isinstance(axis, Mapping) else list(axis or ()),
            "where": [where] if isinstance(where, str) else list(where), "top": top,
            **{name.rstrip("_").replace("_", "-"): value for name, value in options.items()}}
        chosen = {name: value for name, value in chosen.items() if value not in (None, [])}
        self._documents(app, sys)  # they exist; the answer calls them as the caller does
        request: dict[str, Any] = {kind: document if isinstance(document, Mapping) else os.fspath(document)
                                   for kind, document in (("app", app), ("sys", sys))}
        request["sweep"] = dict(chosen)
        if space is not None:
            request["sweep"]["space"] = space
        answer = self.ask(request)
        if "errors" in answer:
            raise Error(answer["errors"])
        found = _made(Sweep, answer["sweep"], app=app, sys=sys, space=space, options=chosen)
        if "start" in found:
            found["start"] = _made(Layout, found["start"], app=app, sys=sys)
        for group in found.get("groups", [found]):
            for rows in ("top", "front"):
                group[rows] = [_made(Layout, row, app=app, sys=sys) for row in group[rows]]
        return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _made(kind, answer, **asked):
    """An answer that knows what was asked."""
    made = kind(answer)
    made._asked = asked
    return made


_threads = threading.local()


def _session() -> Session:
    if not hasattr(_threads, "session"):
        _threads.session = Session()
    return _threads.session


_P = ParamSpec("_P")
_T = TypeVar("_T")


def _of_session(method: Callable[Concatenate[Session, _P], _T]) -> Callable[_P, _T]:
    """A method of this thread's session as a function."""

    @functools.wraps(method)
    def function(*arguments: _P.args, **options: _P.kwargs) -> _T:
        return method(_session(), *arguments, **options)

    whole = inspect.signature(method)
    shown = whole.replace(parameters=list(whole.parameters.values())[1:])
    setattr(function, "__signature__", shown)
    return function


run = _of_session(Session.run)
run_many = _of_session(Session.run_many)
sweep = _of_session(Session.sweep)


def validate(runs: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
             **options: Any) -> Validation:
    """Measured runs beside predictions of them, by calc validate.

    runs: path or bare name of a table, or its rows as dicts: {"app": "llama3-70B", "sys": "h100_sxm",
        "exe": "llama3-70B_512", "measured_s": 15.3}; None: the published runs of training
    options: those of calc validate by their names: system="h100_sxm", operators="mine.csv"
    @return "rows", one for each measurement, "groups" with their errors, "counts" ...
    @raise Error if the table cannot be read
    """
    words = [word for name, value in options.items()
             for word in (f"--{name.replace('_', '-')}", str(value))]
    asked = {"runs": runs, "words": words}
    answer = json.loads(_validation_text(asked, "--json"), object_hook=Record)
    return _made(Validation, answer, **asked)


# ---- Spaces of layouts ---------------------------------------------------------------------------

# What fits together or not. Data parallelism is last: it follows from the others.
_TIED = ("tensor_par", "pipeline_par", "context_par", "expert_par", "expert_tensor_par",
         "batch_size", "microbatch_size", "tensor_par_overlap", "pipeline_interleaving", "data_par")
_PARALLEL = ("tensor_par", "pipeline_par", "context_par", "data_par")
_SPLIT = ("hidden", "feedforward", "attn_heads", "shared_feedforward")  # by tensor parallelism
_RULE = "fields that contradict each other"
_UNSUPPORTED = "recognised but not modelled yet"


def _divisors(n):
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def _schedule_fits(stages, chunks, batches, schedule):
    """Whether a schedule has an order for micro-batches (src/spec/rules.c)."""
    if schedule == "1f1b":
        return chunks == 1 or batches % stages == 0
    even = schedule != "dualpipe" or stages % 2 == 0 and batches % 2 == 0
    return chunks == 1 and even and (batches >= 2 * stages or not schedule.startswith("dualpipe"))


def _stages_fit(blocks, stages, chunks, balance, first, last):
    """Whether blocks can be spread over stages of so many chunks (src/model/stages/stages.c)."""
    if stages == 1:
        return chunks == 1
    if first or last:
        even, rest = stages - (first > 0) - (last > 0), blocks - first - last
        fits = rest > 0 and rest % even == 0 if even else rest == 0
        return fits and not any(n % chunks for n in (first, last, rest // max(even, 1)))
    if balance == "free":
        return blocks >= stages * chunks
    ends = balance == "ends"  # embedding and head count as blocks
    fewest = (blocks + 2 * ends) // stages
    return fewest > ends and (chunks == 1 or (blocks + 2 * ends) % (stages * chunks) == 0)


class Space:
    """Layouts that differ from an execution in some of its fields, for evaluate() and for tuners.

    app, sys, exe: bare names, paths or dicts of a layout that is legal
    axes: values of fields of the execution, all but num_procs and training, by name: a list, one
        value, or "*" for every value, where there is a finite number of them. None: parallel sizes,
        micro-batches, interleaving and recomputation, and of what "auto" can say "auto" and the
        value that is always legal.

    A layout is a dict, as run(set=...) takes it. Sizes of layouts fit together: num_procs is the
    product of the parallel sizes, so that data_par follows from the others, micro-batches divide
    what a replica has of the batch, chunks the blocks of a stage, tensor and expert parallelism
    what they split. Whether a layout can run, evaluate() says.
    """

    def __init__(self, app: Document, sys: Document, exe: Document,
                 axes: Mapping[str, Any] | None = None):
        base = run(app, sys, exe, stats=[], inputs=True)
        self.documents = (app, sys, exe)
        self.num_procs = base["exe"]["num_procs"]
        # What model or machine have, too, is exe.NAME in changes.
        both = fields("app").keys() | fields("sys").keys()
        self._fields, self._names = {}, {}
        for plain, row in fields("exe").items():
            name = f"exe.{plain}" if plain in both else plain
            self._fields[name] = row
            self._names |= dict.fromkeys((plain, f"exe.{plain}", *row.get("also", ())), name)
        self._app, self._exe, self._networks = base["app"], base["exe"], len(base["sys"]["networks"])
        axes = self._usual() if axes is None else dict(axes)
        for name in list(axes):
            if self._name(name) != name and self._name(name) in axes:
                raise ValueError(f"{self._name(name)} is named twice")
            axes[self._name(name)] = axes.pop(name)
        if any(name in axes for name in _PARALLEL) and axes.get("data_par", "auto") == "auto":
            axes["data_par"] = "*"
        self.axes = {name: self._values(name, values) for name, values in axes.items()}
        self._check()
        self._tied = [name for name in _TIED if name in self.axes]
        self._free = [name for name in self.axes if name not in _TIED]
        self._sizes = list(self._fitting())
        if not self._sizes:
            raise ValueError(f"no sizes of the space fit num_procs = {self.num_procs}")
        for i, name in enumerate(self._tied):
            used = {sizes[i] for sizes in self._sizes}
            self.axes[name] = tuple(value for value in self.axes[name] if value in used)
        self._rank = [{value: i for i, value in enumerate(self.axes[name])} for name in self._tied]
        self._lines = {}

    # What the axes are.

    def _name(self, name):
        if name not in self._names:
            raise ValueError(f'no field "{name}" of an execution')
        if self._names[name] in ("num_procs", "training", "source"):
            raise ValueError(f"{name} is no axis: it is the same in all layouts of a space")
        return self._names[name]

    def _usual(self):
        exe, training = self._exe, self._exe["training"]
        axes = {"tensor_par": "*", "pipeline_par": "*",
                "microbatch_size": [n for n in _divisors(exe["batch_size"]) if n <= 16]}
        experts = self._app.get("num_experts", 0)
        if experts:
            axes["expert_par"] = "*"
        if training:
            axes["pipeline_interleaving"] = "*"
            flash = exe.get("flash_attention") or exe["attention_type"] == "flash"
            axes["activation_recompute"] = ["none", "full"] if flash else ["none", "attn_only", "full"]
            if exe.get("recompute_modules"):
                axes["recompute_modules"] = "none"
        for name, row in self._fields.items():
            if row.get("auto") and row["type"] in ("boolean", "choice"):
                least = False if row["type"] == "boolean" else row["choices"][0]
                only = not training or experts and name == "tensor_par_comm_type"
                axes[name] = "auto" if only else [least, "auto"]
        if training and exe["tensor_par_overlap"] not in ("none", "async"):  # auto is async
            axes["tensor_par_overlap"].insert(1, exe["tensor_par_overlap"])
        return axes

    def _values(self, name, values):
        if values == "*":
            values = self._every(name)
        elif isinstance(values, (str, dict)) or not hasattr(values, "__iter__"):
            values = [values]
        values = list(values)
        values = tuple(value for i, value in enumerate(values) if value not in values[:i])
        if not values:
            raise ValueError(f"{name} has no values")
        return values

    def _every(self, name):
        row = self._fields[name]
        if name.endswith("_par"):
            split = {"tensor_par": [self._app.get(part, 0) for part in _SPLIT],
                     "expert_par": [self._app.get("num_experts", 0) or 1]}.get(name, ())
            return _divisors(math.gcd(self.num_procs, *split))
        if name == "microbatch_size":
            return _divisors(self._exe["batch_size"])
        if name == "pipeline_interleaving":
            return range(1, self._app["num_blocks"] + 2)
        if name.endswith("_net"):
            return range(row["minimum"], self._networks)
        if row["type"] == "set":
            return ["+".join(some) or "none" for n in range(len(row["choices"]) + 1)
                    for some in itertools.combinations(row["choices"], n)]
        if row["type"] == "integer" and row["maximum"] - row["minimum"] < 64:
            return range(row["minimum"], row["maximum"] + 1)
        if row["type"] == "boolean":
            return [False, True]
        if row["type"] != "choice":
            raise ValueError(f'{name}: "*" has no end, give values')
        return row["choices"]

    def _check(self):
        """Raise what is wrong with a value, whatever the others are."""
        changes = [{name: value} for name, values in self.axes.items() for value in values]
        answers = run_many(*self.documents, changes, stats=[], errors="return")
        wrong = [error for answer in answers for error in _faults(answer)]
        if wrong:
            raise Error(wrong)

    # Sizes that fit together.

    def _of(self, point, name):
        return point.get(name, self._exe.get(name, self._fields[name].get("default")))

    def _any(self, name):
        """Values of an axis, or the one that all layouts have."""
        return self.axes.get(name, (self._of({}, name),))

    def _fitting(self):
        """Values of the tied axes that fit, in the order of the axes."""
        inner = ("tensor_par_overlap", "pipeline_interleaving")
        others = [name for name in self._tied if name not in (*inner, "data_par")]
        chunks_of = functools.lru_cache(None)(self._chunks_of)
        for sizes in itertools.product(*(self.axes[name] for name in others)):
            point = dict(zip(others, sizes))
            of = functools.partial(self._of, point)
            ranks = math.prod(max(1, of(name)) for name in _PARALLEL[:3])
            point["data_par"] = self.num_procs // ranks
            if (ranks * point["data_par"] == self.num_procs and
                    point["data_par"] in self._any("data_par") and self._splits(of)):
                batches = of("batch_size") // (point["data_par"] * of("microbatch_size"))
                overlaps = [how for how in self._any("tensor_par_overlap")
                            if of("tensor_par") > 1 or how in ("none", "auto")]
                for values in itertools.product(overlaps, chunks_of(of("pipeline_par"), batches)):
                    point |= zip(inner, values)
                    yield tuple(point[name] for name in self._tied)

    def _splits(self, of):
        """Whether tensor and expert parallelism, replicas and micro-batches divide what they split,
        and there is something to shard over."""
        app = self._app
        experts, split = max(1, of("expert_par")), max(1, of("expert_tensor_par"))
        return (not any(app.get(name, 0) % of("tensor_par") for name in _SPLIT) and
                of("batch_size") % (of("data_par") * of("microbatch_size")) == 0 and
                self._exe.get("inference", {}).get("batch", 0) % of("data_par") == 0 and
                (app.get("num_experts", 0) or 1) % experts == 0 and
                (self.num_procs // of("pipeline_par")) % (experts * split) == 0 and
                (of("data_par") > 1 or of("context_par") > 1 or 0 in self._any("zero_stage")))

    def _chunks_of(self, stages, batches):
        """Interleavings that fit so many stages and micro-batches."""
        listed = not {"stages", "layers"}.isdisjoint(self._exe.keys() | self.axes.keys())
        spread = [self._any(name) for name in
                  ("pipeline_balance", "first_stage_blocks", "last_stage_blocks")]
        found = []
        for value in self._any("pipeline_interleaving"):
            chunks = 1 if value == "auto" else value
            if (any(_schedule_fits(stages, chunks, batches, how)
                    for how in self._any("pipeline_schedule")) and
                    (listed or any(_stages_fit(self._app["num_blocks"], stages, chunks, *how)
                                   for how in itertools.product(*spread)))):
                found.append(value)
        return found

    # Layouts.

    def _point(self, sizes, rest):
        values = dict(zip(self._tied, sizes)) | dict(zip(self._free, rest))
        return {name: values[name] for name in self.axes}

    @property
    def size(self) -> int:
        """How many layouts there are; len() of a space ends at sys.maxsize."""
        return len(self._sizes) * math.prod(len(self.axes[name]) for name in self._free)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for sizes in self._sizes:
            for rest in itertools.product(*(self.axes[name] for name in self._free)):
                yield self._point(sizes, rest)

    def __contains__(self, point: Any) -> bool:
        return (point.keys() == self.axes.keys() and
                tuple(point[name] for name in self._tied) in self._line_of(()) and
                all(point[name] in self.axes[name] for name in self._free))

    def sample(self, rng: random.Random) -> dict[str, Any]:
        """A layout, all equally likely. @param rng: random.Random(seed)"""
        return self._point(rng.choice(self._sizes),
                           [rng.choice(self.axes[name]) for name in self._free])

    def neighbours(self, point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Layouts of the space one step from one of them: two parallel sizes change so that their
        product stays, or one other field; numbers to the next value, choices to any other one."""
        if point not in self:
            raise ValueError(f"not a layout of the space: {point}")
        for name in self._free:
            values = self.axes[name]
            for near in self._near(name, values, values.index(point[name])):
                yield point | {name: near}
        sizes = tuple(point[name] for name in self._tied)
        parallel = [name for name in self._tied if name in _PARALLEL]
        moves = [(name,) for name in self._tied if name not in _PARALLEL]
        for move in [*itertools.combinations(parallel, 2), *moves]:
            line = self._line_of(move)[self._beside(move, sizes)]
            for near in self._near(move[0], line, line.index(sizes)):
                yield point | dict(zip(self._tied, near))

    def _near(self, name, line, i):
        if any(isinstance(value, (bool, str)) for value in self.axes[name]):
            return (*line[:i], *line[i + 1:])
        return (*line[max(i - 1, 0):i], *line[i + 1:i + 2])

    def _beside(self, move, sizes):
        return tuple(size for name, size in zip(self._tied, sizes) if name not in move)

    def _line_of(self, move):
        """Sizes that differ in the fields of a move only, in order, by what they have in common."""
        if move not in self._lines:
            lines = self._lines[move] = {}
            for sizes in self._sizes:
                lines.setdefault(self._beside(move, sizes), []).append(sizes)
        return self._lines[move]

    def distributions(self) -> dict[str, tuple[Any, ...]]:
        """Values of each field that a tuner may choose on its own, by name: for Optuna's
        CategoricalDistribution, ConfigSpace's Categorical, Ray's tune.choice. nearest() makes a
        layout of what it chose."""
        return {name: values for name, values in self.axes.items()
                if len(values) > 1 and name != "data_par"}

    def nearest(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """A layout with these choices, by name as distributions() has them. Sizes that do not fit
        together give way one after the other: each is the largest value not above the one chosen
        that fits those before it, or the smallest that does."""
        unknown = choices.keys() - self.axes.keys()
        if unknown:
            raise ValueError(f"no axes of the space: {', '.join(sorted(unknown))}")
        wanted = {name: choices.get(name, values[0]) for name, values in self.axes.items()}
        missing = self.distributions().keys() - choices.keys()
        if missing:
            raise ValueError(f"no choice of {', '.join(sorted(missing))}")
        low, high = 0, len(self._sizes)
        for i, name in enumerate(self._tied):
            rank = self._rank[i]

            def place(sizes):
                return rank[sizes[i]]

            if name != "data_par":  # which follows
                end = bisect.bisect_right(self._sizes, rank[wanted[name]], low, high, key=place)
                found = place(self._sizes[end - 1 if end > low else low])
                low = bisect.bisect_left(self._sizes, found, low, high, key=place)
                high = bisect.bisect_right(self._sizes, found, low, high, key=place)
        return self._point(self._sizes[low], [wanted[name] for name in self._free])


# ---- Many layouts --------------------------------------------------------------------------------

_CHUNK = 1000  # layouts that one call of the library evaluates


def _faults(answer):
    """What is wrong with a request, unless its fields only contradict each other."""
    return [error for error in answer.get("errors", [])
            if error["status"] not in (_RULE, _UNSUPPORTED)]


@functools.lru_cache(None)
def _statistics():
    """Name of each statistic, and whether more of it is better, by all its names."""
    return {other: (name, row.get("more_is_better", False))
            for name, row in fields("stats").items() for other in (name, *row.get("also", ()))}


def evaluate(space: Space | tuple[Document, Document, Document], points: Iterable[Changes],
             objective: str = "total_time", stats: Sequence[str] = (), compat: str = "none",
             threads: int = 1) -> list[dict[str, Any]]:
    """What a tuner wants to know of many layouts.

    space: a Space, or (app, sys, exe)
    points: layouts: changes as run(set=...) takes them
    objective: the statistic that is to be small, or large if more of it is better
    stats: names of other statistics that are wanted: "stats" of the result
    threads: each has a session of its own
    @return list of dicts: "value": of the objective, negated if more is better, math.inf if the
        layout cannot run; "verdict": as of run(), "illegal" if its fields contradict each other;
        "reasons": dicts with "text" and "hint", none if it can run
    @raise Error for wrong inputs; ValueError for an objective that has no value
    """
    documents = space.documents if isinstance(space, Space) else space
    name, more = _statistics().get(objective, (objective, False))
    wanted = [objective, *stats]
    points = list(points)

    def ask(first):
        return _session().run_many(*documents, points[first:first + _CHUNK], stats=wanted,
                                   compat=compat, errors="return")

    def result(answer):
        wrong = _faults(answer)
        if wrong:
            raise Error(wrong)
        found = {"value": math.inf, "verdict": answer.get("verdict", "illegal"),
                 "reasons": answer.get("reasons", answer.get("errors", []))}
        if found["verdict"] == "ok":
            value = answer["stats"][name]
            if value is None:
                raise ValueError(f"{objective} has no value here")
            found["value"] = -value if more else value
        if stats:
            found["stats"] = {other: answer.get("stats", {}).get(_statistics()[other][0])
                              for other in stats}
        return found

    firsts = range(0, len(points), _CHUNK)
    if threads == 1:
        chunks = map(ask, firsts)
    else:
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            chunks = list(pool.map(ask, firsts))
    return [result(answer) for chunk in chunks for answer in chunk]
