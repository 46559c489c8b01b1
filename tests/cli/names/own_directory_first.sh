mkdir -p own/models && sed 's/"hidden": 12288/"hidden": 6144/' "$ROOT/models/gpt3-175B.json" >own/models/gpt3-175B.json
CALC_PATH=own "$CALC" show params gpt3-175B
CALC_PATH=none:own:$ROOT "$CALC" show params gpt3-175B
CALC_PATH=$ROOT:own "$CALC" show params gpt3-175B
