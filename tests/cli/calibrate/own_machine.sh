# exit 1
# Runs of one's own on a machine of one's own, whose matrix engine is slower than its file says: found again.
cp "$ROOT/systems/h100_sxm.json" mycluster.json
echo "name,app,sys,exe,tensor_par,data_par,batch_size,measured_s,measured_mem_gib" > spring.csv
for layout in 4,16,1024 4,16,2048 8,8,1024 8,8,2048; do
    IFS=, read -r tp dp batch <<< "$layout"
    seconds=$("$CALC" run llama3-70B mycluster.json llama3-70B_512 --set 'matrix.bfloat16.gflops_efficiency=[[0, 0.65]]' \
        --set "tensor_par=$tp" --set "data_par=$dp" --set "batch_size=$batch" --json - | sed -nE 's/.*"total_time": ([0-9.]+).*/\1/p' | head -1)
    echo "tp$tp batch $batch,llama3-70B,mycluster.json,llama3-70B_512,$layout,$seconds,40" >> spring.csv
done
"$CALC" calibrate spring.csv --system ./mycluster.json --fields matrix.bfloat16 --start documented --date 2026-01-31 --into out.json > table || exit
awk '/^  matrix/ { print $1, ($3 - 0.65) ^ 2 < 0.02 ^ 2 ? "is near 0.65" : $3 }
    / batch / { print $9, $10, $11 ": error is smaller:", $8 ^ 2 < $5 ^ 2 }
    /^not fitted/ { print $1, $2, $3, $4 }' table | sort
grep -o 'Calibrated on [^:]*' out.json
mkdir folder
"$CALC" calibrate spring.csv --system mycluster.json --fields matrix.bfloat16 --start documented --into folder --worst 1 --json rows.json | grep -c batch
ls folder
# The machine of rows that name none.
cut -d, -f1,2,4- spring.csv | "$CALC" calibrate - --system mycluster.json --fields matrix.bfloat16 | head -1
"$CALC" calibrate spring.csv --system h100_sxm
echo "status $?" >&2
"$CALC" calibrate spring.csv --system mycluster.json --rows few
echo "status $?" >&2
# Runs that were slow on another machine, and one whose time is wrong: no machine is so, and nothing is written.
sed 's/mycluster.json/gb200_nvl72/' spring.csv > elsewhere.csv
"$CALC" calibrate elsewhere.csv --system gb200_nvl72 --fields mem1.efficiency --into no.json --residuals no.csv > table 2> refusal
echo "status $?" >&2
cat > wrong.csv <<'CSV'
name,app,arguments,procs,measured_s
in milliseconds,llama2-7B,--micro-batch-size 1 --global-batch-size 8 --seq-length 512 --bf16,8,300
CSV
"$CALC" calibrate wrong.csv --system mycluster.json --start documented --fields host.block --into no.json > table 2>> refusal
status=$?
sed -E 's/:[0-9]: /:N: /; s/ = [0-9.]+/ = X/; s/"tp.*"/"tp N batch N"/; s/it [0-9.]+/it Y/' refusal
ls no.json no.csv 2> /dev/null
exit $status
