# One shard in float32 unless the file trains in bfloat16; experts split over the ranks of tensor
# parallelism where none are theirs.
cat >titan.toml <<'END'
[model]
name = "deepseek_v3"
flavor = "236B"
[training]
seq_len = 4096
dtype = "float32"
[parallelism]
tensor_parallel_degree = 8
expert_parallel_degree = 1
expert_tensor_parallel_degree = 1
END
fields() { grep -E '"(datatype|weight|master|grad_data|optimizer_mom|expert)' | sed 's/,$//'; }
"$CALC" import --from torchtitan --procs 64 titan.toml | fields
sed -i -e 's/float32/bfloat16/' -e 's/expert_parallel_degree = 1/expert_parallel_degree = 8/' titan.toml
"$CALC" import --from torchtitan --procs 64 titan.toml | fields
