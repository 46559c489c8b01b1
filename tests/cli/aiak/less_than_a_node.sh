# exit 1
"$CALC" as aiak --model-name llama-7b --num-gpus 6 --gpu-infos a800:3,h800:3 --top 1
"$CALC" as aiak --model-name llama-7b --num-gpus 3 --gpu-infos a800
