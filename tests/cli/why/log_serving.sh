for log in vllm.txt vllm.json aiperf.json; do
    "$CALC" why llama3-70B h100_sxm llama3-70B_serving_8 --log "$ROOT/tests/formats/logs/$log" --top 0 | sed -n '/measured/,/^Changes/p'
done
