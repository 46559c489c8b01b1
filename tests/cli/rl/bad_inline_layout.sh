# exit 3
cat >job.json <<'JOB'
{
  "roles": {
    "actor": {"execution": {"tensor_par": 2,
                            "tensor_pal": 2}}
  }
}
JOB
"$CALC" rl llama3-8B h100_sxm ./job.json --procs 8 
