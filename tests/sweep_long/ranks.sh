#!/usr/bin/env bash
# Real ranks of mpirun on this machine: the same bytes as one process, and failures that end: of a rank that
# dies or stands still, too.
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
# Seconds of work, so that a rank can be stopped in the middle of it.
# shellcheck disable=SC2054 # commas belong to the values
long=("$CALC" sweep gpt3-175B h100_80g_nvl8 --procs 64:16384:64 --batch 92160 --no-prune
    --axis activation_recompute=none,attn_only,full --axis zero_stage=0,1,2,3
    --axis tensor_par_overlap=none,ring --axis 'microbatch_size=*' --axis 'fused_activation=*'
    --axis 'context_par=*')

complain()
{
    echo "$@"
    status=1
}

ranks()
{
    local count=$1
    shift
    timeout -k 5 300 mpirun --allow-run-as-root --oversubscribe -n "$count" "$@"
}

"${small[@]}" --out whole.json > whole.txt
for n in 1 2 3; do
    ranks "$n" "${small[@]}" --out ranks.json > out.txt || complain "$n ranks fail"
    cmp whole.json ranks.json || complain "$n ranks: other bytes"
    ranks "$n" "${small[@]}" --checkpoint saved --out ranks.json > out.txt ||
        complain "$n ranks fail with a checkpoint"
    cmp whole.json ranks.json || complain "$n ranks with a checkpoint: other bytes"
done
"$CALC" sweep --merge saved.1 saved.2 saved.3 --out merged.json > out.txt
cmp whole.json merged.json || complain "merged checkpoints: other bytes"

# An error is said once, by one rank.
code=0
ranks 3 "$CALC" sweep nonsense a100_80g --procs 8 --batch 8 > out.txt 2> err.txt || code=$?
[ "$code" = 3 ] || complain "a wrong name ends with $code"
[ "$(grep -c 'no model named "nonsense"' err.txt)" = 1 ] || complain "not said once: $(cat err.txt)"

# victim NAME RANK: the process of a rank with --out NAME.json --checkpoint NAME, once it sweeps.
victim()
{
    local pid
    for ((i = 0; i < 200; i++)); do
        for pid in $(pgrep -f -- "--out $1.json"); do
            if [ "$(readlink "/proc/$pid/exe")" = "$CALC" ] &&
                tr '\0' '\n' < "/proc/$pid/environ" | grep -q "^OMPI_COMM_WORLD_RANK=$2\$" &&
                [ -e "$1.$(($2 + 1))" ]; then
                echo "$pid"
                return
            fi
        done
        sleep 0.05
    done
}

total() { grep -o '"total": [0-9]*' "$1" | head -n 1; }

# Every layout is counted once.
"${long[@]}" --out alive.json --summary alive.sum > out.txt
ranks 3 "${long[@]}" --threads 1 --out ranks.json --summary ranks.sum > out.txt 2> err.txt || complain "no sweep: $(cat err.txt)"
cmp alive.json ranks.json || complain "a long sweep: other bytes"
[ "$(total ranks.sum)" = "$(total alive.sum)" ] || complain "other layouts: $(total ranks.sum)"

# A rank that is asked to end has all end, with what they have.
ranks 3 "${long[@]}" --threads 1 --checkpoint asked --out asked.json > out.txt 2> err.txt &
job=$!
kill -TERM "$(victim asked 2)" || complain "there is no rank to ask"
code=0
wait "$job" || code=$?
[ "$code" != 124 ] || complain "asked ranks do not end"
grep -q '"partial": true' asked.json || complain "asked ranks have no partial result: $code $(cat err.txt)"

# A rank that stands still is noticed, before ranks have come together and in the sweep, and no sweep that works is taken for
# one: two minutes each, so with CALC_LONG alone.
if [ -n "${CALC_LONG:-}" ]; then
    for n in 1 2; do
        code=0
        ranks $n "${long[@]}" --axis "sys.networks[0].size=1:64:1" --threads 1 --time-limit 130 > out.txt 2> err.txt || code=$?
        [ "$code" = 0 ] || complain "a sweep of 130 s on $n ranks ends with $code: $(cat err.txt)"
        grep -q 'time limit: partial result' err.txt || complain "a sweep of 130 s on $n ranks was shorter"
    done
    cat > stopped.sh << 'END'
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && kill -STOP $$
exec "$@"
END
    code=0
    ranks 3 bash stopped.sh "${small[@]}" --out stopped.json > out.txt 2> err.txt || code=$?
    [ "$code" = 4 ] || complain "a rank stopped at the start ends with $code: $(cat err.txt)"
    grep -q 'the ranks have not come together' err.txt || complain "not said: $(cat err.txt)"
    ranks 3 "${long[@]}" --threads 1 --checkpoint still --out still.json > out.txt 2> err.txt &
    job=$!
    kill -STOP "$(victim still 2)" || complain "there is no rank to stop"
    code=0
    wait "$job" || code=$?
    [ "$code" = 4 ] || complain "a rank stopped in the sweep ends with $code: $(cat err.txt)"
    grep -q 'the ranks have not come together' err.txt || complain "not said: $(cat err.txt)"
    [ ! -e still.json ] || complain "a result was written without the stopped rank"
fi

# A rank that dies ends the sweep, and with checkpoints all can go on.
ranks 3 "${long[@]}" --threads 1 --checkpoint dead --out dead.json > out.txt 2> err.txt &
job=$!
kill -9 "$(victim dead 1)" || complain "there is no rank to kill"
code=0
wait "$job" || code=$?
case $code in 0 | 124) complain "a killed rank ends with $code" ;; esac
[ ! -e dead.json ] || complain "a result was written without the killed rank"
ranks 3 "${long[@]}" --checkpoint dead --resume --out dead.json > out.txt || complain "no resume"
cmp alive.json dead.json || complain "resumed after a killed rank: other bytes"
exit $status
