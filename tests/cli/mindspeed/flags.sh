# No script: all is said on the command line, also what has no row in the help.
"$CALC" as mindspeed --auto-parallel --nodes 2 --nproc_per_node 8 --num-layers 32 --hidden-size 4096 \
    --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8 \
    --seq-length 4096 --global-batch-size 256 --swiglu --bf16 --use-flash-attn --num-experts 8 \
    --moe-router-topk 2 --use-distributed-optimizer --vocab-size 32000 --device-memory 120 --master-addr host-0
# Small plans for large, and a line that is read by programs.
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --target-nnodes 2 --nnodes 1 --vocab-size 32000 \
    --search-algo full_precision --bf16 2>/dev/null | tail -1
