# exit 1
# No group has more blocks than a chunk: with 16 stages of two blocks none is left.
"$CALC" sweep llama3-8B h100_sxm --procs 64 --batch 256 --axis activation_recompute=full \
    --axis pipeline_par=4,16 --set recompute_group=4 --for none --save-best best.json >/dev/null
grep -E '"pipeline_par"|"recompute_group"' best.json
"$CALC" run llama3-8B h100_sxm best.json | sed -n 1p
"$CALC" sweep llama3-8B h100_sxm --procs 64 --batch 256 --axis activation_recompute=full \
    --axis pipeline_par=16 --set recompute_group=4 --for none >/dev/null
