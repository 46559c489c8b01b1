# calc run of the best takes what the plan says, to the last digit: the file says which chips it is for, in one stage
# list with four of them, and as the one that all stages are on; on another it does not run
plan() {
    "$CALC" plan llama2-70B "$@" --batch 32 --axis tp=4 --axis microbatch_size=1 --axis pipeline_interleaving=1 \
        --set num_blocks=8 --time-limit 1000 --progress none --save-best best.json --out all.json >table.txt
}
compare() { # name of the system to run it on, if any
    "$CALC" run llama2-70B ${1:+"$1"} best.json --set num_blocks=8 --json - >run.json
    for key in total_time proc_mem_tier1_cap_req; do
        grep -m 1 "\"$key\"" all.json | tr -d ' ,' >planned
        grep -m 1 "\"$key\"" run.json | tr -d ' ,' | diff planned - && echo "${1:-no system}: same $key"
    done
}
plan a800,h800 --chips a800:8,h800:8 --procs 16
compare h800
compare a800
grep '"stages"' best.json
plan a800,h800 --chips a800:8,h800:8 --procs 8
grep 'run it' table.txt
compare h800
grep '"stages"' best.json
"$CALC" run llama2-70B a800 best.json --set num_blocks=8
echo "$?"
"$CALC" why llama2-70B a800 best.json --set num_blocks=8
echo "$?"
"$CALC" export llama2-70B best.json --set num_blocks=8 >script.sh 2>remarks.txt && grep -c system remarks.txt
"$CALC" diff best.json "$ROOT"/executions/llama3-70B_512.json | grep stages
plan a800,h800,h100_sxm,ascend_910b --chips a800:4,h800:4,h100_sxm:4,ascend_910b:4 --procs 16
compare a800
compare h100_sxm
grep -o '"system": .*\]' best.json
compare ""
plan h800 --procs 8
compare ""
grep '"stages"' best.json
