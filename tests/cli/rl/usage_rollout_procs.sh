# exit 2
"$CALC" rl llama3-8B h100_sxm dapo_async --procs 16 --rollout-procs 8
