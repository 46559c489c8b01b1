# A side that does not fit is an answer with its verdict, not an error.
sed 's/"GiB": 80/"GiB": 12/' "$ROOT/systems/a100_80g.json" > small.json
sed 's/"pipeline_interleaving": 1/"pipeline_interleaving": 4/' "$ROOT/executions/3072_t4_p64_d12_mbs4_full.json" > more.json
layout='gpt3-175B 3072_t4_p64_d12_mbs4_full'
# shellcheck disable=SC2086
{
    "$CALC" diff a100_80g small.json $layout
    "$CALC" diff small.json a100_80g $layout | grep verdict
    "$CALC" diff small.json small.json $layout
    "$CALC" diff 3072_t4_p64_d12_mbs4_full more.json gpt3-175B a100_80g | head -20 # chunks without blocks have no time
}
