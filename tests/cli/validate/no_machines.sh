# Without the machine's file a run is not predicted, and that is no failure.
{
    head -1 "$ROOT/tests/measured/runs.csv"
    grep '^mlm_readme2020_' "$ROOT/tests/measured/runs.csv" | grep v100 | head -1
    grep '^mlm_readme2020_' "$ROOT/tests/measured/runs.csv" | grep v100 | head -1 | sed 's/v100_sxm/v100_sxmm/'
} > runs.csv
"$CALC" validate runs.csv
