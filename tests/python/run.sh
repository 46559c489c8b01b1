#!/usr/bin/env bash
# The Python module beside the command.   usage: CALC=path/to/calc CALC_LIBRARY=libcalc.so run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${CALC:?set CALC to the command under test}"
python=$(command -v /usr/bin/python3 || command -v python3 || true)
if [ -z "$python" ] || [ ! -e "${CALC_LIBRARY:-}" ]; then
    echo "skipped: no python3, or no shared library"
    exit 77
fi
exec "$python" -B "$here/check_calc.py" "$CALC" "$here/../.."
