"""calc from Python: one layout or many, as dicts. Needs nothing but libcalc.so.

    import calc
    answer = calc.run("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full",
                      set={"pipeline_interleaving": 2}, stats=["total_time"])
    answer["verdict"], answer["stats"]["total_time"]

Documents are bare names, paths, or dicts. A layout that cannot run is an answer, with its reasons;
what is wrong with an input is raised as calc.Error, with file and line.

The library is the file that CALC_LIBRARY names, or the one beside this module: in the build tree
or the installation it belongs to. Bare names are looked up in the folders of CALC_PATH first.
"""

import ctypes
import ctypes.util
import glob
import gzip
import json
import os
import threading

__all__ = ["Error", "Session", "documents", "load", "names", "run", "run_many", "version"]

_FOLDERS = {"app": "models", "sys": "systems", "exe": "executions"}
_HERE = os.path.dirname(os.path.realpath(__file__))


class Error(Exception):
    """What is wrong with an input: one line per error. `errors` has them as dicts with the keys
    status, message, text and, where known, hint, file, line, column, document, pointer."""

    def __init__(self, errors):
        super().__init__("\n".join(error["message"] for error in errors))
        self.errors = errors


# ---- The library ---------------------------------------------------------------------------------


def _parents(path):
    while path != os.path.dirname(path):
        yield path
        path = os.path.dirname(path)


def _library_path():
    if os.environ.get("CALC_LIBRARY"):
        return os.environ["CALC_LIBRARY"]
    for parent in _parents(_HERE):
        for pattern in ("build/release/src/libcalc.so", "build/*/src/libcalc.so",
                        "lib/libcalc.so*", "lib/*/libcalc.so*", "lib64/libcalc.so*"):
            found = sorted(glob.glob(os.path.join(parent, pattern)))
            if found:
                return found[0]
    found = ctypes.util.find_library("calc")
    if not found:
        raise OSError("libcalc.so is neither beside calc.py nor installed; set CALC_LIBRARY")
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


def version():
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


def _stem(path):
    name = os.path.basename(path)
    return next((name[: -len(end)] for end in (".json", ".json.gz") if name.endswith(end)), None)


def documents(kind):
    """Paths of all documents with bare names, by name. @param kind: "app", "sys" or "exe"."""
    found = {}
    for place in _places(kind):
        for pattern in ("*.json", "*.json.gz", "*/*.json", "*/*.json.gz"):
            for path in sorted(glob.glob(os.path.join(place, pattern))):
                if os.path.basename(os.path.dirname(path)) != "spaces":
                    found.setdefault(_stem(path), path)
    return found


def names(kind):
    """Bare names of the models ("app"), systems ("sys") or executions ("exe")."""
    return sorted(documents(kind))


def _path(kind, name):
    name = os.fspath(name)
    if "/" in name or _stem(name) is not None:
        return name
    for place in _places(kind):
        for pattern in ("", "*"):
            for end in (".json", ".json.gz"):
                found = glob.glob(os.path.join(glob.escape(place), pattern, glob.escape(name) + end))
                if found:
                    return sorted(found)[0]
    what = {"app": "model", "sys": "system", "exe": "execution"}[kind]
    raise Error([{"status": "no such file", "message": f'no {what} named "{name}"',
                  "text": f'no {what} named "{name}"'}])


@_Find
def _find(_context, kind, name, path, size, _errors):
    """Where a document is that a request names: the systems of listed stages, and paths."""
    try:
        found = os.fsencode(_path(("app", "sys", "exe")[kind], os.fsdecode(name)))
    except Error:
        found = name  # there is no such file, which the library says
    found = found[:size - 1]
    ctypes.memmove(path, found + b"\0", len(found) + 1)
    return 0


def load(kind, name):
    """A document as a dict, as it is in its file: to be changed and given to run()."""
    path = _path(kind, name)
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        return json.load(file)


# ---- Runs ----------------------------------------------------------------------------------------


class Session:
    """Evaluates layouts and remembers the documents they name. Threads may share one, but wait for
    each other; one per thread runs in parallel."""

    def __init__(self):
        self._lock = threading.Lock()
        self._paths = {}
        self._handle = _library.calc_session_open(_find, None)
        if not self._handle:
            raise MemoryError

    def close(self):
        handle, self._handle = self._handle, None
        _library.calc_session_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) and _library:
            self.close()

    def ask(self, request):
        """Answer of the library to a request, or to a list of them (docs/programs.md)."""
        text = json.dumps(request, allow_nan=False).encode()
        with self._lock:
            answer = _library.calc_session_ask(self._handle, text, len(text))
        if not answer:
            raise MemoryError
        try:
            return json.loads(ctypes.string_at(answer))
        finally:
            _library.calc_session_release(answer)

    def _request(self, app, sys, exe, set, stats, compat, inputs, layers, stages):
        request = {}
        for kind, document in (("app", app), ("sys", sys), ("exe", exe)):
            if not isinstance(document, dict):
                key = (kind, document)
                if key not in self._paths:
                    self._paths[key] = _path(kind, document)
                document = self._paths[key]
            request[kind] = document
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

    def run(self, app, sys, exe, set=None, stats=None, compat="none", inputs=False, layers=False,
            stages=False):
        """Evaluate a layout.

        app, sys, exe: bare names, paths or dicts
        set: changes of their fields: {"tensor_par": 8, "sys.mem1.GiB": 141}
        stats: names of the statistics that are wanted; None: all
        inputs, layers, stages: whether the answer has the inputs as used, every layer, every stage
        @return dict with "verdict", "stats" and, if the layout cannot run, "reasons"
        @raise Error for wrong inputs
        """
        answer = self.ask(self._request(app, sys, exe, set, stats, compat, inputs, layers, stages))
        if "errors" in answer:
            raise Error(answer["errors"])
        return answer

    def run_many(self, app, sys, exe, changes, stats=None, compat="none", errors="raise"):
        """Evaluate a layout with each of many changes, in one call of the library.

        changes: dicts as run(set=...) takes them
        errors: "raise", or "return": dicts with "errors" in their places
        @return list of what run() returns
        """
        first = self._request(app, sys, exe, None, stats, compat, False, False, False)
        rest = {key: first[key] for key in ("stats", "compat") if key in first}
        requests = [rest | {"set": change} for change in changes]
        if not requests:
            return []
        requests[0] = first | requests[0]
        answers = self.ask(requests)
        wrong = [error for answer in answers for error in answer.get("errors", [])]
        if wrong and errors == "raise":
            raise Error(wrong)
        return answers


_threads = threading.local()


def _session():
    if not hasattr(_threads, "session"):
        _threads.session = Session()
    return _threads.session


def run(*arguments, **options):
    """Session.run() of this thread's session."""
    return _session().run(*arguments, **options)


def run_many(*arguments, **options):
    """Session.run_many() of this thread's session."""
    return _session().run_many(*arguments, **options)
