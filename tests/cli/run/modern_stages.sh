"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --stages - | cut -d, -f1-3,10 | sed -n '1,3p;15,$p'
# Stages of an older model are listed as those of any other.
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --stages stages.csv > /dev/null
wc -l < stages.csv
cut -d, -f2- stages.csv | sort -u | wc -l
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json - | grep -c '"stages"'
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json - --stages stages.csv | grep -c '{"stage": '
"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --json - | grep -o '{"stage": [0-9]*, "blocks": [0-9]*'
