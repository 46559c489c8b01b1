#!/usr/bin/env bash
# A sweep that is killed at random times and goes on writes the same bytes as one that is not.
#   CALC=path/to/calc tests/sweep_long/kill.sh
#   CALC_LONG=1   at least 200 kills instead of 3
#   CALC_KILLS=N  at least so many
#   CALC_SEED=N   the same times again
#   CALC_SAMPLE=N sweeps of an N-th of the size, for builds that are slow
set -eu
: "${CALC:?set CALC to the command under test}"
CALC=$(realpath "$CALC")
here=$(cd "$(dirname "$0")" && pwd)
export CALC_PATH=$here/../..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

wanted=3
[ -z "${CALC_LONG:-}" ] || wanted=200
wanted=${CALC_KILLS:-$wanted}
RANDOM=${CALC_SEED:-$$}
seed=${CALC_SEED:-$$}
sweep=("$CALC" sweep gpt3-175B h100_80g_nvl8 --procs "256:$((8192 / ${CALC_SAMPLE:-1})):256" --batch 2340 --no-prune
    --axis "sys.networks[0].size=8,16" --threads 2)

start=$(date +%s%N)
"${sweep[@]}" --out whole.json > whole.txt
took_us=$((($(date +%s%N) - start) / 1000))

kills=0
rounds=0

# survive OPTIONS: sweep with checkpoints, killed again and again, until it is done. After `wanted` kills it may end:
# a build that needs most of that time to begin and to save would hardly do so by itself.
survive()
{
    local process wait_us code done=0 most=$((kills + wanted))
    while ((done == 0)); do
        "${sweep[@]}" --checkpoint-every 0 --resume "$@" > killed.txt &
        process=$!
        if ((kills == most)); then
            wait "$process"
            break
        fi
        # Up to half the time of the whole, but enough to begin: several kills before the end.
        wait_us=$((50000 + (RANDOM * 32768 + RANDOM) % (took_us / 2)))
        sleep "$((wait_us / 1000000)).$(printf %06d $((wait_us % 1000000)))"
        # It may have ended by itself.
        kill -9 "$process" 2> kill.txt || true
        code=0
        wait "$process" 2> wait.txt || code=$?
        case $code in
        0) done=1 ;;
        137) kills=$((kills + 1)) ;;
        *)
            echo "seed $seed, kill $kills: calc ended with $code"
            exit 1
            ;;
        esac
    done
}

# In one piece, then in three shards.
while ((kills < wanted || rounds < 2)); do
    rm -f part part[123] killed.json
    rounds=$((rounds + 1))
    if ((rounds % 2 == 1)); then
        survive --checkpoint part --out killed.json
    else
        for i in 1 2 3; do
            survive --shard "$i/3" --out "part$i"
        done
        "$CALC" sweep --merge part1 part2 part3 --out killed.json > killed.txt
    fi
    if ! cmp whole.json killed.json; then
        echo "seed $seed, round $rounds, kill $kills: other bytes"
        exit 1
    fi
done
# Each writer removes what a killed one before it left; what the last one left is its own place.
for name in part*.tmp killed.json*.tmp part*.lock; do
    if [ -e "$name" ]; then
        echo "seed $seed: $name is left"
        exit 1
    fi
done

# Two sweeps do not save to one checkpoint: the second says so, and the first is not disturbed.
"${sweep[@]}" --checkpoint-every 0 --checkpoint part --out killed.json > killed.txt &
process=$!
until [ -s part ] && [ -e part.lock ]; do sleep 0.01; done
code=0
"${sweep[@]}" --checkpoint part > second.txt 2> second.err || code=$?
if kill -0 "$process" 2> kill.txt && { [ $code != 4 ] ||
    ! grep -qx "part: another sweep is being saved there, by process $process" second.err; }; then
    echo "a second sweep on one checkpoint ended with $code: $(cat second.err)"
    exit 1
fi
wait "$process"
cmp whole.json killed.json

echo "$kills kills in $rounds sweeps of $((took_us / 1000)) ms, seed $seed"
