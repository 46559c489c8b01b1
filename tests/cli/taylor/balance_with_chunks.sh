sed 's/pp_interleave_num: 1/pp_interleave_num: 2/; s/pipeline_stage: 16/pipeline_stage: 4/; s/expert_parallel: 32/expert_parallel: 64/; s/num_layers: 61/num_layers: 15/; s/micro_batch_num: 64/micro_batch_num: 16/' "$ROOT/tests/cli/taylor/deepseek3.yaml" > a.yaml
"$CALC" as taylor balance -yaml a.yaml --write no
"$CALC" as taylor balance -yaml a.yaml --low_mem yes --write no | grep -E '^step'
ENABLE_LESS_MEM_VPP=1 "$CALC" as taylor balance -yaml a.yaml --write no | grep -E '^step'
