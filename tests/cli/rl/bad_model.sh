# exit 3
cat >job.json <<'JOB'
{
  "roles": {"teacher": {"model": "qwen3-33B"}}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
