# How many H200 answer 20 requests per second with a token in 50 ms, at what cost, by vLLM? And what starts them.
"$CALC" sweep qwen3-235B-A22B h200 --procs 8:64:8 --set inference.phase=serve --set inference.prompt_size=2000 \
    --set inference.generate_size=500 --set inference.engine=vllm-0.11 --where 'tpot <= 50ms' --where 'requests_per_s >= 20' \
    --set price=3 --per num_procs --top 1 --columns USD/Mtok,procs,tp,pp,dp,ep,requests_per_s,tpot --save-best best.json |
    sed -n '/^Best/,/^$/p'
"$CALC" export --to vllm --launcher kubernetes qwen3-235B-A22B best.json | grep -E 'size: |-parallel'
