# exit 3
cd "$ROOT" && "$CALC" run models/gpt3-175B.json executions/3072_t4_p64_d12_mbs4_full.json systems/a100_80g.json
