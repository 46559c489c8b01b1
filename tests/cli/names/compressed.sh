mkdir -p own/models && gzip -c "$ROOT/models/gpt3-175B.json" >own/models/mine.json.gz
CALC_PATH=own "$CALC" show params mine
