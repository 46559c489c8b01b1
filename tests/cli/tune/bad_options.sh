# each wrong value, and each question that calc tune does not answer, ends in one line
set -f
while read -r line; do
    # shellcheck disable=SC2086
    eval "set -- $line"
    "$CALC" tune "$@" --progress none
    echo "$line: $?" >&2
done <<'LINES'
llama2-7B
llama2-7B a100_sxm_40g
llama2-7B a100_sxm_40g --procs 8
llama2-7B a100_sxm_40g --procs 8,16 --batch 64
llama2-7B a100_sxm_40g --procs 8 --axis batch=32,64
llama2-7B a100_sxm_40g --procs 8 --batch 64 --axis seq_size=1024,2048
llama2-7B,llama2-13B a100_sxm_40g --procs 8 --batch 64
llama2-7B a100_sxm_40g,h100_sxm --procs 8 --batch 64
llama2-7B a100_sxm_40g --procs 8 --batch 64 --axis sys.mem1.GiB=40,80
llama2-7B a100_sxm_40g --procs 8 --batch 64 --set training=false
llama2-7B a100_sxm_40g --procs 8 --batch 64 --candidates 0
llama2-7B a100_sxm_40g --procs 8 --batch 64 --candidates 1e9
llama2-7B a100_sxm_40g --procs 8 --batch 64 --chooser best
llama2-7B a100_sxm_40g --procs 8 --batch 64 --memory all
llama2-7B a100_sxm_40g --procs 8 --batch 64 --worth 2
llama2-7B a100_sxm_40g --procs 8 --batch 64 --stop x
llama2-7B a100_sxm_40g --procs 8 --batch 64 --noise -1%
llama2-7B a100_sxm_40g --procs 8 --batch 64 --picks 65
llama2-7B a100_sxm_40g --procs 8 --batch 64 --draws 1
llama2-7B a100_sxm_40g --procs 8 --batch 64 --seed x
llama2-7B a100_sxm_40g --procs 8 --batch 64 --simulate x
llama2-7B a100_sxm_40g --procs 8 --batch 64 --measured x.csv --command './launch.sh {exe}' --timeout 5kg
llama2-7B a100_sxm_40g --procs 8 --batch 64 --command './launch.sh {exe}'
llama2-7B a100_sxm_40g --procs 8 --batch 64 --measured - --command './launch.sh {exe}'
llama2-7B a100_sxm_40g --procs 8 --batch 64 --measured x.csv --command ./launch.sh
llama2-7B a100_sxm_40g --procs 8 --batch 64 --next --simulate 1
llama2-7B a100_sxm_40g --procs 8 --batch 64 --measured x.csv --simulate 1
llama2-7B a100_sxm_40g --procs 8 --batch 64 --json - --csv -
llama2-7B a100_sxm_40g --procs 8 --batch 64 --json - --next
llama2-7B a100_sxm_40g --procs 8 --batch 64 --out nothing/here
llama2-7B a100_sxm_40g --procs 8 --batch 64 --set mem1.GiB=1
llama2-7B a100_sxm_40g --procs 8 --batch 64,128
llama2-7B a100_sxm_40g --procs 8,16 --batch 64
llama2-7B a100_sxm_40g --procs 8 --batch 64 --axis seq_size=1024,2048
llama2-7B,llama2-13B a100_sxm_40g --procs 8 --batch 64
LINES
ls -A
