# its files: the table as CSV, everything as JSON, and the best as an execution that runs
plan() {
    "$CALC" plan llama3.2-1B h100_sxm --procs 4 --batch 8 --set num_blocks=8 --set mem1.GiB=8 --all-memory --per-layer \
        --time-limit 1000 --progress none "$@"
}
plan --csv t.csv --json all.json --save-best best.json --html page.html >table.txt
cut -d, -f1,3-5,10,17- t.csv
plan --json - | cmp - all.json
plan --save-best - | cmp - best.json
head -13 all.json
grep -A8 '"layers"' best.json
step() { sed -n 's/.*time per step *\([^ ]* [a-z]*\).*/\1/p'; }
"$CALC" run llama3.2-1B h100_sxm best.json --set num_blocks=8 --set mem1.GiB=8 | step
sed -n 's/^Planned .* calc run says \([^;]*\);.*/\1/p' table.txt
tail -22 table.txt | head -3
grep -c layers page.html >/dev/null && ls
