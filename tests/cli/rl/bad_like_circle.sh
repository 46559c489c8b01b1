# exit 3
cat >job.json <<'JOB'
{"algorithm": "ppo", "roles": {"actor": {"like": "critic"}, "critic": {"like": "actor"}}}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8
