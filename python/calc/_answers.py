"""What run(), sweep() and validate() return: dicts whose keys are attributes, too, and which draw
themselves in a notebook. Pages and validations are made by the command, which belongs to the library."""

from __future__ import annotations

import csv
import glob
import html
import json
import os
import shutil
import subprocess
import tempfile
from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

HERE = os.path.dirname(os.path.realpath(__file__))
Document = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Changes = Union[Mapping[str, Any], Sequence[str]]


class Error(Exception):
    """What is wrong with an input: one line per error. `errors` has them as dicts with the keys
    status, message, text and, where known, hint, file, line, column, document, pointer."""

    errors: list[dict[str, Any]]

    def __init__(self, errors: list[dict[str, Any]]):
        super().__init__("\n".join(error["message"] for error in errors))
        self.errors = errors


def parents(path: str) -> Iterator[str]:
    while path != os.path.dirname(path):
        yield path
        path = os.path.dirname(path)


def beside(patterns: Iterable[str]) -> str | None:
    """The first file that fits: in the build tree or the installation the module belongs to."""
    for parent in parents(HERE):
        for pattern in patterns:
            found = sorted(glob.glob(os.path.join(glob.escape(parent), pattern)))
            if found:
                return found[0]
    return None


# ---- The command ---------------------------------------------------------------------------------


def command_path() -> str | None:
    """The command: what CALC_COMMAND names, what is beside the module, or on the PATH."""
    return (os.environ.get("CALC_COMMAND") or
            beside(("build/release/bin/calc", "build/*/bin/calc", "bin/calc")) or shutil.which("calc"))


def command(*words: str) -> str:
    """What the command writes to standard output. @raise Error if it complains"""
    path = command_path()
    if not path:
        raise OSError("the command calc is neither beside the module nor installed; set CALC_COMMAND")
    answer = subprocess.run([path, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if answer.returncode != 0 and not answer.stdout:
        text = answer.stderr.strip() or f"calc {words[0]} ended with status {answer.returncode}"
        raise Error([{"status": "command", "message": text, "text": text}])
    return answer.stdout


def words_of(change: Changes | None) -> list[str]:
    """FIELD=VALUE for each field, as --set takes it."""
    if change is None:
        return []
    if not isinstance(change, Mapping):
        return list(change)
    return [f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in change.items()]


class Files:
    """Documents as arguments of the command: dicts are in files while the block lasts."""

    def __init__(self, documents: Mapping[str, Document]):
        self._documents = documents

    def __enter__(self) -> list[str]:
        self._folder = tempfile.TemporaryDirectory()
        found = []
        for name, document in self._documents.items():
            if isinstance(document, Mapping):
                path = os.path.join(self._folder.name, f"{name}.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(document, file)
                document = path
            found.append(os.fspath(document))
        return found

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows as a frame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas, which is not installed: pip install pandas") from error
    return pandas.DataFrame([dict(row) for row in rows])


# ---- Answers -------------------------------------------------------------------------------------


class Record(dict):  # type: ignore[type-arg]
    """A dict whose keys are attributes, too: answer["stats"]["total_time"] is answer.stats.total_time."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no {name}: {', '.join(map(str, self))}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]


class _Page:
    """What a notebook shows of an answer: its page, in a frame of its own."""

    def html(self) -> str:
        """The page that --html of the command writes."""
        raise NotImplementedError

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def _repr_html_(self) -> str | None:
        if not command_path():
            return None  # the notebook shows the numbers
        return (f'<iframe srcdoc="{html.escape(self.html())}" title="calc" '
                'style="width:100%;height:800px;border:0"></iframe>')


class Run(_Page, Record):
    """A layout: `verdict`, `stats` and, if there are any, `reasons` why it cannot run, `completed`: the
    fields that were left out, and `remarks`: what to know before using the numbers; `app`, `sys`, `exe`, `layers`, `stages` if asked for."""

    _asked: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Whether the layout can run."""
        return bool(self["verdict"] == "ok")

    def html(self) -> str:
        asked = self._asked
        with Files({"model": asked["app"], "system": asked["sys"], "execution": asked["exe"]}) as files:
            words = [word for change in words_of(asked["set"]) for word in ("--set", change)]
            return command("run", *files, *words, "--compat", asked["compat"], "--html", "-")

    def to_pandas(self) -> Any:
        """A frame of one row: what was changed, the verdict and the statistics."""
        return Runs([self]).to_pandas()


class Runs(list):  # type: ignore[type-arg]
    """Answers of many runs."""

    def to_pandas(self) -> Any:
        """A frame with a row for each: what was changed, the verdict and the statistics."""
        rows = []
        for answer in self:
            change = dict(word.split("=", 1) for word in words_of(answer._asked["set"])) \
                if not isinstance(answer._asked["set"], Mapping) else answer._asked["set"]
            rows.append({**change, "verdict": answer.get("verdict", "illegal"), **answer.get("stats", {})})
        return frame(rows)


class Layout(Record):
    """A row of a sweep: `design` (names of model and machine, swept fields of both), `execution` and `stats`."""

    _asked: dict[str, Any]

    def run(self, set: dict[str, Any] | None = None, **options: Any) -> Run:
        """The layout evaluated by run(), whose options these are, with the swept fields that it was found with."""
        from . import run
        swept = {name: value for name, value in self["design"].items() if name not in ("application", "system")}
        return run(self._asked["app"], self._asked["sys"], self["execution"], set={**swept, **(set or {})}, **options)


class Sweep(_Page, Record):
    """A sweep: `summary` with its counts, `start`, the layout to start with (none if nothing can run),
    and `top` and `front`, lists of layouts; or, where it was asked for one list each `per` number of
    processors, `groups` of them."""

    _asked: dict[str, Any]

    @property
    def layouts(self) -> list[Layout]:
        """The best, of all groups in their order."""
        return [row for group in self.get("groups", [self]) for row in group["top"]]

    @property
    def best(self) -> Layout:
        """The first of the best. @raise LookupError if no layout can run"""
        if not self.layouts:
            raise LookupError("no layout of the sweep can run; summary.counts.rejected says why")
        return self.layouts[0]

    def html(self) -> str:
        asked = self._asked
        space = {"space": asked["space"]} if asked["space"] is not None else {}
        with Files({"model": asked["app"], "system": asked["sys"], **space}) as files:
            words = []
            for name, values in asked["options"].items():
                for value in values if isinstance(values, list) else [values]:
                    words += [f"--{name}", str(value)]
            return command("sweep", *files, *words, "--html", "-")

    def to_pandas(self) -> Any:
        """A frame with a row for each of the best: the fields of its layout and its statistics."""
        return frame([{**row["design"], **row["execution"], **row["stats"]} for row in self.layouts])


class Validation(_Page, Record):
    """Measured runs beside predictions: `rows`, `groups` with their errors, `counts` ..."""

    _asked: dict[str, Any]

    def html(self) -> str:
        return validation_text(self._asked, "--html")

    def to_pandas(self) -> Any:
        """A frame with a row for each measurement."""
        return frame(self["rows"])


def validation_text(asked: Mapping[str, Any], form: str) -> str:
    """What calc validate writes as --json or as --html."""
    runs, words = asked["runs"], asked["words"]
    if runs is None:
        return command("validate", *words, form, "-")
    if isinstance(runs, (str, os.PathLike)):
        return command("validate", os.fspath(runs), *words, form, "-")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(key for row in runs for key in row)))
            writer.writeheader()
            writer.writerows(runs)
        return command("validate", path, *words, form, "-")
