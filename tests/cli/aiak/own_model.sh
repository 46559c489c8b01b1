# exit 3
"$CALC" as aiak --model-file llama3-8B --num-gpus 64 --gpu-infos h100 --top 1
"$CALC" as aiak --model-file ./none.json
