# Published errors of others stand beside those of calc on the same runs; without such runs there is no table.
"$CALC" validate --worst 0 > table || exit
sed -n '/^published/,/^not/p' table | sed -nE 's/^([^,]*, [^ ]+).* (time|memory) +([0-9]+) +([0-9.]+).*/\1 \2: \3 rows, \4 %/p'
grep -c '^not comparable: ' table
grep '^not comparable: SimuMax, A100-PCIe, memory' table
runs=$ROOT/tests/measured/runs.csv
{ head -1 "$runs"; grep '^foundry_h100_' "$runs"; } | "$CALC" validate - --worst 0 | grep -c 'errors of others'
true
