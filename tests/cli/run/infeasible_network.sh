# exit 1
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set networks[1].size=64 --json - | grep -A 5 -E '"(verdict|reasons)"'
exit "${PIPESTATUS[0]}"
