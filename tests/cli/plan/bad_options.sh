# each wrong value ends in one line that names it
set -f
while read -r line; do
    # shellcheck disable=SC2086
    eval "set -- $line"
    "$CALC" plan llama2-70B "$@" --progress none
    echo "$line: $?" >&2
done <<'LINES'
a800,h800 --procs 16 --batch 32 --chips a800:8,b200:8
a800,h800 --procs 16 --batch 32 --chips a800:8,a800:8
a800,h800 --procs 16 --batch 32 --chips a800:x,h800:8
a800,h800 --procs 16 --batch 32 --chips a800:,h800:8
a800,h800 --procs 16 --batch 32 --chips a800:0,h800:8
a800,h800 --procs 16 --batch 32 --chips a800:4,h800:4
a800,a800 --procs 16 --batch 32
a800,nothing --procs 16 --batch 32
'' --procs 16 --batch 32
a800 --batch 32
a800 --procs 16
a800 --procs 0 --batch 32
a800 --procs 16 --batch x
a800 --procs 16 --batch 32 --top 0
a800 --procs 16 --batch 32 --top x
a800 --procs 16 --batch 32 --threads 0
a800 --procs 16 --batch 32 --join-latency -1
a800 --procs 16 --batch 32 --time-limit 0
a800 --procs 16 --batch 32 --solver simplex
a800 --procs 16 --batch 32 --axis foo=1
a800 --procs 16 --batch 32 --set foo=1
a800 --procs 16 --batch 32 --out - --csv -
a800 --procs 16 --batch 32 --mps - --save-best -
a800 --balance-only nothing
a800 --nothing
LINES
ls -A
