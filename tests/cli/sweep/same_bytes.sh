# threads, CPU level, pruning and verification do not change a byte of --out, nor threads of --all
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
sweep other.json --threads 1 --all all.csv && cmp reference.json other.json
sweep other.json --threads 3 --all all3.csv && cmp all.csv all3.csv && cmp reference.json other.json
sweep one.csv --threads 1 && sweep three.csv --threads 3 && cmp one.csv three.csv
sort all.csv > all.sorted # a row of the front is a row of all, but for its list and rank
cut -d, -f3- one.csv | sort -u | comm -23 - all.sorted
sweep other.json.gz && gunzip -c other.json.gz | cmp reference.json -
wc -l < reference.json
wc -l < all.csv
wc -l < one.csv
