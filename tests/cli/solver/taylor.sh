# Taylor's GLPK: a pipeline whose optimum is published, 112.2
command -v glpsol > /dev/null || { echo "glpsol is not installed"; exit 77; }
sed 's/55GB/50GB/; s/pipeline_stage: 16/pipeline_stage: 4/; s/pp_interleave_num: 1/pp_interleave_num: 1/
    s/micro_batch_num: 64/micro_batch_num: 8/; s/first_k_dense_replace: 3/first_k_dense_replace: 1/
    s/num_layers: 61/num_layers: 12/; s/mtp_depth: 1/mtp_depth: 0/; s/expert_parallel: 32/expert_parallel: 1/
    s/data_parallel: &dp 16/data_parallel: 1/; s/model_parallel: 4/model_parallel: 1/' \
    "$ROOT/tests/cli/taylor/deepseek3.yaml" > a.yaml
printf '%s\n' static_mem0=29200 static_mem=27200 lm_head_mem=31200 layer_mem=3000 act_mem=800 select_mem=500 \
    re_comp_mem=50 layer_mem012=1000 act_mem12=500 select_mem12=500 re_comp_mem12=50 > terms.txt
"$CALC" as taylor balance -yaml a.yaml --memory_info terms.txt -check n --write n -layer_ratio .4 -solver GLPK | grep step
