# exit 3
"$CALC" run megatron-1T a100_80g seqsel_fig7/megatron-1T_none | sed -n 1p
"$CALC" run megatron-1T a100_80g executions/seqsel_fig7/megatron-1T_none.json
