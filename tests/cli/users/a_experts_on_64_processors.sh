# Qwen3-30B-A3B, 64 H200, sequences of 32 Ki tokens, 4 Mi tokens a step: which layout, and does it start?
"$CALC" show params qwen3-30B 2>&1
"$CALC" sweep qwen3-30B-A3B h200 --procs 64 --batch 4Mitokens --axis seq_size=32768 --top 3 --save-best best.json |
    sed -n '/Best by/,/^$/p'
echo "the same, said of the model:"
"$CALC" sweep qwen3-30B-A3B h200 --procs 64 --batch 4Mitokens --axis app.seq_size=32768 --top 3 | sed -n '/^ *#/,/^$/p'
"$CALC" run qwen3-30B-A3B h200 best.json --band | grep -A 2 -E '^Band'
echo "nothing is dispatched: $("$CALC" why qwen3-30B-A3B h200 best.json | grep -c dispatch) changes of it"
"$CALC" export qwen3-30B-A3B best.json --out train.sh && grep -E -- '--(tensor|pipeline|context|expert)-' train.sh
