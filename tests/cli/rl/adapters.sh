# Engines that get adapters compute with them, as engines that have them: 32 layers of 32 * (4096 + 4096 + 14336 + 4096) numbers of 2 bytes.
rl() {
    "$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set actor.trained=adapters --set actor.lora_rank=32 --set actor.lora_modules=q_proj+down_proj \
        "$@" --json - 2>/dev/null | grep -oE '"(sync_bytes|sync_tensors|decode_step_time|prefill_time)".*'
}
rl --set sync.adapters=true
rl --set rollout.lora_rank=32 --set rollout.lora_modules=q_proj+down_proj
rl
