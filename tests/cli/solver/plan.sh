# a solver of mixed-integer programs finds the same
command -v glpsol > /dev/null || { echo "glpsol is not installed"; exit 77; }
plan() {
    "$CALC" plan llama2-70B a800 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
        --axis microbatch_size=1 --axis pipeline_interleaving=1 \
        --set num_blocks=8 --time-limit 1000 --progress none --solver glpsol
}
plan | tail -2
# where it is not installed, the plan is there all the same
(PATH=/nowhere plan; echo "$?") | tail -2
