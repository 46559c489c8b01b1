"$CALC" show params gpt3-175B megatron-1T --json -
