sed 's/{/{ "structure_type": "llama",/' "$ROOT/models/gpt3-175B.json" >llama.json
"$CALC" show params llama.json
