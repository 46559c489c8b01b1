# An uneven layout is a list; so are offsets, with the blocks that recompute.
"$CALC" import -- --num-layers 80 --pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Et*9|t*22|(t*24|)*1t*25L' --bf16 | grep stages
printf '%s\n' 'parallel_config: {pipeline_stage: 2, data_parallel: 1, model_parallel: 1, micro_batch_num: 4}' \
    'model: {model_config: {num_hidden_layers: 10, pp_interleave_num: 2, offset: [[0, 0], [1, 1]]}}' \
    'recompute_config: {recompute: [[2, 2], [3, 1]]}' | "$CALC" import --from mindformers - | grep stages
