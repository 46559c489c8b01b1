# On a terminal: standard output and error are one.
script -qec "\"$CALC\" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set mem1.GiB=10" /dev/null | tr -d '\r' | grep -c 'mem1_capacity'
