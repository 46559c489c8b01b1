file=$ROOT/tests/cli/taylor/deepseek3.yaml
sed 's/55GB/12GB/' "$file" > a.yaml
cp a.yaml b.yaml
"$CALC" as taylor balance -yaml a.yaml
echo $?
cmp a.yaml b.yaml
ls pipeline_output
