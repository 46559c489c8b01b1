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
