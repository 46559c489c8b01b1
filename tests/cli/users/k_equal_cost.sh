# 1,000 USD an hour: H100 or B200? The prices are those of the machines' files; --set price= overrides them.
"$CALC" sweep llama3-70B h100_sxm,b200 --procs 64:256:8 --batch 1024 --where 'job_usd_per_hour <= 1000' --per design \
    --top 1 --columns machine,procs,job_usd_per_hour,tp,pp,dp,tokens_per_s --tokens 1T | sed -n '/^Best/,/^$/p;/^Training/,$p'
# Another price, and served: at most 26 USD an hour.
"$CALC" sweep qwen3-32B h200,l40s --procs 4:16:4 --set inference.phase=serve --set inference.prompt_size=2000 \
    --set inference.generate_size=500 --where 'job_usd_per_hour <= 26' --where 'tpot <= 50ms' --per design --top 1 \
    --top-by output_tokens_per_s --columns machine,procs,job_usd_per_hour,output_tokens_per_s | sed -n '/^Best/,/^$/p'
