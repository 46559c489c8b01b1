# no plan is slower than the best of a sweep of the same space: dense, with experts, with multi-token prediction, and
# 126 and 94 blocks, which the chunks of 16 and 8 stages divide if embedding and head count as blocks
time_of() { grep -m 1 -o '"total_time": [0-9.e+-]*' | cut -d ' ' -f 2; }
while read -r app system procs batch axes; do
    # shellcheck disable=SC2086
    "$CALC" sweep "$app" "$system" --procs "$procs" --batch "$batch" --top 1 --progress none --save-best swept.json \
        $axes >swept.txt
    swept=$("$CALC" run "$app" "$system" swept.json --json - | time_of)
    for top in 1 3; do
        # shellcheck disable=SC2086
        planned=$("$CALC" plan "$app" "$system" --procs "$procs" --batch "$batch" --top $top --all-memory \
            --time-limit 1000 --progress none --out - $axes | sed -n '/"found"/,$p' | time_of)
        awk -v a="$planned" -v b="$swept" -v name="$app" 'BEGIN {
            print name ": " (a > 0 && a <= b * (1 + 1e-12) ? "not behind" : "behind, " a " and " b) }'
    done
done <<'LINES'
llama3-8B h100_sxm 64 256 --axis tp=2 --axis pp=4 --axis microbatch_size=1
llama3-405B h100_sxm 16384 2048 --axis tp=8 --axis pp=16 --axis microbatch_size=1
mixtral-8x7B h100_sxm 64 256 --axis tp=2 --axis pp=4 --axis ep=8 --axis microbatch_size=1
qwen3-235B-A22B h200 256 1024 --axis tp=1 --axis pp=8 --axis ep=8 --axis microbatch_size=1 --axis pipeline_interleaving=4,12
deepseek-v3-671B h800 1024 4096 --axis tp=2 --axis pp=16 --axis ep=32 --axis microbatch_size=1 --axis pipeline_interleaving=1,3
LINES
