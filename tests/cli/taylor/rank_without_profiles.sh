# Times by calc's model, too.
"$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" --taylor_compat yes --max_expert_parallel 16 --min_pp 16 --max_pp 16 > /dev/null
"$CALC" as taylor rank | sed 's/_[0-9]*\.csv/_TIME.csv/'
sed -n 2p pipeline_output/*.csv | cut -d, -f1-16
