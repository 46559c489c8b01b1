# threads, CPU level, pruning and verification do not change a byte of --out
sweep()
{
    "$CALC" sweep gpt3-13B a100_80g --procs 16 --batch 16 --axis sys.mem1.GiB=40,80 --axis microbatch_size=1 \
        --axis tensor_par_comm_type=rs_ag --axis tensor_par_overlap=none,ring --axis activation_recompute=none,full \
        --top 20 --out "$@" > /dev/null
}
sweep reference.json --threads 1
sweep other.json --threads 2 && cmp reference.json other.json
sweep other.json --threads 3 --no-prune && cmp reference.json other.json
sweep other.json --cpu generic && cmp reference.json other.json
sweep other.json --verify 1 && cmp reference.json other.json
sweep other.json --all all.csv && cmp reference.json other.json
sweep other.json.gz && gunzip -c other.json.gz | cmp reference.json -
wc -l < reference.json
