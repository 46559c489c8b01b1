# exit 3
# A text of which nothing is read is no layout.
try() { # file
    "$CALC" import "$1" | head -n 1
    echo "$1 ${PIPESTATUS[0]}" >&2
}
printf 'root:x:0:0:root:/root:/bin/bash\n' >passwd
printf 'model:\n  tensor_model_parallel_size: 2\n' >either.yaml
printf 'sequences: 4\nwidth: 4096\n' >other.yaml
printf 'model:\n  num_layers: 4\n  depth: 4\n  width: 4\n  name: x\noptim: x\n' >another.yaml
printf 'a: 1\n b: 2\n' >broken.yaml
printf '{"dim": 4096, "n_layers": 32}' >params.json
printf '{"dim": 4096,\n}' >broken.json
printf '{"zero_optimization": {"stage": Infinity}}' >infinite.json
printf '[parallelism]\ndegree = \n' >broken.toml
printf '[[1, 2]]\n' >list.json
printf '\0\1\2\377--\0' >bytes
: >empty
for f in passwd either.yaml other.yaml another.yaml broken.yaml params.json broken.json infinite.json broken.toml list.json bytes empty; do
    try "$f"
done
"$CALC" import --from nemo other.yaml
"$CALC" import -- --rate 3
