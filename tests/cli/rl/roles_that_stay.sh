# exit 1
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set actor.offload=none --set rollout.memory_share=0.9 --json - 2>&1 >/dev/null
