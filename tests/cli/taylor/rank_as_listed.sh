# --nd_path leaves layouts out.
"$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" --taylor_compat yes --max_expert_parallel 16 > /dev/null
printf 'dp,tp,pp,ep,evaluate_mem\n16,4,16,16,1.5\n16,4,16,8,1\n' > some.csv
printf 'dp,tp,pp,ep,moe_bw\n16,4,16,16,4\n16,4,16,8,3\n' > profiles.csv
"$CALC" as taylor rank --parser_result profiles.csv --nd_path some.csv --check n | cut -c1-60 | sed 's/_[0-9]*\.csv/_TIME.csv/'
