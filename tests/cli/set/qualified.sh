"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set exe.datatype=float16 --set sys.mem1.GiB=96 --set app.structure_type=gpt | grep 'HBM'
