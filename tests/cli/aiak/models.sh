# All of its models, on as many processors as they need.
small="llama-7b llama2-7b llama2-13b llama2-35b galactica-6.7b galactica-30b"
large="llama-65b llama2-70b glm-67b glm-130b galactica-120b"
for model in $small $large llama-175b llama-540b llama-1800b; do
    gpus=256
    [[ $small == *$model* ]] && gpus=64
    [[ $model == llama-540b || $model == llama-1800b ]] && gpus=4096
    "$CALC" as aiak --model-name $model --num-gpus $gpus --gpu-infos h800 --top 1 |
        sed -E "s/^.*'sim_throughput': ([0-9]+).*'pipeline-model-parallel-size': ([0-9]+), 'tensor-model-parallel-size': ([0-9]+).*/$model \1 tokens\/s, pipeline \2, tensor \3/"
done
