# A number with a comma between its thousands is none, and no list of which one number is taken.
for procs in 1,024 2,048 064; do
    "$CALC" run llama3-8B h100_sxm --procs $procs --batch 4096 || echo "$?"
done
for batch in 4,096 1,536; do
    "$CALC" run llama3-8B h100_sxm --procs 64 --batch $batch || echo "$?"
done
"$CALC" sweep llama3-8B h100_sxm --procs 1,024 --batch 256 || echo "$?"
