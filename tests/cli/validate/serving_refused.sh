# exit 3
# Runs of serving do not go with runs of training; what they lack, and options they have nothing for.
head -2 "$ROOT/tests/measured/runs.csv" > runs.csv
"$CALC" validate runs.csv serving_runs > /dev/null
echo "status $?" >&2
for option in --band --breakdown --features; do
    "$CALC" validate serving_runs "$option" > /dev/null
    echo "status $?" >&2
done
printf 'model,isl,osl\nm,1,2\n' | "$CALC" validate -
echo "status $?" >&2
"$CALC" validate no_such_table
echo "status $?" >&2
printf 'model,gpu,isl,osl,tp\nm,g,1,2,two\n' > runs.csv
"$CALC" validate runs.csv
echo "status $?" >&2
printf 'model,gpu,isl,osl,concurency_or_batch,tp\nm,g,1,2,16,8\n' > runs.csv
"$CALC" validate runs.csv
