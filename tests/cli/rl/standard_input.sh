echo '{"prompts": 32}' | "$CALC" rl llama3-8B h100_sxm - --procs 8 2>/dev/null | head -n 2
