#!/usr/bin/env bash
# No script has a finding of shellcheck.   usage: shellcheck.sh [ROOT]
set -eu
cd "${1:-.}"
if ! command -v shellcheck > /dev/null; then
    echo "skipped: no shellcheck"
    exit 77
fi
{
    find scripts .ci -type f ! -name '*.py' -exec grep -L '^#!.*python' {} +
    # Cases of tests/cli are lines that tests/cli/run.sh sources.
    find tests -name '*.sh' ! -path 'tests/cli/*/*'
} | sort | xargs shellcheck
