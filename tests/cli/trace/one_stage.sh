# The whole of a small trace: one stage, sharded weights, no messages.
"$CALC" run --trace - llama3-8B h100_sxm llama3-8B_128_fsdp
