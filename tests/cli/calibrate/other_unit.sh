
# Times in milliseconds, and in minutes, are not fitted to: nothing is written.
for measured in 15.3 15300 0.255; do
    printf 'name,app,sys,exe,measured_s\nmine,llama3-70B,h100_sxm,llama3-70B_512,%s\n' "$measured" > runs.csv
    "$CALC" calibrate runs.csv --system h100_sxm --into "fitted_$measured.json" 2>&1 > report.txt
    echo "$measured: $?"
done
ls fitted*
