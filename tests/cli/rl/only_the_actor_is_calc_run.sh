# A job that only trains takes what calc run says, to the last digit.
"$CALC" rl llama3-8B h100_sxm --set actor.execution=llama3-8B_8 --set cp=1 --set dp=8 --set rollout=null --set reference=null --set old_logprob=none \
    --set overhead=0 --set response.cv=0 --set prompt=146 --set response.mean=1000 --set prompts=32 --set samples=4 --json - |
    sed -n 's/ *"step_time": \(.*\),/\1/p'
"$CALC" run llama3-8B h100_sxm llama3-8B_8 --set cp=1 --set dp=8 --set seq_size=1146 --json - | sed -n 's/ *"total_time": \(.*\),/\1/p'
"$CALC" rl llama3-8B h100_sxm --set actor.execution=llama3-8B_8 --set cp=1 --set dp=8 --set zero_stage=2 --set optimizer_sharding=true \
    --set activation_recompute=full --set rollout=null --set reference=null --set old_logprob=none --json - | grep -o '"layout": "[^"]*"'
