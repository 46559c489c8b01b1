# No list of the best, only the front: nothing takes the best from an empty list.
sweep() { "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --progress none --top 0 "$@" > out; echo "$?"; }
sweep
sweep --tokens 1T
sweep --out all.json
sweep --out all.csv
sweep --save-best best.json
sweep --per num_procs
sweep --plot
sweep --where 'total_time<100'
