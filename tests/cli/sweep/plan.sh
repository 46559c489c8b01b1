"$CALC" sweep --plan --threads 2
"$CALC" sweep gpt3-13B,gpt3-175B a100_80g --procs 8:64:x2 --batch 64 --axis sys.mem1.GiB=40,80 \
    --axis 'microbatch_size=*' --axis batch_size=32,64 --plan --threads 1
