# what is thought of candidates, before and after measurements; a layout of one's own beside them
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --axis microbatch_size=1,2 --progress none --top 5 "$@"; }
tune
ls tune
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
head -12 t.json
grep -c '"rank"' t.json
wc -l <t.csv
head -1 t.csv
