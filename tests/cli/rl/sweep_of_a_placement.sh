"$CALC" rl qwen2.5-7B h20 dapo_async --procs 16 --sweep --top 3 --json - 2>/dev/null | grep -c rollout_chips
