# The example of AIAK's documentation.
"$CALC" as aiak --model-name llama2-70b --num-gpus 256 --nproc-per-node 8 --gpu-infos a800 --global-batch-size 512 --sequence-length 4096 --top 3
ls
