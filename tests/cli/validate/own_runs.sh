# Runs of one's own, from standard input; the worst comes first.
{
    head -1 "$ROOT/tests/measured/runs.csv"
    grep '^seqsel_tab5_' "$ROOT/tests/measured/runs.csv"
} | "$CALC" validate - --worst 3 --csv own.csv > table || exit
cut -d, -f1-3 own.csv
grep -c '%.*seqsel_tab5' table
