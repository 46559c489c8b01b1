# An engine may have a part of its pool; there are as many as that goes in.
"$CALC" rl qwen3-30B-A3B h100_sxm grpo --procs 32 --set rollout.num_procs=2 --set rollout.tp=2 --set rollout.inference.engine=vllm-0.11 2>/dev/null | grep -A 5 Roles
