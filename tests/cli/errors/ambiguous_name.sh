# exit 3
"$CALC" run megatron-1T a100_80g megatron-1T_seqsel
