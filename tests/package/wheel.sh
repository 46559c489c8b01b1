#!/usr/bin/env bash
# The wheel installs the module, the command and their data, and needs no package.   usage: wheel.sh BUILD
set -eu
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$(command -v /usr/bin/python3 || command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import ensurepip' 2> /dev/null; then
    echo "skipped: no python3, or none that makes virtual environments"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset CALC_LIBRARY CALC_COMMAND CALC_PATH PYTHONPATH
"$python" -B "$root/python/calc_wheel.py" wheels "$build" > log
sum=$(sha256sum wheels/*.whl)
"$python" -B "$root/python/calc_wheel.py" wheels "$build" > log
[ "$(sha256sum wheels/*.whl)" = "$sum" ] || {
    echo "the same files make another wheel"
    exit 1
}
"$python" -m venv "an environment"
"an environment/bin/python" -m pip install --no-index --no-deps --quiet wheels/*.whl
"an environment/bin/calc" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full | grep -q 'time per step'
[ -s "an environment/share/calc/measured/runs.csv" ]
"an environment/bin/python" -I - "$PWD/an environment" << 'END'
import importlib.metadata, os, sys
import calc
assert os.path.realpath(calc.__file__).startswith(os.path.realpath(sys.argv[1])), calc.__file__
assert importlib.metadata.version("calc-llm") == calc.version()
run = calc.run("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full")
assert run.ok and "<iframe" in run._repr_html_()
assert os.path.exists(os.path.join(os.path.dirname(calc.__file__), "py.typed"))
END
"an environment/bin/python" -m pip check
"an environment/bin/python" -m pip uninstall --quiet --yes calc-llm
if [ -e "an environment/bin/calc" ] || find "an environment" -path '*share/calc*' -type f | grep .; then
    echo "uninstalled, it leaves files"
    exit 1
fi
# The archive of the sources, which pip asks for by the same name.
git -C "$root" rev-parse HEAD > /dev/null 2>&1 || exit 0
"$python" -B - "$root" << 'END'
import sys, tarfile
sys.path.insert(0, sys.argv[1] + "/python")
import calc_wheel
with tarfile.open(calc_wheel.build_sdist(".")) as source:
    names = source.getnames()
assert any(name.endswith("/PKG-INFO") for name in names) and any(name.endswith("/pyproject.toml") for name in names)
END
echo "the wheel is fine"
