# exit 2
# The names that --set and calc show explain take, and the heads of the table.
"$CALC" sweep llama3-70B h100_sxm --procs 64 --batch 512 --top 1 --columns tp,pipeline_par,mfu,gbs,recompute,GiB | sed -n '/^ *#/,/^1/p'
"$CALC" sweep llama3-70B h100_sxm --procs 8 --set inference.phase=serve --set inference.prompt_size=100 \
    --set inference.generate_size=10 --columns inference.chunk_size,tpot --top 1 | sed -n '/^ *#/,/^1/p'
"$CALC" sweep llama3-70B h100_sxm --procs 64 --batch 512 --columns inference.tp 2>&1
