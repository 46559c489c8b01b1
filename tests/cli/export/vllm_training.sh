# exit 1
"$CALC" export --to vllm llama3-70B llama3-70B_512
