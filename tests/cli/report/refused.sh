# One clear line for what is no result, or not one of this calc; an old page stays.
run='gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full'
"$CALC" report $run > page 2> errors
if grep -q 'built without the library of charts' errors; then
    cat "$ROOT/tests/cli/report/refused.stderr" >&2
    cat "$ROOT/tests/cli/report/refused.stdout"
    exit
fi
"$CALC" run $run --json run.json > out
"$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --no-prune --out sweep.json --summary counts.json --progress none > out
try()
{
    echo old > page.html
    "$CALC" report "$@" --out page.html
    echo "$? $(cat page.html)"
}
try counts.json
try run.json counts.json
try sweep.json sweep.json
try run.json run.json
try none.json
try "$ROOT/models/gpt3-175B.json"
try "$ROOT/README.md"
sed 's/"total_time": /"total_time": 1/' run.json > changed.json && try changed.json
sed 's/"total_time": .*/"total_time": "long",/' run.json > changed.json && try changed.json
sed '/"total_time": /d' run.json > changed.json && try changed.json
sed 's/"tensor_par": 4/"tensor_par": -4/' run.json > changed.json && try changed.json
sed 's/"tensor_par": 4/"tensor_par": 8/' run.json > changed.json && try changed.json
head -c 2254 run.json > changed.json && try changed.json
"$CALC" plan llama2-70B h100_sxm --procs 16 --batch 16 --axis pp=4 --axis tp=4 --set num_blocks=8 --top 1 --time-limit 1000 \
    --progress none --out plan.json > out
try plan.json run.json
sed 's/"machines": /"machine": /' plan.json > changed.json && try changed.json
sed 's/"tensor_par": 4/"tensor_par": 8/' plan.json > changed.json && try changed.json
sed 's/"tokens_per_s": /"tokens_per_s": 1/' plan.json > changed.json && try changed.json
try sweep.json --set tensor_par=8
# A byte order mark is no part of the page.
{ printf '\xef\xbb\xbf'; cat sweep.json; } > marked.json
"$CALC" report marked.json --out page.html
echo "$? $(grep -o '"written": [^\n]' page.html | tail -1)"
try - -
try a b c d
try
