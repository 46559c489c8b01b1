#!/usr/bin/env bash
# Shards, merged, give the same bytes as one sweep; what does not belong together is refused.
#   CALC=path/to/calc tests/sweep_long/shards.sh
set -eu
: "${CALC:?set CALC to the command under test}"
CALC=$(realpath "$CALC")
here=$(cd "$(dirname "$0")" && pwd)
export CALC_PATH=$here/../..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
status=0
sweep=("$CALC" sweep gpt3-175B a100_80g --procs 8:64:8 --batch 64)

# refused EXIT TEXT COMMAND...
refused()
{
    local code=0 want=$1 text=$2
    shift 2
    "$@" > out 2> err || code=$?
    if [ "$code" != "$want" ] || ! grep -qF -- "$text" err; then
        echo "expected exit $want and \"$text\", got $code and $(cat err)"
        status=1
    fi
}

machines="--axis sys.mem1.GiB=40:80:10 --axis sys.networks[0].size=8,16"
for options in "" "--per num_procs --no-prune" "--objectives sample_rate,mem1 --top 3" "$machines --per design" \
    "$machines"; do
    # shellcheck disable=SC2086
    "${sweep[@]}" $options --out whole.json > whole.txt
    for n in 1 2 5; do
        rm -f part*
        for ((i = 1; i <= n; i++)); do
            # shellcheck disable=SC2086
            "${sweep[@]}" $options --shard "$i/$n" --out "part$i" > out.txt
        done
        "$CALC" sweep --merge part* --out merged.json > merged.txt
        if ! cmp whole.json merged.json; then
            echo "options \"$options\", $n shards: other bytes"
            status=1
        fi
    done
done

refused 3 'part1: shard 1/5, but 4 parts are given' "$CALC" sweep --merge part1 part2 part3 part4
refused 3 'part2: shard 2/5, as is part2' "$CALC" sweep --merge part1 part2 part2 part3 part4
refused 3 'part1: belongs to another sweep' "${sweep[@]}" --shard 1/5 --resume --out part1
refused 3 'whole.json: not a checkpoint or part of a sweep' "$CALC" sweep --merge whole.json
refused 3 'none: no such file' "$CALC" sweep --merge none
refused 3 '"0/4" is not a shard' "${sweep[@]}" --shard 0/4 --out part
refused 2 '--shard needs --out FILE' "${sweep[@]}" --shard 1/4
refused 2 '--resume needs --checkpoint FILE or --shard' "${sweep[@]}" --resume
refused 2 '--all needs a sweep in one piece' "${sweep[@]}" --checkpoint c --all all.csv
refused 2 'leave --checkpoint out' "${sweep[@]}" --shard 1/4 --out part --checkpoint c
refused 2 '--checkpoint-every: "soon" is not a number from 0' "${sweep[@]}" --checkpoint c --checkpoint-every soon
refused 4 'none/c: cannot write' "${sweep[@]}" --checkpoint none/c
exit $status
