#!/usr/bin/env bash
# Real ranks of mpirun on this machine: the same bytes as one process, also without a rank that dies, and
# failures that end.
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

# victim FILE RANK: the process of a rank that writes this file, once it works.
victim()
{
    local pid
    for ((i = 0; i < 200; i++)); do
        for pid in $(pgrep -f -- "--out $1"); do
            if [ "$(readlink "/proc/$pid/exe")" = "$CALC" ] &&
                tr '\0' '\n' < "/proc/$pid/environ" | grep -q "^OMPI_COMM_WORLD_RANK=$2\$"; then
                sleep 0.5
                echo "$pid"
                return
            fi
        done
        sleep 0.05
    done
}

total() { grep -o '"total": [0-9]*' "$1" | head -n 1; }

# A rank that dies or stands still: the others do its work, and every layout is counted once.
"${long[@]}" --out alive.json --summary alive.sum > out.txt
for signal in KILL STOP; do
    rm -f dead.json dead.sum
    ranks 3 --enable-recovery "${long[@]}" --threads 1 --out dead.json --summary dead.sum > out.txt 2> err.txt &
    job=$!
    kill "-$signal" "$(victim dead.json 2)" || complain "there is no rank to signal"
    code=0
    wait "$job" || code=$?
    [ "$code" = 0 ] || complain "after $signal mpirun ends with $code: $(cat err.txt)"
    cmp alive.json dead.json || complain "after $signal: other bytes"
    [ "$(total dead.sum)" = "$(total alive.sum)" ] || complain "after $signal: $(total dead.sum)"
done

# A rank that stands still before ranks have come together is noticed, and no sweep that works is taken for one: two minutes
# each, so with CALC_LONG alone.
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
fi

# With checkpoints a rank that dies ends the sweep, and all can go on.
for recovery in "" --enable-recovery; do
    rm -f killed.* dead.json
    # shellcheck disable=SC2086
    ranks 3 $recovery "${long[@]}" --threads 1 --checkpoint killed --out dead.json > out.txt 2> err.txt &
    job=$!
    kill -9 "$(victim dead.json 1)" || complain "there is no rank to kill"
    code=0
    wait "$job" || code=$?
    if { [ "$code" = 0 ] && [ -z "$recovery" ]; } || [ "$code" = 124 ]; then
        complain "a killed rank ends with $code"
    fi
    [ ! -e dead.json ] || complain "a result was written without the killed rank"
    ranks 3 "${long[@]}" --checkpoint killed --resume --out dead.json > out.txt || complain "no resume"
    cmp alive.json dead.json || complain "resumed after a killed rank: other bytes"
done
exit $status
