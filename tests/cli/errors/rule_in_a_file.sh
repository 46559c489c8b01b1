# exit 3
sed 's/"data_par": 12/"data_par": 13/' "$ROOT/executions/3072_t4_p64_d12_mbs4_full.json" >exe.json
"$CALC" run gpt3-175B a100_80g exe.json
