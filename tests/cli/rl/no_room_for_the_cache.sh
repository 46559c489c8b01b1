# exit 3
"$CALC" rl llama3-70B h100_sxm grpo --procs 1
