"$CALC" as aiak --model-name llama-7b --num-gpus 4 --gpu-infos h100 --top 1
