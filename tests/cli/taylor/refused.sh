# One line each, and the status.
try() { "$CALC" as "$@"; echo "$? $*"; }
cp "$ROOT/tests/cli/taylor/deepseek3.yaml" a.yaml
try
try tailor
try taylor
try taylor nx
try taylor nd
try taylor nd --yaml_pth a.yaml
try taylor nd -yaml a.yaml
try taylor nd --yaml_path
try taylor nd --yaml_path a.yaml --gbs 0
try taylor nd --yaml_path a.yaml --gbs 1.5
try taylor nd --yaml_path a.yaml --max_cp 2
try taylor nd --yaml_path a.yaml --taylor_compat maybe
try taylor nd --yaml_path a.yaml word
try taylor nd --yaml_path=
try taylor nd --yaml_path none.yaml
try taylor nd --yaml_path a.yaml --system none
try taylor nd --yaml_path a.yaml --dryrun_data_dir none.csv
try taylor nd --yaml_path a.yaml --output_path a.yaml/b
try taylor rank --parser_result none.csv
try taylor rank --yaml_path . --parser_result none.csv
try taylor rank --solver_name QIUQI --parser_result none.csv
try taylor balance
try taylor balance -extract y
try taylor balance -solution x
try taylor balance -yaml a.yaml -layer_ratio x
try taylor balance -yaml a.yaml -t 0
try taylor balance -yaml a.yaml -fit 1
try taylor balance -yaml a.yaml -chek n
printf 'act_mem=1\nact_men=2\nstatic_mem=\n' > terms.txt
try taylor balance -yaml a.yaml --memory_info terms.txt
try taylor balance -extract y -solution a.yaml
sed 's/pipeline_stage: 16/pipeline_stage: 128/' a.yaml > b.yaml
try taylor balance -yaml b.yaml
sed 's/micro_batch_num: 64/micro_batch_num: 8/' a.yaml > b.yaml
try taylor balance -yaml b.yaml
sed 's/expert_parallel: 32/expert_parallel: 48/' a.yaml > b.yaml
try taylor balance -yaml b.yaml
sed 's/num_layers: 61/num_layers: many/' a.yaml > b.yaml
try taylor balance -yaml b.yaml
sed 's/recompute_config:/recompute_config: yes/; /^  .*recompute/d' a.yaml > b.yaml
try taylor balance -yaml b.yaml
printf 'a: [1\n' > b.yaml
try taylor balance -yaml b.yaml
sed '/hidden_size/d; /seq_length/d' a.yaml > b.yaml
try taylor balance -yaml b.yaml
sed 's/pp_interleave_num: 1/pp_interleave_num: 5/' a.yaml > b.yaml
try taylor balance -yaml b.yaml
