# each bad row is one clear line
# shellcheck disable=SC2059
"$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --next --chooser order --progress none | cut -d' ' -f1 >id
id=$(cat id)
sed 's/"num_procs": 8/"num_procs": 16/; s/"data_par": 4/"data_par": 8/' "tune/$id.json" >other.json
sed 's/"microbatch_size": [0-9]*/"microbatch_size": 7/' "tune/$id.json" >odd.json
cp tune/"$id".json tune/0123abcd.json
try() {
    printf "$@" >runs.csv
    "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --candidates 50 --progress none --measured runs.csv >/dev/null
    echo "$?" >&2
}
try 'layout,step_s\n%s,x\n' "$id"
try 'layout,step_s\n%s,1.5kg\n' "$id"
try 'layout,step_s\n%s,-1\n' "$id"
try 'layout,step_s,memory_gib\n%s,1,61s\n' "$id"
try 'layout,step_s,outcome\n%s,1,fine\n' "$id"
try 'layout,step_s,outcome\n%s,1,oom\n' "$id"
try 'layout,step_s\n%s,\n' "$id"
try 'layout,step_s\n,1\n'
try 'layout,step_s\n00000000,1\n'
try 'layout,step_s\n../../etc,1\n'
try 'layout,step_s\n%.4s,1\n' "$id"
try 'layout,step_s\n0123abcd,1\n'
try 'id,layout,step_s\na,%s,1\nb,%s,1\na,%s,1\n' "$id" "$id" "$id"
try 'exe,step_s\nnothing.json,1\n'
try 'exe,step_s\nother.json,1\n'
try 'exe,step_s\nodd.json,1\n'
try 'exe,layout,step_s\nx.json,%s,1\n' "$id"
try 'layout,time\n%s,1\n' "$id"
try 'layout,step_s\n%s,1,2\n' "$id"
try ''
rm runs.csv
"$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none --measured runs.csv
echo "$?" >&2
