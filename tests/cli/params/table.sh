"$CALC" show params gpt3-175B megatron-22B megatron-1T
