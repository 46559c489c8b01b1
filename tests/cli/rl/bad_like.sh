# exit 3
cat >job.json <<'JOB'
{"roles": {"critic": {"like": "acter"}}}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
