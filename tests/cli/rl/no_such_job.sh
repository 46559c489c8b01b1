# exit 3
"$CALC" rl llama3-8B h100_sxm gro --procs 8
