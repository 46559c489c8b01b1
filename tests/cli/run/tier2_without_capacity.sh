# exit 1
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set mem2.GiB=0 --set pipeline_par=16 --set data_par=48 --set weight_offload=true | sed -n '/host memory: /,/total/p'
exit "${PIPESTATUS[0]}"
