# The solver that Taylor presets is not run.
cp "$ROOT/tests/cli/taylor/llama.yaml" a.yaml
mkdir none
PATH=$PWD/none "$CALC" as taylor balance -yaml a.yaml -solver_name HIGHS --write n -check n > out
grep -E '^(step|offset)' out
"$CALC" as taylor nd --yaml_path a.yaml --gbs 128 --min_pp 4 --max_pp 4 > out
PATH=$PWD/none "$CALC" as taylor rank --gbs 128 --solver_name HIGHS > out
grep -c ',58,calc,' pipeline_output/test_result_*.csv
