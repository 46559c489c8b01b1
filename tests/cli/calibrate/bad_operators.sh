printf 'op,dtype,value\nmatmul,bf16,1\n' > columns.csv
printf 'op,dtype,shape,metric,value\nmatmul,bf16,m=1 k=1 n=1,tflops,1\n"matmul",bf16,m=1 k=1 n=1,tflops,fast\n' > value.csv
printf 'op,dtype,shape,metric,value\nmatmul,bf16,m=1 n=1,tflops,1\n' > shape.csv
printf 'op,dtype,shape,metric,value\n"matmul,bf16\n' > quote.csv
head -c 4000 "$ROOT/tests/measured/runs_vtrain_single.csv.gz" > garbage.csv
for file in columns value shape quote garbage missing; do
    "$CALC" calibrate --operators $file.csv --system h100_sxm --into out.json > /dev/null
    echo "status $?" >&2
done
operators=$ROOT/tests/measured/operators.csv
for options in '' '--rows here' '--rows b200 --fields launch' '--rows b200 --cross width' '--rows b200 --residuals r.csv' '--rows b200 --system b200' \
    '--rows b200 runs.csv' '--rows b200 --out no/such/folder'; do
    # shellcheck disable=SC2086
    "$CALC" calibrate --operators "$operators" --system a100_sxm_80g $options > /dev/null
    echo "status $?" >&2
done
"$CALC" calibrate --rows b200 --system b200
echo "status $?" >&2
ls >&2
