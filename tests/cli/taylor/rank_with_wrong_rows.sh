"$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" --taylor_compat yes --max_expert_parallel 16 --min_pp 16 --max_pp 16 --max_tp 4 > /dev/null
printf 'dp,tp,pp,ep,moe_bw\n16,4,16,16,4\n16,4,16,8,fast\n' > profiles.csv
"$CALC" as taylor rank --parser_result profiles.csv | sed 's/_[0-9]*\.csv/_TIME.csv/'
echo "${PIPESTATUS[0]}"
