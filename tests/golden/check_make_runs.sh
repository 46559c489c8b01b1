#!/usr/bin/env bash
# check_make_runs.py: the tables that calc reads are what scripts/make_runs.py makes of the published ones.
# With CALC_UPDATE=1 they are rewritten.   usage: check_make_runs.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 > /dev/null || exit 77
exec python3 -B "$here/check_make_runs.py" "$here/../.."
