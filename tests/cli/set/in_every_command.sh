# Each command takes --set, and the shorter spellings mean the same.
run="llama3-70B h100_sxm llama3-70B_512"
"$CALC" why $run --set tp=8 --set dp=8 --top 1 | head -n 3
"$CALC" show explain tensor_par $run --set tp=8 --set dp=8 | grep value
"$CALC" run $run --set tp=8 --set dp=8 --microbatches 1 --trace trace.json >out && echo traced
"$CALC" export llama3-70B llama3-70B_512 --set tp=8 --set dp=8 | grep -o 'tensor-model-parallel-size [0-9]*'
"$CALC" show params llama3-70B --set num_blocks=40 | sed -n 2p
"$CALC" diff a100_sxm_80g h100_sxm llama3-70B llama3-70B_512 --set tp=8 --set dp=8 --set 'mem1.GiB=80GB' | grep -E 'GiB|data-parallel'
"$CALC" sweep llama3-70B h100_sxm --procs 64 --batch 64 --set tp=8 --set pp=8 --set 'networks[1].bandwidth=400Gb/s' --plan |
    grep -oE 'tensor_par [0-9,]*|pipeline_par [0-9,]*|sys.networks[^;]*'
"$CALC" show params llama3-70B --set tp=8
echo "$?"
"$CALC" diff a100_sxm_80g h100_sxm --set tp=8
echo "$?"
"$CALC" sweep llama3-70B h100_sxm --procs 64 --batch 64 --set tp=1,2
echo "$?"
