# exit 3
"$CALC" export gpt3-175B 3072_t4_p64_d12_mbs4_full --set data_par=auto
