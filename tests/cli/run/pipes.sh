# A pipe is read once, whatever it turns out to be: a system, or a plan in its place.
"$CALC" run llama3-8B <(cat "$ROOT/systems/h100_sxm.json") --procs 8 --batch 8 2> /dev/null | sed -n 's/^\(llama3-8B on 8\) x .*,/\1,/p'
"$CALC" plan llama2-7B a100_sxm_40g --procs 8 --batch 16 --axis tp=2 --axis pp=2 --axis mbs=1 --progress none --save-best plan.json > /dev/null 2>&1
for plan in plan.json - /dev/stdin; do
    "$CALC" run llama2-7B "$plan" < plan.json | head -1
done
