"$CALC" rl qwen3-32B h100_sxm grpo --procs 64 --rollout-procs 32 --set steps_off=1
