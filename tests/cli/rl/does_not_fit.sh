# exit 1
"$CALC" rl llama3-8B h100_sxm grpo --procs 1 | head -n 6
exit "${PIPESTATUS[0]}"
