# exit 3
cat >job.json <<'JOB'
{
  "prompts": 10,
  "samples": 4,
  "mini_batch": 512,
  "lengths": {"response": {"mean": 5000, "cap": 100, "share_at_cap": 0.5}}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
