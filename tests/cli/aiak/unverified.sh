"$CALC" as aiak --model-name llama2-7b --num-gpus 8 --gpu-infos kunlun3 --top 1
"$CALC" as aiak --model-name llama2-7b --num-gpus 8 --gpu-infos kunlun3 --chip-files kunlun3=ascend_910b --top 1 >own
"$CALC" as aiak --model-name llama2-7b --num-gpus 8 --gpu-infos ascend_910b --top 1 | sed s/ascend_910b/kunlun3/g | cmp - own && echo the same
