# exit 1
"$CALC" as aiak --model-name llama-7b --num-gpus 8192 --global-batch-size 512
