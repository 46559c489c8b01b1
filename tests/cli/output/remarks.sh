# A sweep, a plan, a tuning decision and a diagnosis say what is not calibrated, to people and in their files.
"$CALC" sweep gpt3-175B a100_80g --procs 512 --batch 512 --plan | head -n 3
"$CALC" sweep gpt3-175B a100_sxm_80g --procs 512 --batch 512 --plan | head -n 2
remarks() { sed -n '/"remarks"/p' "$1"; }
"$CALC" sweep llama3-8B mi300x,h200,h100_sxm --procs 8 --batch 8 --top 1 --out sweep.json --html sweep.html | head -n 4
remarks sweep.json
remarks sweep.html
"$CALC" plan llama3-8B mi300x --procs 8 --batch 8 --top 1 --json plan.json | head -n 2
remarks plan.json
"$CALC" tune llama3-8B mi300x --procs 8 --batch 8 | grep calibrated
"$CALC" tune llama3-8B mi300x --procs 8 --batch 8 --json tune.json >/dev/null
remarks tune.json
"$CALC" why llama3-8B mi300x llama3-8B_8 | head -n 1
"$CALC" why llama3-8B mi300x llama3-8B_8 --json why.json
remarks why.json
"$CALC" run llama3-8B mi300x llama3-8B_8 --json run.json --html run.html >/dev/null
remarks run.json
remarks run.html
echo '{"app": "llama3-8B", "sys": "mi300x", "exe": "llama3-8B_8", "stats": ["total_time"]}' | "$CALC" serve --stdio |
    sed 's/, "stats.*//'
# The contents of a machine without a source, as calc run writes them.
sed -n '/^  "system": {/,/^  }/p' run.json | sed '1s/.*/{/; $s/.*/}/' | tr -d '\n' |
    sed 's/.*/{"app": "llama3-8B", "sys": &, "exe": "llama3-8B_8", "stats": ["total_time"]}/' |
    "$CALC" serve --stdio | sed 's/, "stats.*//'
