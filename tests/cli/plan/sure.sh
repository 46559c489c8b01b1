# what is planned is 90 % sure to fit, and a framework of the machine runs it, unless that is not asked for
plan() {
    "$CALC" plan llama3-70B h100_sxm --procs 32 --batch 128 --axis tp=4 --axis pp=4 --axis cp=1 --axis pipeline_interleaving=1 \
        --top 1 --time-limit 1000 --progress none "$@" | sed -n '3,6p'
}
plan --save-best best.json
"$CALC" export --to megatron llama3-70B best.json | grep -c recompute
plan --all-memory
plan --recompute stage
# a machine that does not say what its software is built on
plan --set platform=any
