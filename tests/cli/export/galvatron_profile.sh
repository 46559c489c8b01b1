# Profiles without a GPU: all files, or none.
"$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --per-node 2 --set app.seq_size=512 --out profiles || exit
ls profiles
cat profiles/computation_profiling_bf16_llama2-7B_all.json profiles/p2p_bandwidth_1nodes_2gpus_per_node.json
cat profiles/overlap_coefficient.json
