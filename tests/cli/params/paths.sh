cd "$ROOT" && "$CALC" show params models/megatron-{126M,1T,22B,40B,5B}.json
