# exit 3
cat >job.json <<'JOB'
{
  "pools": [{"name": "a", "chips": 4}, {"name": "b", "chips": 2}],
  "roles": {"rollout": {"pool": "b"}}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
