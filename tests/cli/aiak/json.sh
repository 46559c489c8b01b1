"$CALC" as aiak --num-gpus 16 --gpu-infos a800:8,h800 --model-name galactica-6.7b --top 2 --format=json
