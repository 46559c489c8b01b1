# everything as JSON, of few candidates and a simulated truth
"$CALC" tune llama2-7B a100_80g --procs 8 --batch 64 --axis microbatch_size=1 --candidates 6 --simulate 3 --most 3 \
    --json - --progress none | sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g'
