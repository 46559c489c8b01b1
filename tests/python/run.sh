#!/usr/bin/env bash
# check_NAME.py: the Python module beside the command, and its answers beside runs.
# usage: CALC=path/to/calc CALC_LIBRARY=libcalc.so run.sh NAME
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${CALC:?set CALC to the command under test}"
python=$(command -v /usr/bin/python3 || command -v python3 || true)
if [ -z "$python" ] || [ ! -e "${CALC_LIBRARY:-}" ]; then
    echo "skipped: no python3, or no shared library"
    exit 77
fi
exec "$python" -B "$here/check_$1.py" "$CALC" "$here/../.."
