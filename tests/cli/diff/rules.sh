# what each rule of Calculon changes, alone and after those above it, up to Calculon's own answer
"$CALC" diff --rules gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full
