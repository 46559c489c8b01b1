# 1,000 USD an hour: H100 or B200? The prices are those of the machines' files; --set price= overrides them.
"$CALC" sweep llama3-70B h100_sxm,b200 --budget 1000 --batch 1024 --top 1 --tokens 1T \
    --columns machine,procs,job_usd_per_hour,tp,pp,dp,tokens_per_s | sed -n '/^Best/,/^$/p;/^Training/,$p'
# Served, for at most 26 USD an hour: the most tokens per second that this buys.
"$CALC" sweep qwen3-32B h200,l40s --budget 26 --set inference.phase=serve --set inference.prompt_size=2000 \
    --set inference.generate_size=500 --where 'tpot <= 50ms' --top 1 \
    --columns machine,procs,job_usd_per_hour,output_tokens_per_s | sed -n '/^Best/,/^$/p'
# Prices, numbers of processors and groups of one's own.
"$CALC" sweep llama3-8B h100_sxm --budget 60 --set price=2.5 --batch 64 --per num_procs --top 1 --columns procs,job_usd_per_hour |
    sed -n '/^Best/,/^$/p'
"$CALC" sweep llama3-8B h100_sxm,b200 --budget 60 --procs 4,8 --batch 64 --top 1 --columns machine,procs,job_usd_per_hour |
    sed -n '/^Best/,/^$/p'
"$CALC" sweep llama3-8B h100_sxm --budget 6 --batch 64 2>&1
"$CALC" sweep llama3-8B h100_sxm,a100_80g --budget 60 --batch 64 2>&1
"$CALC" sweep llama3-8B h100_sxm --budget much --batch 64 2>&1
"$CALC" sweep llama3-8B h100_sxm --budget 1000k --batch 4096 --plan | sed -n 2p
