# exit 3
cat >job.json <<'JOB'
{
  "pools": [{"name": "a", "chips": 8}],
  "roles": {"actor": {"execution": "llama3-8B_128_fsdp"}}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
