# What is not said is as in the layout that a sweep of the rest would start with: the very same one.
"$CALC" sweep llama3-70B h100_sxm --procs 64 --batch 512 --set tp=8 --save-best best.json >/dev/null
"$CALC" run llama3-70B h100_sxm --procs 64 --batch 512 --set tp=8 --save-exe - | diff best.json - && echo same
"$CALC" run llama3-70B h100_sxm --procs 64 --batch 512 | sed -n '/^Layout/,/^$/p'
"$CALC" run llama3-70B h100_sxm --procs 64 --batch 512 --json - 2>/dev/null | grep -o '"command": \[[^]]*\]'
