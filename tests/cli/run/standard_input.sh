"$CALC" run - a100_80g 3072_t4_p64_d12_mbs4_full <"$ROOT/models/gpt3-175B.json" | head -n 2
