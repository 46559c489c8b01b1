# exit 2
# Four racks of 72 with another network: which number goes where, and what if there are too few processors?
"$CALC" run llama3-70B gb200_nvl72 llama3-70B_512 --set num_procs=auto --set data_par=8 --set batch_size=64 \
    --set 'networks[1].bandwidth=800Gb/s' --set 'networks[1].latency=10us' --set 'networks[1].size=288' \
    --save-sys mine.json > /dev/null
grep -A 3 '"bandwidth": 100' mine.json
"$CALC" show explain latency | sed -n '2,3p'
"$CALC" show fields sys | grep -E '^(networks\[\]\.)?ranks_per_node|ranks_per_node'
"$CALC" sweep llama3-70B mine.json --procs 576 --batch 1152 2>&1 > /dev/null
"$CALC" sweep llama3-70B mine.json --procs 288 --batch 1152 --top 2 | sed -n '/Best by/,/^$/p'
"$CALC" run llama3-70B mine.json llama3-70B_512 --set "networks[1].latency=10uss" 2>&1
