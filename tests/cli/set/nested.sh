"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set networks[0].bandwidth=450 --set networks[0].ops.all_gather=[1.25,-1] --json - | grep -E '450|1.25'
