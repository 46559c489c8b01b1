# a time limit ends with what is known, and says so
"$CALC" sweep gpt3-175B h100_80g_nvl8 --procs 8:8192:8 --batch 2340 --no-prune --objectives sample_rate \
    --time-limit 0.001 --summary summary.json --out out.json 2> said | grep -o 'so far: the sweep is partial'
sed 's/after [0-9]* %/after SOME %/' said
grep partial summary.json out.json
