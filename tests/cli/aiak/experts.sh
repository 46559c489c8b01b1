# exit 3
"$CALC" as aiak --model-file mixtral-8x7B
