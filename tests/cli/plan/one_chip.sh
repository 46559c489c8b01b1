# 10 blocks on two or four stages, with chunks and without
"$CALC" plan llama2-70B a800 --procs 16 --batch 32 --axis pp=2,4 --axis tp=4 --axis microbatch_size=1 \
    --set num_blocks=10 --time-limit 1000 --progress none
