for log in vllm.txt vllm.json aiperf.json; do
    "$CALC" why llama3-70B h100_sxm llama3-70B_serving_8 --log "$ROOT/tests/formats/logs/$log" --top 0 | sed -n '/measured/,/^Changes/p'
done
# With an engine: the range of its runs whose layouts no fit saw; of one with few runs, that of all.
for engine in vllm-0.11 vllm-0.8; do
    "$CALC" why llama3-70B h100_sxm llama3-70B_serving_8 --set inference.engine=$engine --log "$ROOT/tests/formats/logs/vllm.txt" --top 0 |
        sed -n '/nine in ten/,/^$/p'
done
"$CALC" why llama3-70B h100_sxm llama3-70B_serving_8 --set inference.engine=vllm-0.11 --log "$ROOT/tests/formats/logs/vllm.txt" \
    --json - | grep -E '"(low|high|verdict)"'
