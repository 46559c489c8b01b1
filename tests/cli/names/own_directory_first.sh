mkdir -p own/models && sed 's/"hidden": 12288/"hidden": 6144/' "$ROOT/models/gpt3-175B.json" >own/models/gpt3-175B.json
CALC_PATH=own "$CALC" params gpt3-175B
CALC_PATH=none:own:$ROOT "$CALC" params gpt3-175B
CALC_PATH=$ROOT:own "$CALC" params gpt3-175B
