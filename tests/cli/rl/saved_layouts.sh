"$CALC" rl llama3-8B h100_sxm grpo --procs 16 --json first.json --save-actor actor.json --save-rollout engine.json >first.txt 2>/dev/null
"$CALC" rl llama3-8B h100_sxm grpo --set actor.execution=./actor.json --set rollout.execution=./engine.json --json second.json >second.txt
diff first.txt second.txt && diff first.json second.json && echo the same
