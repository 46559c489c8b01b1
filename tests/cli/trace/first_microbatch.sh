# Of two stages, the first micro-batch only: forward and backward, with messages and arrows.
"$CALC" run --trace - gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_par=2 --set data_par=384 \
    --set mem1.GiB=2000 --set batch_size=6144 --microbatches 1
