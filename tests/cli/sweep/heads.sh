
# A word over a column of a field is a name of it, wherever fields are named ("batch" is of two: it is asked about); heads with a unit or of several fields are not.
export COLUMNS=400
heads() { "$CALC" sweep "$@" --top 2 --progress none 2>&1 | grep '^ *# ' | sed 's/  */\n/g' | sed '/^#*$/d'; }
{
    heads qwen3-30B h100_sxm --batch 64 --axis procs=8,16 --axis il=1,2 --axis schedule=1f1b,zb_h1 --axis modules=core_attn,mlp \
        --axis recompute=none,modules --axis zero=0,1 --axis etp=1,2 --columns procs,cp,ep,etp,batch,mbs,il,zero,recompute,modules,schedule,balance,comm
    heads llama3-8B h100_sxm --procs 8 --set phase=serve --set isl=1000 --set osl=200 --axis requests=16,32 --axis chunk=256,512 \
        --columns tok/s/proc,tok/s/user,USD/Mtok,requests,chunk,phase,prefill
} | sort -u | while read -r head; do
    echo "$head: $("$CALC" show explain "$head" 2>&1 | sed -n 2p)"
done
"$CALC" sweep llama3-8B h100_sxm --procs 8 --set phase=serve --set isl=1000 --set osl=200 --set requests=16 --axis chunk=256,512 \
    --where 'chunk < 300' --where 'tok/s/user >= 50' --top 1 --columns chunk --progress none 2>&1 | grep -A1 '^#'
