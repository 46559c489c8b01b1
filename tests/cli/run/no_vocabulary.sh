# exit 1
# A model that does not say its vocabulary has no ends, and the summary says so.
"$CALC" run megatron-5B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_par=8 --set data_par=96 |
    sed -n '1,3p'
"$CALC" run megatron-22B a100_80g 3072_t4_p64_d12_mbs4_full | grep -c vocab_size
