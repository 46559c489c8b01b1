# exit 3
cat >job.json <<'JOB'
{
  "promts": 64,
  "roles": {"actr": {}, "actor": {"micro_token": 3}},
  "sync": {"method": "pigeons"}
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
