# exit 1
# 72 B on one node, as published: the optimizer goes to the hosts.
"$CALC" sweep qwen2.5-72B a100_sxm_80g --procs 8 --batch 32 --axis seq_size=2560 >/dev/null
"$CALC" sweep qwen2.5-72B a100_sxm_80g --procs 8 --batch 32 --axis seq_size=2560 \
    --axis optimizer_offload=true | grep -c feasible
"$CALC" sweep qwen2.5-72B a100_sxm_80g --procs 8 --batch 32 --axis seq_size=2560 \
    --axis optimizer_offload=false >/dev/null
