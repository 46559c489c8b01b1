# exit 3
# A number that is none, and columns that are missing: file, line, column.
head -2 "$ROOT/tests/measured/runs.csv" | sed '2s/,8192,/,8k,/' > runs.csv
"$CALC" validate runs.csv
echo "status $?" >&2
head -1 "$ROOT/tests/measured/runs.csv" | sed 's/,layers,/,/; s/,vpp,/,/' > runs.csv
"$CALC" validate runs.csv
