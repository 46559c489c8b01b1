# Which layout serves best: the default space, its front drawn, the same bytes however it is swept, and the best one starts.
ask=(llama3-70B h200 --procs 8 --set inference.phase=serve --set inference.prompt_size=4096 --set inference.generate_size=500
    --where 'ttft <= 1' --where 'tpot <= 30ms' --progress none)
"$CALC" sweep "${ask[@]}" --set price=2.5 --top 3 --save-best best.json | sed '/ with [0-9]* thread/d'
"$CALC" export --to sglang llama3-70B best.json | grep -E 'tp|dp|max-running|chunked'

# Two pools share 16 processors, or one has them all.
pools=(llama3-70B h200 --procs 16 --axis inference.phase=serve,disaggregated --set inference.prompt_size=4096
    --set inference.generate_size=500 --where 'tpot <= 30ms' --axis inference.kv_datatype=auto,float8 --progress none)
"$CALC" sweep "${pools[@]}" --top 3 --columns phase,procs,prefill,tp/pp/dp,kv_datatype,output_tokens_per_s_per_proc --verify 0.1 |
    sed -n '/^Best/,$p' | sed '/ layouts$/,$d'
same() { cmp "$1" one.json && echo "$2: the same bytes"; }
"$CALC" sweep "${pools[@]}" --threads 1 --out one.json > out
"$CALC" sweep "${pools[@]}" --threads 2 --out two.json > out && same two.json threads
"$CALC" sweep "${pools[@]}" --no-prune --out all.json > out && same all.json --no-prune
for i in 1 2 3; do "$CALC" sweep "${pools[@]}" --shard $i/3 --out part$i > out; done
"$CALC" sweep --merge part1 part2 part3 --out merged.json > out && same merged.json shards

# Where prompts limit two pools, more requests in flight bring nothing: the start has the fewest. Members of inference have one name.
"$CALC" sweep llama3-70B h200 --procs 8 --set phase=disaggregated --set isl=8192 --set osl=128 --set engine=vllm-0.11 \
    --where 'inference.prefill_procs = 6' --where 'concurrency = 0' --save-best pools.json --top 60 --csv pools.csv --progress none > out
python3 - << 'END'
import csv, json
rows = [row for row in csv.DictReader(open('pools.csv')) if row['list'] == 'top']
start, most = json.load(open('pools.json')), max(float(row['output_tokens_per_s_per_proc']) for row in rows)
equal = [int(row['batch_size']) for row in rows if float(row['output_tokens_per_s_per_proc']) > most * (1 - 1e-9)]
print(start['batch_size'] == min(equal), len(equal) > 3, {row['inference.prefill_procs'] for row in rows})
END
