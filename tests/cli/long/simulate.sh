# a simulated truth: what is found, and the same for the same seed
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none "$@"; }
tune --simulate 1 >a.txt
tune --simulate 1 --threads 1 | cmp - a.txt && echo same
tune --simulate 2 | cmp -s - a.txt || echo different
tune --simulate 1 --seed 7 | cmp -s - a.txt || echo different
for seed in 1 2 3 4 5; do
    tune --simulate $seed --json - | sed -n 's/.*"regret": \([0-9.e-]*\).*/\1/p'
done | awk '{ n++; bad += $1 > 0.03 } END { print n, "truths,", bad, "missed by more than 3 %" }'
tune --simulate 1 --chooser order --most 4 --json t.json >t.txt
grep -c '"outcome"' t.json
tail -1 t.txt | sed 's/is .* slower/is X slower/'
ls
