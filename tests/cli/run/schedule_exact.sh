# The pipeline's time, and the parts that come from it; everything else stays.
"$CALC" run llama3-405B h100_sxm llama3-405B_16384 > closed.txt
"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --schedule exact > exact.txt
diff closed.txt exact.txt
"$CALC" run mixtral-8x7B h100_sxm mixtral-8x7B_64 --schedule exact | grep simulated
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --schedule exact --json - |
    grep -E 'closed_form|total_time|bubble_time'
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json - | grep closed_form
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --schedule exact --compat calculon
echo $?
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --schedule exact --set batch_size=12582912
echo $?
