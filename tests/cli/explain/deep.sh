"$CALC" show explain networks[0].ops.all_reduce gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full
