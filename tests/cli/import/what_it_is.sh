# Which framework's file it is, its keys say.
try() { # file
    "$CALC" import "$1" --procs 8 2>err | grep -E '"(tensor_par|zero_stage|datatype)"' | tr -d '\n'
    echo "  $1 ${PIPESTATUS[0]}"
    cat err
}
printf '[parallelism]\ntensor_parallel_degree = 2\n' >titan.toml
printf 'parallelism.tensor_parallel_degree = 2 # dotted\n' >dotted.toml
printf '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}, "none": [0.0, Infinity, NaN]}' >ds.json
printf '{"tensor_parallel_degree": 2, "bf16": true}' >paddle.json
printf 'trainer:\n  num_nodes: 1\nmodel:\n  tensor_model_parallel_size: 2\n' >nemo.yaml
printf 'train:\n  micro_batch_size: 1\nmodel:\n  tensor_model_parallel_size: 2\n' >bridge.yaml
printf 'parallel_config:\n  model_parallel: 2\n' >former.yaml
printf 'torchrun pretrain_gpt.py --tensor-model-parallel-size 2\n' >megatron.sh
printf 'torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --use-ascend-mc2\n' >mindspeed.sh
for f in titan.toml dotted.toml ds.json paddle.json nemo.yaml bridge.yaml former.yaml megatron.sh mindspeed.sh; do
    try "$f"
done
