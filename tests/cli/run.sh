#!/usr/bin/env bash
# Runs the cases <topic>/<name>.sh and compares what they print and how they end with <name>.stdout,
# <name>.stderr (absent: nothing) and <name>.exit (absent: 0).
#
#   CALC=path/to/calc tests/cli/run.sh [TOPIC...]
#   CALC_UPDATE=1     rewrites the three files instead of comparing: read the diff before you commit
#
# A case is bash, run in an empty directory, with $CALC and $ROOT (the source tree). Paths of this
# machine are written as ROOT and HERE in what is compared.
set -u
here=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$here/../.." && pwd)
: "${CALC:?set CALC to the command under test}"
CALC=$(cd "$(dirname "$CALC")" && pwd)/$(basename "$CALC")
export CALC ROOT CALC_PATH=$ROOT LC_ALL=C.UTF-8 TERM=xterm
unset NO_COLOR COLUMNS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

normalise() {
    sed -e "s|$ROOT|ROOT|g" -e "s|$scratch/case|HERE|g" -e 's|(looked in [^)]*)|(looked in ...)|' "$1"
}

# Compares a result with its golden file, or rewrites that.
settle() { # result golden
    if [[ ${CALC_UPDATE:-} == 1 ]]; then
        if [[ -s $1 ]]; then cp "$1" "$2"; else rm -f "$2"; fi
        return 0
    fi
    local golden=$2
    [[ -e $golden ]] || golden=/dev/null
    diff -u --label "expected ${2#"$here"/}" --label found "$golden" "$1"
}

passed=0 failed=0
for script in "$here"/*/*.sh; do
    name=${script#"$here"/}
    if (($#)) && [[ " $* " != *" ${name%%/*} "* ]]; then
        continue
    fi
    rm -rf "$scratch/case" && mkdir "$scratch/case"
    (cd "$scratch/case" && bash "$script" >"$scratch/out" 2>"$scratch/err" </dev/null)
    code=$?
    normalise "$scratch/out" >"$scratch/stdout"
    normalise "$scratch/err" >"$scratch/stderr"
    : >"$scratch/exit"
    ((code == 0)) || echo "$code" >"$scratch/exit"
    good=1
    for part in stdout stderr exit; do
        settle "$scratch/$part" "${script%.sh}.$part" || good=0
    done
    if ((good)); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
