"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set=mem1.GiB=141 | grep 'HBM'
