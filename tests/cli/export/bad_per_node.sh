# exit 2
"$CALC" export --per-node 0 gpt3-175B 3072_t4_p64_d12_mbs4_full
