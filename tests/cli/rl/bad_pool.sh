# exit 3
cat >job.json <<'JOB'
{
  "pools": [{"name": "main"}],
  "roles": {"rollout": {"pool": "engines"}}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
