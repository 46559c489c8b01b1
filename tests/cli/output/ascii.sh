# Without UTF-8 no byte beyond ASCII, whatever is asked; with it some.
export LC_ALL=C
run='gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full'
modern='deepseek-v3-671B h800 deepseek-v3_2048'
all()
{
    "$CALC" run $run --plot --layers
    "$CALC" run $modern --plot --schedule exact --color always
    "$CALC" run $run --set mem1.GiB=1
    "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --plot --progress plain
    "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --plan
    "$CALC" validate
    "$CALC" why $run
    "$CALC" why $modern
    "$CALC" diff h100_sxm h800
    "$CALC" diff $run --set tensor_par=8
    "$CALC" show params
    "$CALC" show fields app
    "$CALC" help
    "$CALC" no-such-command
    "$CALC" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | while read -r command; do "$CALC" help "$command"; done
    "$CALC" show fields stats | sed -n 's/^  \([a-z0-9_]*\) .*/\1/p' | head -n 150 | while read -r name; do
        "$CALC" show explain "$name" $run
    done
} 2>&1
all > text
[ "$(wc -l < text)" -gt 1500 ] || echo "only $(wc -l < text) lines"
grep -nP '[\x80-\xff]' text
LC_ALL=C.UTF-8 "$CALC" run $run --plot | grep -cP '[\x80-\xff]' | grep -qx 0 && echo "no UTF-8"
echo done
