# Without a file; the spelling of earlier releases too.
P="$ROOT/tests/galvatron/profiles"
"$CALC" as galvatron search --model_size llama2-7b --hidden_size 4096 --num_hidden_layers 32 --seq_length 2048 \
    --num_nodes 1 --num_gpus_per_node 8 --memory_constraint 36 --min_bsz 16 --max_bsz 16 --bsz_scale 8 --settle_bsz -1 \
    --default_dp_type zero2 --pipeline_type pipedream_flush --time_profile_mode batch --disable_sdp 0 --max_tp_deg=8 \
    --time_profiling_path "$P/shipped_llama2-7b/computation_profiling_bf16_llama2-7b_all.json" \
    --memory_profiling_path "$P/shipped_llama2-7b" --allreduce_bandwidth_config_path "$P/shipped_hardware" \
    --p2p_bandwidth_config_path "$P/shipped_hardware" --overlap_coe_path "$P/shipped_hardware" \
    --sp_time_path "$P/shipped_hardware" --output_config_path a/b --parallel_search --disable_cp 1 --fine_grained_mode 1 |
    sed 's/; [0-9]* of [0-9]* tasks solved//'
ls a/b
