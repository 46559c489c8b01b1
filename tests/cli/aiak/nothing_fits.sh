# exit 1
"$CALC" as aiak --model-name llama-1800b --num-gpus 64
