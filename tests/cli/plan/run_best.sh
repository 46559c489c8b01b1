# calc run of the best takes what the plan says, to the last digit
for procs in 16 8; do
    "$CALC" plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs "$procs" --batch 32 --axis tp=4 \
        --axis microbatch_size=1 --axis pipeline_interleaving=1 --set num_blocks=8 --time-limit 1000 \
        --progress none --save-best best.json --out all.json >table.txt
    system=$(sed -n 's/.*"system": "\(.*\)",/\1/p' all.json | head -1)
    "$CALC" run llama2-70B "$system" best.json --set num_blocks=8 --json - >run.json
    for key in total_time proc_mem_tier1_cap_req; do
        grep -m 1 "\"$key\"" all.json | tr -d ' ,' >planned
        grep -m 1 "\"$key\"" run.json | tr -d ' ,' | diff planned - && echo "$system $procs: same $key"
    done
    grep "\"stages\"" best.json || echo "stages are all alike"
done
