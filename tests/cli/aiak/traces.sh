# exit 4
"$CALC" as aiak --model-name llama-7b --num-gpus 64 --gpu-infos a800:32,h800:32 --mode analytic --top 2 >/dev/null
ls cache
"$CALC" as aiak --model-name llama-7b --num-gpus 8 --global-batch-size 1048576 --sequence-length 512 --mode analytic --top 1
rm -r cache && : >cache
"$CALC" as aiak --num-gpus 64 --mode analytic --top 1
