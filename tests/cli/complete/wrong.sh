# A mistake is an error by itself: the fields that are left out are none.
echo '{"tensor_pra": 8, "pipeline_par": "2", "batch_size": 64}' >wrong.json
"$CALC" run llama3-70B h100_sxm wrong.json; echo $?
"$CALC" run llama3-70B h100_sxm --procs 64; echo $?
"$CALC" run llama3-70B h100_sxm --procs 64 --batch 64 --set tp=x; echo $?
"$CALC" run llama3-70B h100_sxm --procs 64 --batch 64 --set tp=3; echo $?
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --procs 64; echo $?
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --batch 64; echo $?
"$CALC" run llama3-70B h100_sxm --procs 64 --batch 64 --set stages=40,40; echo $?
echo '{"tensor_par": [1, 2], "pipeline_par": 2, "batch_size": 64, "num_procs": 64}' >space.json
"$CALC" run llama3-70B h100_sxm space.json; echo $?
"$CALC" run llama3-70B h100_sxm llama3-8B; echo $?
"$CALC" run --trace - llama3-70B h100_sxm space.json 2>&1 | tail -1
