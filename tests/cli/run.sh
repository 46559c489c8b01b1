#!/usr/bin/env bash
# Runs the cases <topic>/<name>.sh and compares what they print with <name>.stdout and <name>.stderr
# (absent: nothing), and how they end with their first line, "# exit 1" (any other line: 0). A case that ends
# with 77 is skipped, for the reason that it prints; a topic without any other ends with 77, too.
#
#   CALC=path/to/calc tests/cli/run.sh [TOPIC | TOPIC/NAME]...
#   CALC_UPDATE=1     rewrites both files and the line instead: read the diff before you commit
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

# Compares an exit status with the one that a case names, or rewrites that.
settle_exit() { # status script
    local expected
    expected=$(sed -n '1s/^# exit //p' "$2")
    [[ $1 == "${expected:-0}" ]] && return 0
    if [[ ${CALC_UPDATE:-} == 1 ]]; then
        [[ -z $expected ]] || sed -i 1d "$2"
        [[ $1 == 0 ]] || sed -i "1i # exit $1" "$2"
        return 0
    fi
    echo "exit status $1, expected ${expected:-0}"
    return 1
}

passed=0 failed=0 skipped=0
for script in "$here"/*/*.sh; do
    name=${script#"$here"/}
    if (($#)) && [[ " $* " != *" ${name%%/*} "* && " $* " != *" ${name%.sh} "* ]]; then
        continue
    fi
    rm -rf "$scratch/case" && mkdir "$scratch/case"
    (cd "$scratch/case" && bash "$script" >"$scratch/out" 2>"$scratch/err" </dev/null)
    code=$?
    if ((code == 77)); then
        echo "skipped: $name: $(cat "$scratch/out")"
        skipped=$((skipped + 1))
        continue
    fi
    normalise "$scratch/out" >"$scratch/stdout"
    normalise "$scratch/err" >"$scratch/stderr"
    good=1
    for part in stdout stderr; do
        settle "$scratch/$part" "${script%.sh}.$part" || good=0
    done
    settle_exit "$code" "$script" || good=0
    if ((good)); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
done
for text in "$here"/*/*.std{out,err}; do
    name=${text#"$here"/}
    if [[ ! -e ${text%.*}.sh ]] && { ((!$#)) || [[ " $* " == *" ${name%%/*} "* ]]; }; then
        failed=$((failed + 1))
        echo "FAILED: $name belongs to no case"
    fi
done
echo "$passed passed, $failed failed"
((failed + passed > 0 || skipped == 0)) || exit 77
((failed == 0 && passed > 0))
