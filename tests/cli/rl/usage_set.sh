# exit 2
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set prompts=0
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set response.mean=nan
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set promts=3
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set steps_off=1
