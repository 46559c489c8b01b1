# exit 3
"$CALC" run qwen3-30B a100 3072_t4_p64_d12_mbs4_full
