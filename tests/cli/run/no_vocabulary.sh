# exit 1
# A model that does not say its vocabulary has no ends, and the summary says so.
"$CALC" run megatron-5B a100_80g 3072_t4_p64_d12_mbs4_full --set num_procs=8 --set pipeline_par=1 \
    --set tensor_par=8 --set data_par=1 --set batch_size=8 --set microbatch_size=1 | sed -n '1,4p'
"$CALC" run megatron-22B a100_80g 3072_t4_p64_d12_mbs4_full | grep -c vocab_size
