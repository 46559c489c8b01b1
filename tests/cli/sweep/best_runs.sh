# the best layout, from --save-best and from --out, is an input of calc run with the same numbers
"$CALC" sweep gpt3-13B a100_80g --procs 64 --batch 64 --axis tp=4 --axis pp=4 --save-best best.json --out best.csv > /dev/null
"$CALC" run gpt3-13B a100_80g best.json --csv run.csv > /dev/null && cat best.json
column()
{
    head -2 "$1" | awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }'
}
for name in sample_rate total_time proc_mem_tier1_cap_req tensor_par; do
    [ "$(column best.csv $name)" = "$(column run.csv $name)" ] && column run.csv $name
done
