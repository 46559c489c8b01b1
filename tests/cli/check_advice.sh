#!/usr/bin/env bash
# Layouts with which a default sweep says to start, for the recipes of tests/measured/recipes.csv (those of
# the set apart excepted) and the executions of executions/published.csv: an expert would not refuse
# them, and calc does not predict them slower than the published layout by more than the bounds of
# scripts/make_advice.py, which states them and prints the starts that fail.
# usage: CALC=path/to/calc check_advice.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 > /dev/null || exit 77
: "${CALC:?set CALC to the command under test}"
exec python3 "$root/scripts/make_advice.py" "$CALC" --check
