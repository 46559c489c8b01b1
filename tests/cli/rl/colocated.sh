"$CALC" rl llama3-8B h100_sxm grpo --procs 16 --set response.mean=1019
