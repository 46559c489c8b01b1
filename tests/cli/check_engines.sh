#!/usr/bin/env bash
# The traits of serving engines are those of a fit to half of the published runs.   usage: CALC=path check_engines.sh
set -euo pipefail
command -v python3 > /dev/null || exit 77
"$(dirname "$0")/../../scripts/refit_engines.py" --check "$CALC"
