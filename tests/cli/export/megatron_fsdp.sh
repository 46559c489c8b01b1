"$CALC" export --to megatron llama3-8B llama3-8B_128_fsdp
