# exit 1
# 11 GiB are too few to keep all activations
# 9 GiB are too few to keep everything
"$CALC" plan llama2-70B a800 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
    --axis microbatch_size=1 --axis pipeline_interleaving=1 \
    --set num_blocks=8 --time-limit 1000 --progress none --set mem1.GiB=11 --recompute stage --all-memory
"$CALC" plan llama2-70B a800 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
    --axis microbatch_size=1 --axis pipeline_interleaving=1 \
    --set num_blocks=8 --time-limit 1000 --progress none --set mem1.GiB=11 --all-memory --recompute none
