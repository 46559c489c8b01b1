"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_par=32 --set data_par=24 --set weight_offload=true --set activations_offload=true --set optimizer_offload=true
