"$CALC" export --to megatron llama3-405B llama3-405B_16384 --diff llama3-405B_128k
