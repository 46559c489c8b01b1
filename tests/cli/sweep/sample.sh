# random layouts: the same for the same seed, shares of the verdicts, quantiles of an objective
"$CALC" sweep gpt3-13B a100_80g --procs 64 --batch 256 --sample 2000 --seed 3
"$CALC" sweep gpt3-13B a100_80g --procs 64 --batch 256 --sample 2000 --seed 3 --top-by mem1 | tail -4
"$CALC" sweep gpt3-13B a100_80g --procs 64 --batch 256 --sample 0 2>&1 | head -1
