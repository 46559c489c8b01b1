# exit 3
"$CALC" run internvl3 tpu 3072_t4_p64_d12_mbs4_full
