"""Makes the wheel: what `pip install .` asks for (PEP 517), with nothing but the standard library.

The wheel is an installation: the module and libcalc.so, the command, and share/. It uses the
libraries of the system that CMake found.

usage: calc_wheel.py FOLDER [BUILD]        BUILD: a build tree that is complete; by default one is built
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "calc_llm"


def _project(key):
    """A value of pyproject.toml that is one text, or is written {text = "..."}."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.search(rf'^{key} = (?:\{{text = )?"([^"]*)"', text.partition("[project]")[2], re.M)[1]


def _version():
    header = (ROOT / "src/calc.h").read_text(encoding="utf-8")
    return re.search(r'^#define CALC_VERSION "(.*)"', header, re.M)[1]


def _run(*words, output=None):
    print("+", *words, flush=True)
    if subprocess.run([str(word) for word in words], stdout=output).returncode:
        raise SystemExit(f"calc: {words[0]} fails; scripts/setup --deps-only installs what a build needs")


def _built(build):
    """The build tree; built, as scripts/package does, if it is not named."""
    if not build:
        if not shutil.which("cmake"):
            raise SystemExit("calc: a build needs cmake; scripts/setup --deps-only installs it and the rest")
        build = ROOT / "build/package"
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run("cmake", "-S", ROOT, "-B", build, *ninja, "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_INSTALL_PREFIX=/usr", "-DCALC_BUILD_TESTS=OFF", "-DCALC_SHARED=ON")
        _run("cmake", "--build", build, "--parallel")
    return pathlib.Path(build)


def _metadata():
    rows = {"Metadata-Version": "2.1", "Name": NAME.replace("_", "-"), "Version": _version(),
            "Summary": _project("description"), "License": _project("license"),
            "Requires-Python": _project("requires-python"),
            "Description-Content-Type": "text/markdown"}
    text = "".join(f"{key}: {value}\n" for key, value in rows.items())
    readme = (ROOT / _project("readme")).read_text(encoding="utf-8")
    return f"{text}\n{readme}"


def _files(build, staging):
    """Files of the wheel: where they are, by where they go."""
    for component in ("command", "library"):
        _run("cmake", "--install", build, "--prefix", staging, "--strip", "--component", component,
             output=subprocess.DEVNULL)
    data = f"{NAME}-{_version()}.data"
    package = staging / "share/calc/python/calc"
    found = {f"calc/{path.name}": path for path in package.iterdir() if path.is_file()}
    found["calc/libcalc.so"] = next(path for path in staging.rglob("libcalc.so*"))
    found[f"{data}/scripts/calc"] = staging / "bin/calc"
    for path in staging.rglob("*"):
        if path.is_file() and package not in path.parents and staging / "share" in path.parents:
            found[f"{data}/data/{path.relative_to(staging)}"] = path
    return found


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = _built((config_settings or {}).get("build"))
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    about = f"{NAME}-{_version()}.dist-info"
    name = f"{NAME}-{_version()}-{tag}.whl"
    os.makedirs(wheel_directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as staging:
        files = {place: path.read_bytes() for place, path in _files(build, pathlib.Path(staging)).items()}
    files[f"{about}/METADATA"] = _metadata().encode()
    files[f"{about}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: calc\nRoot-Is-Purelib: false\nTag: {tag}\n"
                               .encode())
    files[f"{about}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(f"{place},sha256={_digest(content)},{len(content)}\n"
                     for place, content in sorted(files.items()))
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, content in sorted(files.items()):
            entry = zipfile.ZipInfo(place)  # of 1980: the same files make the same wheel
            program = place.endswith(("/scripts/calc", ".so"))
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    """The files of the commit, as pip takes them."""
    stem = f"{NAME}-{_version()}"
    with tempfile.TemporaryDirectory() as folder:
        information = pathlib.Path(folder, "PKG-INFO")
        information.write_text(_metadata(), encoding="utf-8")
        _run("git", "-C", ROOT, "archive", f"--prefix={stem}/", f"--add-file={information}",
             f"--output={os.path.abspath(sdist_directory)}/{stem}.tar.gz", "HEAD")
    return f"{stem}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    print(build_wheel(sys.argv[1], {"build": sys.argv[2]} if len(sys.argv) == 3 else None))
