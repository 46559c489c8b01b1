# A file of the name in a directory of CALC_PATH is the one that is calibrated; nothing else is touched.
mkdir systems
sed 's/"host": {/"host": {"recompute_growth": 0.25, /; s/"source": .*/"source": "Mine."/' \
    "$ROOT/systems/a100_sxm_80g.json" > systems/a100_sxm_80g.json
runs=$ROOT/tests/measured/runs.csv
{ head -1 "$runs"; grep '^foundry_a100_80gb_7b_' "$runs"; } > runs.csv
CALC_PATH=.:$CALC_PATH "$CALC" calibrate runs.csv --system a100_sxm_80g --fields matrix.bfloat16 \
    --date 2026-01-31 --out mine.json > table || exit
grep -o '"recompute_growth": [^,]*\|"source": .*' mine.json
diff systems/a100_sxm_80g.json mine.json | grep -c '^<'
