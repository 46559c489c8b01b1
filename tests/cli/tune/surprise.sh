# a measurement that contradicts the others is pointed out
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none --chooser order "$@"; }
tune --next --picks 8 | cut -d' ' -f1 >ids
tune --csv all.csv >/dev/null
echo layout,step_s >runs.csv
while read -r id; do
    awk -F, -v id="$id" '$1 == id { printf "%s,%.4f\n", id, 1.1 * $12 }' all.csv
done <ids >>runs.csv
tune --measured runs.csv | grep -c 'look at that run'
sed -i '5s/,\(.*\)/,2\1/' runs.csv
tune --measured runs.csv | grep 'line 5.*look at that run' | sed 's/layout [0-9a-f]*/layout X/; s/ that is .* standard/ that is ... standard/'
