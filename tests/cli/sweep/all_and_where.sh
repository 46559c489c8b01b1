# --all has a row for every feasible layout that meets the conditions
sweep()
{
    "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --no-prune --axis microbatch_size=1 \
        --axis tensor_par_comm_type=rs_ag --axis seq_par_ag_redo=false --summary - "$@" |
        sed -n '/counts/,/skipped/p'
}
sweep --all all.csv
wc -l < all.csv
sweep --all some.csv --where 'mem1 <= 40GiB' --where 'tensor_par = 4'
wc -l < some.csv
head -1 some.csv | cut -d, -f1-5
sed 1d some.csv | cut -d, -f4 | sort -u
# what cannot meet a condition is skipped; if nothing can, that is said
"$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --where 'mem1 <= 1KiB' --where 'tensor_par != 2' 2>&1 |
    grep -E 'skipped|infeasible'
# a condition finds the same with and without bounds, and as does a smaller memory
front() { "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --threads 1 --out - "$@"; }
cmp <(front --where 'mem1 <= 40GiB' --where 'model_flops_utilization >= 30%') \
    <(front --where 'mem1 <= 40GiB' --where 'model_flops_utilization >= 30%' --no-prune) && echo same
cmp <(front --where 'weight_space <= 4GiB' --top 0) <(front --where 'weight_space <= 4GiB' --top 0 --no-prune) && echo same
front --where 'mem1 <= 40GiB' | grep -c '"design"'
front --axis sys.mem1.GiB=40 | grep -c '"design"'
