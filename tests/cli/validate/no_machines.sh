# Without the machine's file a run is not predicted, and that is no failure.
{
    head -1 "$ROOT/tests/measured/runs.csv"
    grep '^mlm_readme2020_' "$ROOT/tests/measured/runs.csv" | grep V100 | head -1
} > runs.csv
"$CALC" validate runs.csv
