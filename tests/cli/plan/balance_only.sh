# exit 3
# one layout: its own stages are all alike
"$CALC" plan llama2-70B h800 --balance-only llama3-70B_512 --set num_blocks=13 --set pipeline_interleaving=1 \
    --set context_par=1 --set num_procs=256 --time-limit 1000 --progress none
"$CALC" plan llama2-70B h800 --balance-only llama3-70B_512 --set num_blocks=13 --set weight_offload=true
