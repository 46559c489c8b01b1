# two stages on each: the quicker chips have more blocks, and come first; in the order given they do not
"$CALC" plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
    --axis microbatch_size=1 --axis pipeline_interleaving=1 \
    --set num_blocks=8 --time-limit 1000 --progress none
"$CALC" plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
    --axis microbatch_size=1 --axis pipeline_interleaving=1 \
    --set num_blocks=8 --time-limit 1000 --progress none --keep-order
