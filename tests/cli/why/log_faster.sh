# The log is of a run without the recomputation that the layout has.
"$CALC" why llama3-70B h100_sxm llama3-70B_512 --set activation_recompute=full --log "$ROOT/tests/formats/logs/megatron.log" --top 0 |
    sed -n '/Megatron-LM/,/^Changes/p'
