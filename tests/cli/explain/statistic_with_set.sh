"$CALC" show explain num_microbatches gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set microbatch_size=2
