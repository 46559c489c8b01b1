# exit 3
cat >job.json <<'JOB'
{
  "prompts": 0,
  "samples": -3,
  "kept_share": 1.5,
  "lengths": {"prompt": "many", "response": {"mean": 0}},
  "roles": {"rollout": {"sleep": 9, "memory_share": 2}}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
