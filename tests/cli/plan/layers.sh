# a strategy for each layer, where layers that are alike do not fit or are slower
plan() {
    "$CALC" plan llama2-7B a100_sxm_40g --procs 8 --batch 64 --per-layer --time-limit 1000 --progress none "$@"
}
plan --top 2 --set mem1.GiB=20 --all-memory
plan --top 1 --axis pp=1 --axis microbatch_size=2 --axis tp=1,2 --recompute none
