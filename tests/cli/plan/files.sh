# the table as CSV, everything as JSON, and the best as an execution
plan() {
    "$CALC" plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
        --axis microbatch_size=1 --axis pipeline_interleaving=1 \
        --set num_blocks=8 --time-limit 1000 --progress none "$@"
}
plan --csv t.csv --json all.json --save-best best.json --html page.html --mps p.mps >table.txt
head -6 table.txt
plan --csv - | cmp - t.csv
cut -d, -f1-9,14- t.csv
plan --json - | cmp - all.json
plan --save-best - | cmp - best.json
head -7 all.json
grep -A3 '"stages"' best.json
head -4 p.mps
head -3 p.mps.names.csv
ls
