# a kill at any moment loses no measurement, and the same command goes on
cat >launch.sh <<'SH'
#!/bin/sh
value() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -1; }
echo "$((8000 + 100 * $(value "$1" tensor_par) + 10 * $(value "$1" pipeline_par)))ms"
SH
chmod +x launch.sh
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --most 8 --stop 0 --progress none "$@"; }
tune --measured whole.csv --command './launch.sh {exe}' >whole.txt
for rows in 1 2 4 7; do
    # the program ends calc, which has written that many measurements
    { tune --measured runs.csv --command "[ \$(wc -l <runs.csv) = $((rows + 1)) ] && kill -9 \$PPID; ./launch.sh {exe}" >/dev/null; } 2>/dev/null
    echo "status $?, $(($(wc -l <runs.csv) - 1)) measured"
done
tune --measured runs.csv --command './launch.sh {exe}' >runs.txt
cmp runs.csv whole.csv && cmp runs.txt whole.txt && echo same
# Ctrl-C ends what runs, and keeps what was measured
tune --measured stop.csv --command '[ $(wc -l <stop.csv) = 3 ] && { kill -INT $PPID; sleep 600; }; ./launch.sh {exe}' >stop.txt
echo "status $?, $(($(wc -l <stop.csv) - 1)) measured"
diff <(head -3 whole.csv) stop.csv && echo same
# a line that is cut off, as a machine leaves it that stops while it is written
head -c $(($(wc -c <whole.csv) - 3)) whole.csv >cut.csv
tune --measured cut.csv --command './launch.sh {exe}'
echo "status $?"
sed '$s/.*/3fa9/' whole.csv | tr -d '\r' | head -c -1 >cut.csv
tune --measured cut.csv
echo "status $?"
