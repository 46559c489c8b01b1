# 576,030 candidates, 8,753 of which pass, are what the program itself counts.
"$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" --taylor_compat yes
od -An -c output/nd_output/nd_candidate_config.csv | head -n 2
head -n 4 output/nd_output/nd_candidate_config.csv
wc -l < output/nd_output/nd_candidate_config.csv
find output -name '*.yaml' | wc -l
# the three that need least
"$CALC" as taylor nd --yaml_path "$ROOT/tests/cli/taylor/deepseek3.yaml" --taylor_compat yes --top 3 | tail -n 3
cat output/nd_output/nd_candidate_config.csv
