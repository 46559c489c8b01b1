# The exporter needs the machine to complete a layout, and settles "auto" with it.
echo '{"tensor_par": 8, "pipeline_par": 2, "batch_size": 64}' >short.json
"$CALC" export --to megatron llama3-70B h100_sxm short.json --procs 64 | grep -E -- '--(tensor|pipeline)-model|nnodes|global'
"$CALC" export --to megatron llama3-70B h100_sxm --procs 64 --batch 512 --set tp=8 | grep -E -- '--(tensor|pipeline)-model|nnodes|global'
"$CALC" export --to megatron llama3-70B h100_sxm llama3-70B_512 --set dp=auto | grep -E -- "nnodes"
"$CALC" export --to megatron llama3-70B short.json; echo $?
"$CALC" export --to megatron llama3-70B llama3-70B_512 --procs 64; echo $?
