# what is thought of candidates, before and after measurements; a layout of one's own beside them
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --axis microbatch_size=1,2 --progress none --top 5 "$@"; }
tune
ls tune
# before anything is measured, what fits is what calc run says of the layout
id=$(tune --next | cut -d' ' -f1)
said=$(tune --csv - | awk -F, -v id="$id" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p_fits") c = i } $1 == id { print $c }')
ran=$("$CALC" run llama2-7B a100_sxm_40g "tune/$id.json" --band --json - | sed -n 's/^ *"fits": \([0-9.]*\),/\1/p')
awk -v a="$said" -v b="$ran" 'BEGIN { print (a != "" && (a - b) ^ 2 < 1e-10 ? "fits as calc run says" : "not " a " but " b) }'
set -- $(tune --next --picks 3 | cut -d' ' -f1)
cat >runs.csv <<ROWS
layout,step_s,memory_gib,outcome,note
$1,8.9,31.5GiB,ok,first
$2,8700ms,,,
$3,,,oom,
ROWS
tune --measured runs.csv
tune --measured runs.csv --json t.json --csv t.csv >t.txt
tune --measured runs.csv --json - | cmp - t.json
tune --measured runs.csv --csv - | cmp - t.csv
head -14 t.json
grep -c '"rank"' t.json
wc -l <t.csv
head -1 t.csv
