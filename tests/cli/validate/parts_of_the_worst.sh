# What the largest errors consist of: as many lines as rows, and in JSON as times; shares add up.
runs=$ROOT/tests/measured/runs.csv
{ head -1 "$runs"; grep '^seqsel_tab5_\|^simumax_b200_llama3_70b_l12_tp1_pp2' "$runs"; } > runs.csv
"$CALC" validate runs.csv --worst 14 --show breakdown > table || exit
sed -n '/largest errors/,$p' table | grep '^  *[a-z].* %$' > parts
wc -l < parts
awk -F' %,* *' '{ sum = 0
    for (i = 1; i < NF; i++) { sub(/.* /, "", $i); sum += $i }
    bad += sum < 96 || sum > 104 } END { print bad + 0, "do not add up" }' parts
"$CALC" validate runs.csv --json - | grep -c '"row": .*"total"'
