"$CALC" as aiak --model-name llama2-13b --num-gpus 64 --gpu-infos h800:32,a800 >omitted
"$CALC" as aiak --model-name llama2-13b --num-gpus 64 --gpu-infos h800:32,a800:-1 >minus
cmp omitted minus && wc -l <minus
