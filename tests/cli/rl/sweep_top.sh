# rows of a placement read differently
"$CALC" rl llama3-8B h100_sxm grpo --procs 8 --set response.mean=1019 --sweep --top 3
