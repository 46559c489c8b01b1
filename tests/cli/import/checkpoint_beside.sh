# The Model Optimizer writes the formats beside the configuration; experts in 4 bits, attention not.
cp "$ROOT/tests/formats/hf/qwen3-235b-a22b.json" config.json
cat >hf_quant_config.json <<'EOF'
{
  "producer": {"name": "modelopt", "version": "0.33.0"},
  "quantization": {
    "quant_algo": "NVFP4",
    "kv_cache_quant_algo": "FP8",
    "group_size": 16,
    "exclude_modules": ["model.layers.0.self_attn*", "model.layers.0.mlp.gate", "lm_head"]
  }
}
EOF
"$CALC" import config.json --app model.json && grep -A 6 checkpoint model.json
"$CALC" show params config.json >/dev/null
"$CALC" import - <config.json --app model.json && ! grep checkpoint model.json
