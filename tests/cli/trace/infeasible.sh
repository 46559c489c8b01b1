# The step is traced all the same.
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set mem1.GiB=24 --trace trace.json >out
echo $?
head -c 25 trace.json
