"$CALC" rl qwen2.5-7B h20 dapo_async --procs 16 --sweep --top 3 --json - 2>/dev/null | grep -c rollout_chips
# On the same processors there is no step off, whatever the job says.
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --sweep --top 1000 --set steps_off=1 --json - 2>/dev/null |
    grep -oE '"rollout_chips": [0-9]+, "steps_off": [0-9]+' | sort | uniq -c
