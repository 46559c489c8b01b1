"$CALC" rl qwen3-32B h100_sxm grpo --procs 64 --rollout-procs 32 2>/dev/null | head -n 8
