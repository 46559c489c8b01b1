# exit 1
cp "$ROOT/tests/cli/taylor/llama.yaml" a.yaml
"$CALC" as taylor nd --yaml_path a.yaml --gbs 128 --min_pp 4 --max_pp 8
"$CALC" as taylor rank --gbs 128 | sed 's/_[0-9]*\.csv/_TIME.csv/'
"$CALC" as taylor balance -yaml a.yaml -t 100 -check f
diff "$ROOT/tests/cli/taylor/llama.yaml" a.yaml
