# An import writes values that depend on others: they follow an assignment, and standard error says so. What is
# assigned, what has no value that follows, and what was wrong before, stays an error.
"$CALC" import --procs 16 --exe e.json -- --tensor-model-parallel-size 8 --sequence-parallel --seq-length 4096 \
    --micro-batch-size 1 --global-batch-size 16 --bf16 --overlap-grad-reduce 2>/dev/null
grep -E 'seq_par_ag_redo|tensor_par_overlap' e.json
"$CALC" run llama2-7B h100_sxm e.json --set recompute=full --json - | grep -o '"seq_par_ag_redo": [a-z]*'
"$CALC" run llama2-7B h100_sxm e.json --set tp=1 --set dp=16 --save-exe - >tp1.json
grep -E 'seq_par_ag_redo|tensor_par_overlap|comm_type' tp1.json
"$CALC" run llama2-7B h100_sxm e.json --set recompute=full --set seq_par_ag_redo=true; echo $?
"$CALC" run llama2-7B h100_sxm e.json --set tp=4; echo $?
"$CALC" run llama2-7B h100_sxm e.json --set recompute=full --set mbs=3; echo $?
sed 's/"activation_recompute": "none"/"activation_recompute": "full"/' e.json >wrong.json
"$CALC" run llama2-7B h100_sxm wrong.json --set mbs=2; echo $?
