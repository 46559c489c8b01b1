"$CALC" export --to vllm llama3-70B llama3-70B_serving_8
