# exit 2
P="$ROOT/tests/galvatron/profiles"
search() {
    "$CALC" as galvatron-paddle --hidden_size_list 4096 --layernum_list 32 --seqlen_list 2048 --time_profile_mode batch \
        --time_profile_data_path "$P/shipped_llama2-7b/computation_profiling_bf16_llama2-7b_all.json" \
        --memory_profile_data_path "$P/shipped_llama2-7b/memory_profiling_bf16_llama2-7b_all.json" \
        --overlap_coe_path "$P/shipped_hardware/overlap_coefficient.json" \
        --allreduce_coe_path "$P/shipped_hardware/allreduce_bandwidth_1nodes_8gpus_per_node.json" \
        --p2p_coe_path "$P/shipped_hardware/p2p_bandwidth_1nodes_8gpus_per_node.json" \
        --sp_time_path "$P/shipped_hardware/sp_time_1nodes_8gpus_per_node.json" \
        --world_size 8 --min_bsz 64 --max_bsz 64 "$@" |
        sed -e 's/; [0-9]* of [0-9]* tasks solved//' -e '/"solved"/d'
}
search --memory_upper_limit 60 --sp_space tp+sp
cat configs/fine_grained_config.json
search --memory_upper_limit 80 --search_granularity coarse-grained --output_path out
search --memory_upper_limit 60 --format json | head -n 8
search --memory_upper_limit 24 --log_dir logs
search --profile_gpu_num 16
search --layernum 31
search --num_layertype 2
search --world_size 12
search --sp_space sp
search --hidden_size_list 0
"$CALC" as galvatron-paddle
