# What the data of each page is made of: how often each member comes. A build without D3 has no pages.
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --html page.html > out 2> errors
if grep -q 'built without the library of charts' errors; then
    cat "$ROOT/tests/cli/report/members.stdout"
    exit
fi
members()
{
    echo "$1:"
    "$CALC" "$@" --html page.html > out 2> errors
    sed -n '/id="calc-data"/,/<\/script>/p' page.html | sed 's/"app": {.*//' | sed -n 's/^ \{0,4\}\("[A-Za-z_0-9]*": *[[{]\).*/\1/p' | sort | uniq -c |
        awk '{ printf "%s%s %s", (NR % 8 == 1 ? "\n" : ", "), $2 $3, $1 } END { print "" }'
}
members run llama3-405B h100_sxm llama3-405B_8192
members sweep gpt3-13B a100_80g --procs 8 --batch 8 --axis microbatch_size=1 --no-prune --progress none --threads 1 --top 2
members plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs 16 --batch 32 --axis pp=4 --axis tp=4 --axis microbatch_size=1 \
    --axis pipeline_interleaving=1 --set num_blocks=8 --time-limit 1000 --progress none
members tune llama2-7B a100_80g --procs 8 --batch 64 --axis microbatch_size=1 --candidates 6 --simulate 3 --most 3 --progress none
