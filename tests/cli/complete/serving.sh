# What is served needs no field of training.
echo '{"num_procs": 8, "tensor_par": 4, "inference": {"phase": "serve", "prompt_size": 1000, "generate_size": 200}}' >short.json
"$CALC" run llama3-70B h200 short.json | sed -n '/^Layout/,/^  batch/p'
"$CALC" export --to vllm llama3-70B h200 short.json | grep -E -- '--(tensor|data)-parallel-size'
