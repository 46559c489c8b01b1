# exit 1
# nothing fits: the counts say why; what was found is written all the same, but there is no best
"$CALC" sweep megatron-1T a100_80g --procs 8 --batch 8 --no-prune --out out.json --save-best best.json |
    grep -v evaluations
code=${PIPESTATUS[0]}
cat out.json
ls
exit "$code"
