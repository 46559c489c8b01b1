# exit 2
"$CALC" rl qwen3-4B h100_sxm --procs 8 --sweep --save-verl run.sh
"$CALC" rl qwen3-4B h100_sxm --procs 8 --save-verl - --json -
