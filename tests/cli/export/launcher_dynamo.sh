# A graph of servers: one, on one node and on two, and both pools of a disaggregated layout.
"$CALC" export --launcher dynamo --to vllm llama3-70B llama3-70B_serving_8 | grep -v '^ *--'
"$CALC" export --launcher dynamo --to sglang --per-node 4 llama3-70B llama3-70B_serving_8 | grep -E 'Count|gpu:|dynamo\.'
for program in vllm sglang; do
    "$CALC" export --launcher dynamo --to $program llama3-70B llama3-70B_serving_8 --set inference.phase=disaggregated \
        --set inference.prefill_procs=16 --set inference.prefill_tensor_par=16 --out graph.yaml
    grep -nE 'Prefill:|Decode:|Count|gpu:|dynamo\.|size' graph.yaml
done
