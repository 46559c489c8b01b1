# exit 2
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --json - --save-actor -
