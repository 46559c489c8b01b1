# Two constants of one machine from 20 runs; what is written is what is printed.
runs=$ROOT/tests/measured/runs.csv
{ head -1 "$runs"; grep '^foundry_a100_80gb_\(3b\|7b\|13b\)_' "$runs" | head -20; } > runs.csv
"$CALC" calibrate runs.csv --system a100_sxm_80g --start documented --date 2026-01-31 --into mine.json \
    --fields matrix.bfloat16,eager_traffic,host.moe_block --cross width || exit
grep -o '"bfloat16": {"tflops": 312, [^}]*}\|"eager_traffic": [^,]*' mine.json
grep -o 'Calibrated on .*' mine.json
"$CALC" calibrate runs.csv --system a100_sxm_80g --start documented \
    --fields matrix.bfloat16,eager_traffic,host.moe_block --json - | grep '"name": "host\|"name": "A100"'
