# exit 2
"$CALC" rl llama3-8B h100_sxm grpo
