# the axes, the work, and memory and a time that are measured
timeless() { sed 's|^ .*\(of memory\), about$|SIZE \1|; s|^ .*\(with [0-9]* thread.* measured on\) [0-9,]* layouts$|TIME \1 LAYOUTS|'; }
"$CALC" sweep --plan --threads 2 | timeless
"$CALC" sweep gpt3-13B,gpt3-175B a100_80g --procs 8:64:x2 --axis sys.mem1.GiB=40,80 \
    --axis 'microbatch_size=*' --axis batch_size=32,64 --plan --threads 1 | timeless
# what takes long, because only calc run knows it
needs() { "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --threads 1 --plan "$@" | sed '1,/measured/d'; }
needs --where 'mem1 <= 40GiB' --where 'mem2 <= 0'
needs --where 'weight_space <= 4GiB'
needs --where 'weight_space <= 4GiB' --no-prune
needs --objectives total_efficiency --top-by system_efficiency
