# each wrong value ends in one line that names it
for words in "--out x.txt" "--out nowhere/x.json" "--top x" "--top-by nothing" "--threads 0" "--verify 2" \
    "--per x" "--where mem9<3" "--axis foo=1" "--axis tensor_par=x" "--procs x" "--batch 0" \
    "--time-limit 0" "--out - --summary -" "--objectives sample_rate,mem1,mem2,total_time,mem1"; do
    # shellcheck disable=SC2086
    "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 $words
    echo "$words: $?" >&2
done
ls -A
