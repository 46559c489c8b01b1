# exit 1
file=$ROOT/tests/cli/taylor/deepseek3.yaml
sed 's/55GB/40GB/; s/select_recompute: False/select_recompute: True/' "$file" > a.yaml
cp a.yaml b.yaml
"$CALC" as taylor balance -yaml a.yaml --select yes -check n | tail -n 6
diff "$file" a.yaml
"$CALC" as taylor balance -yaml b.yaml -check n | tail -n 5
diff "$file" b.yaml
