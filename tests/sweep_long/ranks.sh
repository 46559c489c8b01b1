#!/usr/bin/env bash
# Real ranks of mpirun on this machine: the same bytes as one process, and failures that end.
#   CALC=path/to/calc-built-with-MPI tests/sweep_long/ranks.sh
set -eu
: "${CALC:?set CALC to the command under test}"
CALC=$(realpath "$CALC")
here=$(cd "$(dirname "$0")" && pwd)
export CALC_PATH=$here/../..
if ! command -v mpirun > /dev/null; then
    echo "mpirun is not installed"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
status=0
small=("$CALC" sweep gpt3-175B a100_80g --procs 8:64:8 --batch 64)
long=("$CALC" sweep gpt3-175B h100_80g_nvl8 --procs 1024:8192:256 --batch 2340 --no-prune)

complain()
{
    echo "$@"
    status=1
}

ranks()
{
    local count=$1
    shift
    timeout -k 5 120 mpirun --allow-run-as-root --oversubscribe -n "$count" "$@"
}

"${small[@]}" --out whole.json > whole.txt
for n in 1 2 3; do
    ranks "$n" "${small[@]}" --out ranks.json > out.txt || complain "$n ranks fail"
    cmp whole.json ranks.json || complain "$n ranks: other bytes"
    ranks "$n" "${small[@]}" --checkpoint saved --out ranks.json > out.txt ||
        complain "$n ranks fail with a checkpoint"
    cmp whole.json ranks.json || complain "$n ranks with a checkpoint: other bytes"
done
"$CALC" merge saved.1 saved.2 saved.3 --out merged.json > out.txt
cmp whole.json merged.json || complain "merged checkpoints: other bytes"

# An error is said once, by one rank.
code=0
ranks 3 "$CALC" sweep nonsense a100_80g --procs 8 --batch 8 > out.txt 2> err.txt || code=$?
[ "$code" = 3 ] || complain "a wrong name ends with $code"
[ "$(grep -c 'no model named "nonsense"' err.txt)" = 1 ] || complain "not said once: $(cat err.txt)"

# A rank that dies ends all of them, and leaves checkpoints to go on from.
for saved in "" "--checkpoint killed"; do
    # shellcheck disable=SC2086
    ranks 2 "${long[@]}" $saved --out dead.json > out.txt 2> err.txt &
    job=$!
    victim=
    for ((i = 0; i < 200 && ${#victim} == 0; i++)); do
        sleep 0.05
        victim=$(pgrep -n -f -- "--out dead.json" || true)
        [ -z "$victim" ] || [ "$(readlink "/proc/$victim/exe")" = "$CALC" ] || victim=
    done
    sleep 0.3
    kill -9 "$victim" || complain "there is no rank to kill"
    code=0
    wait "$job" || code=$?
    if [ "$code" = 0 ] || [ "$code" = 124 ]; then
        complain "a killed rank ends with $code"
    fi
    [ ! -e dead.json ] || complain "a result was written without the killed rank"
done
ranks 2 "${long[@]}" --checkpoint killed --resume --out dead.json > out.txt || complain "no resume"
"${long[@]}" --out alive.json > out.txt
cmp alive.json dead.json || complain "resumed after a killed rank: other bytes"
exit $status
