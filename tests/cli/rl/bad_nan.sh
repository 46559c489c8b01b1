# exit 3
cat >job.json <<'JOB'
{"lengths": {"response": {"mean": NaN}}}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
