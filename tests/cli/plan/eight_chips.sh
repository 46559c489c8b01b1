# exit 3
# A stage on each of eight kinds; the saved plan names them all, and runs without SYS
names=h800,a800,h100_sxm,h200,a100_sxm_80g,ascend_910b,b200,mi300x
"$CALC" plan llama2-70B $names --chips "$(echo $names | sed 's/,/:8,/g'):8" --keep-order --procs 64 --batch 256 \
    --axis pp=8 --axis tp=8 --axis pipeline_interleaving=1 --axis microbatch_size=1 --top 1 --time-limit 1000 \
    --save-best eight.json 2>&1 | grep -E '^   1|Planned .* s,|layouts|run it'
"$CALC" run llama2-70B eight.json 2>/dev/null | grep -E '^llama2|time per step'
# and all orders of as many as are asked for are more than are tried
"$CALC" plan llama2-70B $names --procs 256 --batch 1024 2>&1
