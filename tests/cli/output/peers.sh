"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --peers - --set num_procs=256 --set data_par=1 --set batch_size=256 --set optimizer_sharding=false | head -n 5
