# exit 1
# A baseline without any error: every group is worse. A tolerance of 1,000 points allows it.
runs=$ROOT/tests/measured/runs.csv
{ head -1 "$runs"; grep '^seqsel_tab5_22B_' "$runs"; } > runs.csv
"$CALC" validate runs.csv --csv now.csv > table || exit
awk -F, 'BEGIN { OFS = "," } NR > 1 { $11 = 0 } { print }' now.csv > before.csv
"$CALC" validate runs.csv --baseline before.csv --tolerance 1000 > table || exit
"$CALC" validate runs.csv --baseline before.csv --tolerance 0 > table
code=$?
grep '^worse: ' table | sed 's/mean error .*%,/mean error ... %,/'
exit $code
