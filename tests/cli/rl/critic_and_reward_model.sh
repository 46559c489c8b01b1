"$CALC" rl llama3-8B h200 ppo --procs 8
