"$CALC" rl qwen2.5-7B h20 dapo_async --procs 32 --set steps_off=4 --set sync.method=transfer 2>/dev/null
