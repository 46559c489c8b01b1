"$CALC" rl llama3-8B h200 ppo --procs 8
# A field of a role that the job does not name: it has that role.
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --json - 2>/dev/null | grep -c '"critic"'
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set critic.tensor_par=2 --json - 2>/dev/null | grep '"critic": {"model"'
