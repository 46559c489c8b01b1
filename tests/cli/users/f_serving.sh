# exit 1
# DeepSeek-V3 served by 16 H800, a token in 50 ms: which layout, and which command starts it?
"$CALC" sweep deepseek-v3-671B h800 --procs 16 --axis inference.phase=serve --axis inference.prompt_size=4096 \
    --axis inference.generate_size=1024 --axis batch_size=64,128,192 --axis weight_datatype=float8 \
    --top-by output_tokens_per_s --where 'tpot < 50ms' --top 3 --save-best best.json | sed -n '/Best by/,/^$/p'
"$CALC" export --to vllm deepseek-v3-671B best.json | grep -E -- '--(tensor|pipeline|data|enable|max-num-seqs)'
"$CALC" export --to megatron deepseek-v3-671B best.json 2>&1
