# 8 RTX 4090, FSDP: which micro-batch fits, at which length? And one layout in full.
"$CALC" sweep llama3-8B rtx_4090 --procs 8 --batch 64 --set zero=3 --set tp=1 --set pp=1 --set cp=1 \
    --axis mbs=1,2,4,8 --axis seq_size=2048,4096,8192 --columns seq_size,mbs,recompute,GiB,fits,tokens_per_s |
    sed -n '/^Best/,/^$/p'
"$CALC" run llama3-8B rtx_4090 --procs 8 --batch 64 --set zero=3 --set tp=1 --set pp=1 --set cp=1 \
    --set seq_size=4096 --set mbs=2 | grep -E 'time per step|^Memory|recompute '
