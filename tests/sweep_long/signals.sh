#!/usr/bin/env bash
# SIGTERM and Ctrl-C end every command that runs long, within a moment and with what it has.
#   CALC=path/to/calc tests/sweep_long/signals.sh
set -eu
: "${CALC:?set CALC to the command under test}"
CALC=$(realpath "$CALC")
here=$(cd "$(dirname "$0")" && pwd)
export CALC_PATH=$here/../..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
set -m # commands in the background hear Ctrl-C, too

# ends STATUS SIGNAL WORDS: calc, sent the signal while it works, ends with the status. A command that does not look for
# signals is ended by one after 5 s: it then has another status. FOUND=FILE: it is told once it has something to write,
# which no clock knows: it gets twice the time until the file is there.
ends()
{
    local expected=$1 signal=$2 process code delay=0.5 found=${FOUND:-}
    shift 2
    while :; do
        code=0
        "$CALC" "$@" > out.txt 2> err.txt &
        process=$!
        sleep "$delay"
        if ! kill -s "$signal" "$process" 2> kill.txt; then
            echo "calc $*: it ended before the signal"
            exit 1
        fi
        wait "$process" || code=$?
        if [ "$code" != "$expected" ]; then
            echo "calc $*: $signal ended it with $code, not $expected: $(cat err.txt)"
            exit 1
        fi
        if [ -z "$found" ] || [ -e "$found" ]; then
            return
        fi
        delay=$(awk -v d="$delay" 'BEGIN { print 2 * d }')
    done
}

# Sweeps would take minutes, plans some seconds.
space=(gpt3-175B h100_80g_nvl8 --procs 8:8192:8 --batch 2340 --no-prune --axis "sys.networks[0].size=1:8:1" --progress none)
ends 6 TERM sweep "${space[@]}" --out o.json
grep -q '"partial": true' o.json
grep -q "interrupted: partial result" err.txt
ends 6 TERM sweep "${space[@]}" --out o.csv
grep -q '^partial top,1,' o.csv
if grep -q '^top,\|^front,' o.csv; then
    echo "an interrupted sweep looks finished in CSV"
    exit 1
fi
ends 6 INT sweep "${space[@]}" --all o.csv
ends 6 TERM sweep "${space[@]}" --checkpoint part
test -s part
mixed=(llama3-405B "a800,h800" --chips "a800:2048,h800:2048" --procs 4096)
ends 6 TERM plan "${mixed[@]}" --batch 4096 --time-limit 1000 --progress none
FOUND=p.json ends 6 TERM plan "${mixed[@]}" --batch 4096 --time-limit 1000 --progress none --out p.json
grep -q '"complete": false' p.json
FOUND=p.csv ends 6 TERM plan "${mixed[@]}" --batch 4096 --time-limit 1000 --progress none --csv p.csv
grep -q '^1,.*,false,' p.csv
ends 6 INT plan "${mixed[@]}" --batch 4096 --time-limit 1000 --progress none
# What is complete is not interrupted: the signal comes while a reader is slow.
mkfifo full pipe
exec 4<> full 3<> pipe
head -c 65536 /dev/zero > full
"$CALC" plan llama2-7B a100_sxm_40g --procs 8 --batch 64 --axis tp=1,2 --progress none --csv whole.csv > full &
process=$!
until [ -e whole.csv ]; do sleep 0.1; done
kill -s TERM "$process"
head -c 65537 <&4 > /dev/null
code=0
wait "$process" || code=$?
if [ "$code" != 0 ]; then
    echo "a complete plan ended with $code"
    exit 1
fi
# Others end at once, by the signal.
ends 143 TERM serve --stdio <&3

# The time limit holds, too, whatever the batch: work that does not look at the clock would go on for hours.
(
    ulimit -t 60 # seconds of a processor
    "$CALC" plan llama2-7B a100_sxm_40g --procs 8 --batch 2147483648 --time-limit 1 --progress none > out.txt
) || {
    echo "a plan of a second took a minute of a processor, or ended with $?"
    exit 1
}
echo "10 commands ended"
