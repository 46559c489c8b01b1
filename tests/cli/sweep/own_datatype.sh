
# A machine without bfloat16 does not change the number format of another: each has its own.
"$CALC" sweep llama3-8B a100_80g,h100_sxm --procs 8 --batch 64 --per design --top 1 --columns machine,datatype --progress none 2>&1 | grep -A3 '^# '
