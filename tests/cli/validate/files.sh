# The same measurements in every file.
"$CALC" validate --json all.json --csv all.csv --html all.html > table || exit
rows=$(($(wc -l < all.csv) - 1))
head -1 all.csv
test "$rows" = "$(grep -c '"id":' all.json)" && echo "as many rows in JSON"
scored=$(cut -d, -f2,3 all.csv | grep -c '^step_time,scored$')
"$ROOT/scripts/plot_validation.py" all.json --parity all.svg --errors errors.svg || exit
test "$scored" = "$(grep -c '<title>' all.svg)" && echo "as many points as scored times"
test "$scored" = "$(grep -c '<title>' errors.svg)" && echo "each in the row of its table"
ls
