# exit 1
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_interleaving=3 --csv - | cut -d , -f 1-8
exit "${PIPESTATUS[0]}"
