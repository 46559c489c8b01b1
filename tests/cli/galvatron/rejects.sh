try() {
    "$CALC" as galvatron search "$@"
    echo "$*: $?"
}
args="$ROOT/tests/galvatron/02_llama2-7b_1x8_24G_bsz64/args.json"
try
try none.json
try "$args" "$args"
try "$args" --num_node 1
try "$args" --num_nodes 3
try "$args" --num_nodes 0
try "$args" --settle_bsz 0
try "$args" --settle_bsz 64 --settle_chunk 3
try "$args" --max_bsz 4
try "$args" --sequence_parallel 0
try "$args" --time_profile_mode hybrid
try "$args" --default_dp_type zero3
try "$args" --disable_tp yes
try "$args" --memory_constraint
try "$args" --compat --memory_constraint 23.5
try "$args" --format csv
try "$args" --model llama2-7B
try "$args" --model nobody --system nowhere
try "$args" --num_nodes 4
try "$args" --seq_length 4096
try "$args" --max_tp_deg -2
printf 'search_engine:\n  hardware_info:\n    num_node: 1\n  batch_info: {}\n' >bad.yaml
try bad.yaml
printf 'search_engine: {hardware_info: {num_nodes: many}}\n' >bad.yaml
try bad.yaml
printf 'search_engine:\n  0.5: {}\n  hardware_info:\n    num_nodes: 1\n' >bad.yaml
try bad.yaml
printf '[1]\n' >bad.yaml
try bad.yaml
: >blocked
try "$args" --output_config_path blocked
