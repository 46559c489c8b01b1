"$CALC" diff a100_80g h100_80g_nvl8 gpt3-175B 3072_t4_p64_d12_mbs4_full
