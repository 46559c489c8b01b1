# A page of one file of runs; standard output is taken once.
runs=$ROOT/tests/measured/runs.csv
{ head -1 "$runs"; grep '^seqsel_tab5_22B_' "$runs"; } > runs.csv
"$CALC" validate runs.csv --html page.html > table 2> errors ||
    grep -q 'built without the library of charts' errors || cat errors
[ ! -e page.html ] || grep -c 'id="calc-data"' page.html | grep -vx 1
"$CALC" validate runs.csv --html - --json - 2>&1 | head -1
