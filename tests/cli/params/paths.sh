cd "$ROOT" && "$CALC" params models/megatron-*.json
