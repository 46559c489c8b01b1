# exit 3
"$CALC" run ./ a100_80g 3072_t4_p64_d12_mbs4_full
