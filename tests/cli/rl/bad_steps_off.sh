# exit 3
cat >job.json <<'JOB'
{
  "prompts": 64,
  "steps_off": 1
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
