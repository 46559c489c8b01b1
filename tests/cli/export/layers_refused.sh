# exit 1
# What a framework cannot say of a part is a reason, by the part's name.
D=$ROOT/tests/cli/export
cat >llama4.json <<'END'
{"hidden": 5120, "seq_size": 4096, "num_blocks": 48, "attn_heads": 40, "kv_heads": 8, "attn_size": 128, "feedforward": 16384, "structure_type": "llama",
 "causal": true, "vocab_size": 202048, "num_experts": 128, "experts_per_token": 1, "expert_feedforward": 8192, "shared_feedforward": 8192,
 "parts": {"chunked": {"type": "attention", "chunk_size": 2048}, "nope": {"type": "attention", "position_type": "none"}},
 "layers": "12x(chunked+mlp chunked+moe chunked+mlp nope+moe)"}
END
"$CALC" export --to mindspeed "$D/qwen3_next.app.json" "$D/layers.exe.json"
"$CALC" export --to megatron-bridge "$D/qwen3_next.app.json" "$D/layers.exe.json" --set tp=8 --set dp=2
"$CALC" export --to galvatron-profile "$D/qwen3_next.app.json" h100_sxm --out profile
"$CALC" export llama4.json "$D/layers.exe.json"
