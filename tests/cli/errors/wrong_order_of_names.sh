# exit 3
"$CALC" run gpt3-175B 3072_t4_p64_d12_mbs4_full a100_80g
