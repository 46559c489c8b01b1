# What --template writes runs as it is, and has eight columns; a machine may stand on the command line instead.
"$CALC" validate --template > my_runs.csv || exit
head -1 my_runs.csv | tr , '\n' | wc -l
"$CALC" validate my_runs.csv --csv my_errors.csv | grep runs
awk -F, 'NR > 1 { print $1, $2, $3, $4, $5, $6, ($11 ^ 2 < 0.1 ^ 2 ? "near" : $11) }' my_errors.csv
cut -d, -f1,2,4-8 my_runs.csv | "$CALC" validate - --system h100_sxm --worst 0 | grep h100_sxm
cut -d, -f1,2,4-8 my_runs.csv | "$CALC" validate -
echo "status $?"
