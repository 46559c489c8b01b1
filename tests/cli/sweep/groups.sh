# one list per number of processors and per design; the best of each is shown
"$CALC" sweep gpt3-13B a100_80g --procs 8,16 --batch 16 --axis sys.mem1.GiB=40,80 --per num_procs,design \
    --top 2 --objectives sample_rate --out groups.csv --no-prune | grep -v evaluations
cut -d, -f1-6 groups.csv
"$CALC" sweep gpt3-13B a100_80g --procs 8,16 --batch 16 --axis sys.mem1.GiB=40,80 --per num_procs,design \
    --top 0 --objectives sample_rate --out - | grep -E 'num_procs|"design"|"front"|"top'
