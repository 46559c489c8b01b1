#!/usr/bin/env bash
# tests/measured/serving_results.csv has the error of every published run of serving that is predicted,
# so that a change of the model is a difference to read. Here: is it what calc predicts, does a change
# for the worse fail, and are the tables of docs/validation-serving.md of these predictions? Are the runs
# what the script that cleans the published table makes of it?
# usage: CALC=path check_serving.sh        CALC_UPDATE=1 writes them all, with docs/serving_errors.svg
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
results=$root/tests/measured/serving_results.csv
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

if [ -n "${CALC_UPDATE:-}" ]; then
    "$root/scripts/make_serving_runs.py" -o "$root/tests/measured/serving_runs.csv.gz"
elif command -v python3 > /dev/null; then
    "$root/scripts/make_serving_runs.py" --check "$root/tests/measured/serving_runs.csv.gz"
    printf 'id,isl\nx,1\n' > "$new/short.csv"
    if "$root/scripts/make_serving_runs.py" "$new/short.csv" 2> "$new/says" || ! grep -q 'column "concurrency_or_batch" is missing' "$new/says"; then
        echo "a published table without its columns: $(cat "$new/says")"
        exit 1
    fi
fi

# Three digits behind the point: what compilers round differently is far below. Shapes follow from tpot.
"$CALC" validate serving_runs --csv - | awk -F, -v OFS=, '
    NR == 1 { print "id,quantity,status,error"; next }
    ($3 == "scored" || $3 == "refused") && $2 != "tpot_shape" && match($0, /,-?[0-9.e+-]+,-?[0-9.e+-]+,-?[0-9.e+-]+,/) {
        split(substr($0, RSTART + 1, RLENGTH - 2), value, ",")
        printf "%s,%s,%s,%.3f\n", $1, $2, $3, value[3] }' > "$new/results.csv"
if [ -n "${CALC_UPDATE:-}" ]; then
    cp "$new/results.csv" "$results"
    "$CALC" validate serving_runs --json - | "$root/scripts/plot_validation.py" - --errors "$root/docs/serving_errors.svg"
    "$root/scripts/make_serving.py" "$CALC"
    exit
fi

diff <(cut -d, -f1-3 "$results") <(cut -d, -f1-3 "$new/results.csv") > "$new/uses" || {
    head -20 "$new/uses"
    echo "what is scored differs: read it, then CALC_UPDATE=1"
    exit 1
}
paste -d, "$results" <(cut -d, -f4 "$new/results.csv") | awk -F, '
    NR > 1 && ($4 - $5) ^ 2 > 0.0021 ^ 2 { if (differ++ < 20) print "error before and now: " $0 }
    END { if (differ) { print differ " differ: read them, then CALC_UPDATE=1"; exit 1 } }'
"$CALC" validate serving_runs --baseline "$results" --tolerance 0.1 > "$new/table.txt"
if command -v python3 > /dev/null; then
    "$root/scripts/make_serving.py" --check "$CALC"
fi

# Half the bandwidth of a machine's memory must be noticed.
mkdir "$new/systems"
sed 's/"GBps": 4800/"GBps": 2400/' "$root/systems/h200.json" > "$new/systems/h200.json"
if [ "$(diff "$root/systems/h200.json" "$new/systems/h200.json" | grep -c '^>')" != 1 ]; then
    echo "the bandwidth of the memory in h200.json was not changed"
    exit 1
fi
code=0
CALC_PATH=$new "$CALC" validate serving_runs --baseline "$results" --tolerance 1 > "$new/nudged.txt" || code=$?
if [ "$code" != 1 ]; then
    echo "half of the bandwidth of h200's memory: exit status $code, not 1"
    exit 1
fi
