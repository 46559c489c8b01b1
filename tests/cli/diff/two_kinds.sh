# exit 3
"$CALC" diff gpt3-175B a100_80g
