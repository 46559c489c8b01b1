try() {
    "$CALC" as aiak "$@"
    echo "$*: $?"
}
try --model-name llama3-8b
try --model-name LLAMA-7B
try --num-gpus 0
try --num-gpus 12
try --num-gpus 1048584
try --num-gpus x
try --gpu-infos a100
try --gpu-infos a800,a800
try --gpu-infos a800:0
try --gpu-infos a800:-2
try --gpu-infos a800:8x
try --gpu-infos a800:64,h800:128
try --nproc-per-node 16
try --global-batch-size 1000
try --global-batch-size 1049088
try --global-batch-size 0
try --sequence-length 4000
try --sequence-length 1049088
try --top 0
try --mode slow
try --format csv
try --chip-files a800
try --chip-files h800=h800
try --unknown 1
try 256
