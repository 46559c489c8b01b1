sed 's/55GB/9GB/' "$ROOT/tests/cli/taylor/deepseek3.yaml" > a.yaml
"$CALC" as taylor nd --yaml_path a.yaml --taylor_compat yes | tail -n 3
echo "${PIPESTATUS[0]}"
cat output/nd_output/nd_candidate_config.csv
ls output
